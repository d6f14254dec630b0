package frames

import (
	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
	"dbg/row/compiled"
	"dbg/target"
)

// site is what is known about one PC, whatever the stack is. It outlives a walk, as
// code and tables do; what the process may change by mapping and unmapping (the
// module, the permission) is asked again in each walk.
//
// It is what each frame needs of it, in one cache line; what only the first needs is apart.
type site struct {
	pc      target.Addr
	epoch   uint64 // of the walk that last asked; 0 is an empty site
	plan    *compiled.Plan
	caller  *site // where a frame that was here returned to when it was last asked
	other   *site // the same, of the time before
	module  *Module
	precise bool
	exec    bool     // the address to look up is in executable memory
	after   verdict  // pc follows a call instruction
	leaving landing  // the code at pc is on its way to another stack, see leave.go
	sigcode bool     // pc is in code that calls sigreturn
	plain   bool     // plan is fast, exec, and not sigcode or a signal frame: quick can use it
	how     Strategy // of frames whose rules are plan
	rowDone bool
	called  bool // pc is a return address that an ordinary caller has: exec, after a call, and not sigcode
	*siteFacts
}

// siteFacts is what was found out about a site's code.
type siteFacts struct {
	calls target.Addr // the function that the call before pc was found to call, 0 if none was looked for
	fn    target.Addr // where the function at pc begins by its table, 0 if that is not known
	hasFn bool        // fn has been looked for

	slots     bool      // what is below, or calls, rests on slots of the global offset table
	ahead     *codeRule // what the code from pc on says; nil if nobody has asked
	start     *codeRule // what the code up to pc says
	entered   *codeRule // what the code from a function that was called to pc says
	enteredAt uint64    // that function
	enteredBy int       // how many instructions that takes
	byHand    bool      // pc is a function's first instruction and follows no call: nobody has called from there
	rowErr    error
	table     *compiled.Plan // what the table says, where the code overrules it: see audit.go; else nil
	from      *source
	code      [codeBefore + codeAfter]byte // around pc
	codeLo    int                          // which of it could be read
	codeHi    int
}

const (
	codeBefore = 8
	codeAfter  = 16
	sites      = 1024
)

type verdict uint8

const (
	unknown verdict = iota
	no
	yes
)

// Versioned is a Space that knows when its modules and permissions, and the slots through which its code jumps, may have
// changed. What is known about an address is asked again only when Version gives another number.
type Versioned interface {
	Version() uint64
}

// site finds what is known about pc. It stays valid while it is pinned or until the
// next call. A site has two places that have nothing to do with each other, so that three of one place
// rarely meet.
func (w *Walk) site(pc target.Addr, precise bool) *site {
	h := (uint64(pc) * 0x9e3779b97f4a7c15) >> 40
	if precise {
		h ^= 0x155
	}
	if s := &w.u.sites[h%(sites/2)]; s.epoch == w.epoch && s.pc == pc && s.precise == precise {
		return s
	}
	if s := &w.u.sites[sites/2+h>>12%(sites/2)]; s.epoch == w.epoch && s.pc == pc && s.precise == precise {
		return s
	}
	return w.fillSite(h, pc, precise)
}

// callerOf is the site of a return address that a frame at s has. Usually it is s.caller, the one of the last time: whoever asks looks
// there first, and then has not to wait for the address to be read. A recursive function has another one often.
func (w *Walk) callerOf(s *site, pc target.Addr) *site {
	if o := s.other; o.returned(pc, w.epoch) {
		return o
	}
	s.caller, s.other = w.site(pc, false), s.caller
	return s.caller
}

// returned reports whether s is the site of a return address, and was asked for in this walk.
func (s *site) returned(pc target.Addr, epoch uint64) bool {
	return s != nil && s.pc == pc && s.epoch == epoch && !s.precise
}

// fillSite makes the site new, or finds that what is known still holds.
func (w *Walk) fillSite(h uint64, pc target.Addr, precise bool) *site {
	i, j := h%(sites/2), sites/2+h>>12%(sites/2)
	s, other := &w.u.sites[i], &w.u.sites[j]
	if other.pc == pc && other.precise == precise && other.epoch != 0 || s == w.pinned || s.epoch == w.epoch && other.epoch != w.epoch {
		i, s = j, other // it is there, or it has not been asked for in this walk
	}
	lookup := pc
	if !precise {
		lookup--
	}
	m := w.u.space.FindModule(lookup)
	exec := w.u.space.Executable(lookup)
	if s.epoch != 0 && s.pc == pc && s.precise == precise && s.module == m && m != nil && s.exec == exec {
		s.epoch = w.epoch
		if s.slots {
			s.slots, s.calls, s.ahead, s.start, s.entered = false, 0, nil, nil, nil
		}
		return s
	}
	*s = site{pc: pc, precise: precise, epoch: w.epoch, module: m, exec: exec, siteFacts: &w.u.facts[i]}
	*s.siteFacts = siteFacts{}
	if exec || w.u.space.Executable(pc) {
		w.readCode(s)
		w.judgeCode(s)
	}
	s.called = !precise && s.exec && s.after == yes && !s.sigcode
	return s
}

// judgeCode says of the code around pc what it is.
func (w *Walk) judgeCode(s *site) {
	s.after = w.u.followsCall(s.before(), s.pc)
	t, _ := w.u.trampolineAt(s)
	s.sigcode = t != nil
}

// readCode fills s.code with as much as there is: from the file, if that has it, else from memory.
func (w *Walk) readCode(s *site) {
	s.codeLo, s.codeHi = codeBefore, codeBefore
	if s.module != nil {
		if b := s.module.codeAt(uint64(s.pc)-s.module.contents.Bias-codeBefore, len(s.code)); b != nil {
			s.codeLo, s.codeHi = 0, copy(s.code[:], b)
			return
		}
	}
	if s.pc >= codeBefore {
		n, _ := w.u.space.ReadMemory(s.pc-codeBefore, w.code[:])
		n = max(0, min(n, len(w.code)))
		s.code = w.code
		if n >= codeBefore {
			s.codeLo, s.codeHi = 0, n
			return
		}
	}
	// The page before is not there: a function at the start of a mapping.
	before := min(int(s.pc&(page-1)), codeBefore)
	n, _ := w.u.space.ReadMemory(s.pc-target.Addr(before), w.code[codeBefore-before:])
	s.code = w.code
	if n = max(0, min(n, before+codeAfter)); n >= before {
		s.codeLo, s.codeHi = codeBefore-before, codeBefore-before+n
	}
}

// codeAt is n bytes of the file's code at one of its addresses, or nil.
func (m *Module) codeAt(addr uint64, n int) []byte {
	for i := range m.contents.Code {
		c := &m.contents.Code[i]
		if off := addr - c.Addr; off < uint64(len(c.Data)) && uint64(len(c.Data))-off >= uint64(n) {
			return c.Data[off : off+uint64(n)]
		}
	}
	return nil
}

// before is the code up to pc, at is the code from pc on.
func (s *site) before() []byte { return s.code[s.codeLo:codeBefore] }
func (s *site) at() []byte     { return s.code[codeBefore:s.codeHi] }

// lookup is the address for tables, in the process.
func (s *site) lookup() target.Addr {
	if s.precise {
		return s.pc
	}
	return s.pc - 1
}

// filePC is the address for tables, in the module's address space.
func (s *site) filePC() uint64 { return uint64(s.lookup()) - s.module.contents.Bias }

// staysInLink reports whether the site is a return address and its row has the return address in the link register: judge must see it.
func (s *site) staysInLink(a *arch.Arch) bool {
	r := s.plan.Row()
	return a.LR != arch.NoReg && !s.precise && r.Rule(r.RA).Kind != row.At
}

// planAt finds the site's rules, once.
func (w *Walk) planAt(s *site) (*compiled.Plan, error) {
	if !s.rowDone {
		s.rowDone = true
		s.rowErr = cfi.ErrNotCovered
		if s.module != nil {
			s.plan, s.from, s.rowErr = s.module.planAt(w.u, s.filePC())
			if s.rowErr == cfi.ErrNotCovered && !s.precise && s.after != yes {
				// Nothing was called: the frame was made by hand and returns to a function's first instruction, as
				// makecontext's do to __start_context.
				s.plan, s.from, s.rowErr = s.module.planAt(w.u, s.filePC()+1)
				s.byHand = s.rowErr == nil
			}
			if s.from != nil {
				s.how = s.from.how
			}
			if s.plan != nil && w.u.Audit {
				w.overrule(s)
			}
			s.plain = s.plan != nil && s.plan.Fast && s.exec && !s.sigcode && s.table == nil && w.leftStack(s) == "" &&
				!s.staysInLink(w.u.arch) && !(w.mayLeave(s) && w.isLeaving(s))
		}
	}
	return s.plan, s.rowErr
}
