package frames

import (
	"dbg/arch"
	"dbg/cfi"
	"dbg/frames/follow"
	"dbg/frames/machine"
	"dbg/frames/module"
	"dbg/row"
	"dbg/row/compiled"
	"dbg/target"
)

// site caches the facts about one PC that do not depend on the stack. It outlives a walk, as code
// and tables do. Facts that the process may change by mapping and unmapping (the module, the
// permission) are checked again in each walk.
//
// It holds the data for each frame in one cache line; data for the first use is separate, in
// siteFacts.
type site struct {
	pc      target.Addr
	epoch   uint64 // of the walk that used it last; 0 means an empty site
	plan    *compiled.Plan
	caller  *site // the return address of the last frame here
	other   *site // the return address of the frame before that
	module  *Module
	precise bool
	exec    bool            // the look-up address is in executable memory
	after   machine.Verdict // pc follows a call instruction
	leaving landing         // how the code at pc switches to another stack, see leave.go
	sigcode bool            // pc is in code that calls sigreturn
	plain   bool            // plan is fast, exec, and not sigcode or a signal frame: quick can use it
	how     Strategy        // the strategy of frames that use plan
	rowDone bool
	called  bool // pc is an ordinary return address: exec, after a call, and not sigcode
	*siteFacts
}

// siteFacts holds the results about a site's code.
type siteFacts struct {
	calls target.Addr // the function that the call before pc calls, 0 if not determined
	fn    target.Addr // the start of the function at pc according to its table, 0 if unknown
	hasFn bool        // fn has been determined

	slots      bool         // the rules below, or calls, depend on slots of the global offset table
	ahead      *follow.Rule // from the code from pc on; nil if not read yet
	start      *follow.Rule // from the code of the function up to pc
	entered    *follow.Rule // from the code of a called function up to pc
	enteredAt  uint64       // that function
	enteredBy  int          // number of instructions that takes
	unrefined  bool         // the row is for calls only, and no code shows whether it is valid at pc
	completed  bool         // the code has added rules to the row of a format that describes few registers
	samePlaces bool         // the code has replaced a row that has the registers at the same places
	byHand     bool         // pc is a function's first instruction and does not follow a call: the frame was made by hand
	rowErr     error
	table      *compiled.Plan // the table's plan, if the code overrules it: see overrule.go; else nil
	from       *module.Source
	code       [codeBefore + codeAfter]byte // around pc
	codeLo     int                          // code[codeLo:codeHi] is valid
	codeHi     int
}

const (
	codeBefore = 8
	codeAfter  = 16
	sites      = 1024
)

// Space is the process's address space as the unwinder sees it.
type Space interface {
	target.Memory
	// FindModule returns the module at pc, or nil.
	FindModule(pc target.Addr) *Module
	// Executable reports whether addr is in a mapping that can be executed.
	Executable(addr target.Addr) bool
}

// Versioned is a Space that knows when its modules and permissions, and the slots for its code's
// jumps, may have changed. The unwinder checks its cached facts again only if Version returns
// another number.
type Versioned interface {
	Version() uint64
}

// AheadReader is a Space whose memory is slow. A walk reads its stack through ReadAhead: as
// ReadMemory, but only the first need bytes are needed now. ReadAhead may return the others or not,
// whether they are readable or not.
type AheadReader interface {
	ReadAhead(addr target.Addr, buf []byte, need int) (n int, err error)
}

// site returns the facts about pc. The result is valid while it is pinned or until the next call. A
// site has two possible slots from independent hashes, so that three sites rarely compete for one
// slot.
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

// callerOf returns the site of a return address of a frame at s. Usually it is s.caller, the one of
// the last time. tryQuick checks that first, and so need not wait until the address is read.
// Recursive functions often alternate between two.
func (w *Walk) callerOf(s *site, pc target.Addr) *site {
	if o := s.other; o.returned(pc, w.epoch) {
		return o
	}
	s.caller, s.other = w.site(pc, false), s.caller
	return s.caller
}

// returned reports whether s is the site of a return address, and was used in this walk.
func (s *site) returned(pc target.Addr, epoch uint64) bool {
	return s != nil && s.pc == pc && s.epoch == epoch && !s.precise
}

// fillSite fills a site anew, or confirms that its facts are still valid.
func (w *Walk) fillSite(h uint64, pc target.Addr, precise bool) *site {
	i, j := h%(sites/2), sites/2+h>>12%(sites/2)
	s, other := &w.u.sites[i], &w.u.sites[j]
	if other.pc == pc && other.precise == precise && other.epoch != 0 || s == w.pinned || s.epoch == w.epoch && other.epoch != w.epoch {
		i, s = j, other // it holds pc, or was not used in this walk
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
	s.called = !precise && s.exec && s.after == machine.Yes && !s.sigcode
	return s
}

// judgeCode classifies the code around pc.
func (w *Walk) judgeCode(s *site) {
	s.after = w.u.followsCall(s.before(), s.pc)
	t, _ := w.u.machine.TrampolineAt(s.before(), s.at(), s.precise)
	s.sigcode = t != nil
}

// readCode fills s.code as far as possible: from the file, if that contains the code, else from
// memory.
func (w *Walk) readCode(s *site) {
	s.codeLo, s.codeHi = codeBefore, codeBefore
	if s.module != nil {
		if b := s.module.CodeAt(uint64(s.pc)-s.module.Bias()-codeBefore, len(s.code)); b != nil {
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
	// The page before is missing: the function is at the start of a mapping.
	before := min(int(s.pc&(page-1)), codeBefore)
	n, _ := w.u.space.ReadMemory(s.pc-target.Addr(before), w.code[codeBefore-before:])
	s.code = w.code
	if n = max(0, min(n, before+codeAfter)); n >= before {
		s.codeLo, s.codeHi = codeBefore-before, codeBefore-before+n
	}
}

// before returns the code up to pc, at the code from pc on.
func (s *site) before() []byte { return s.code[s.codeLo:codeBefore] }
func (s *site) at() []byte     { return s.code[codeBefore:s.codeHi] }

// lookup returns the look-up address for tables, in the process.
func (s *site) lookup() target.Addr {
	if s.precise {
		return s.pc
	}
	return s.pc - 1
}

// filePC returns the look-up address for tables, in the module's address space.
func (s *site) filePC() uint64 { return uint64(s.lookup()) - s.module.Bias() }

// staysInLink reports whether the site is a return address and its row has the return address in
// the link register: judge must check it.
func (s *site) staysInLink(a *arch.Arch) bool {
	r := s.plan.Row()
	return a.LR != arch.NoReg && !s.precise && r.Rule(r.RA).Kind != row.At
}

// planAt returns the site's rules, which it determines once.
func (w *Walk) planAt(s *site) (*compiled.Plan, error) {
	if !s.rowDone {
		s.rowDone = true
		s.rowErr = cfi.ErrNotCovered
		if s.module != nil {
			s.plan, s.from, s.rowErr = s.module.PlanAt(&w.u.lookup, s.filePC())
			if s.rowErr == cfi.ErrNotCovered && !s.precise && s.after != machine.Yes {
				// PC does not follow a call: the frame was made by hand and returns to a
				// function's first instruction. makecontext's frames return to __start_context.
				s.plan, s.from, s.rowErr = s.module.PlanAt(&w.u.lookup, s.filePC()+1)
				s.byHand = s.rowErr == nil
			}
			if s.from != nil {
				s.how = howByKind[s.from.Kind()]
			}
			w.refuseLeaf(s)
			if s.plan != nil && w.u.Audit {
				w.overrule(s)
			}
			w.refineByCode(s)
			w.completeByCode(s)
			s.plain = s.plan != nil && s.plan.Fast && s.exec && !s.sigcode && s.table == nil && !s.unrefined && w.leftStack(s) == "" &&
				!s.staysInLink(w.u.arch) && !(w.mayLeave(s) && w.isLeaving(s))
		}
	}
	return s.plan, s.rowErr
}
