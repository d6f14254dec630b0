package frames

import (
	"dbg/cfi"
	"dbg/row"
	"dbg/target"
)

// site is what is known about one PC, whatever the stack is. It outlives a walk, as
// code and tables do; what the process may change by mapping and unmapping (the
// module, the permission) is asked again in each walk.
type site struct {
	pc      target.Addr
	precise bool
	epoch   uint64 // of the walk that last asked; 0 is an empty site

	module *Module
	exec   bool // the address to look up is in executable memory

	code    [codeBefore + codeAfter]byte // around pc
	codeLo  int                          // which of it could be read
	codeHi  int
	after   verdict // pc follows a call instruction
	sigcode bool    // pc is in code that calls sigreturn

	rowDone bool
	rowErr  error
	row     row.Row
}

const (
	codeBefore = 8
	codeAfter  = 16
	sites      = 512
)

type verdict uint8

const (
	unknown verdict = iota
	no
	yes
)

// site finds what is known about pc. It stays valid while it is pinned or until the
// next call.
func (w *Walk) site(pc target.Addr, precise bool) *site {
	h := (uint64(pc) * 0x9e3779b97f4a7c15) >> 40
	if precise {
		h ^= 0x155
	}
	s := &w.u.sites[h%sites]
	if s == w.pinned && (s.pc != pc || s.precise != precise) {
		s = &w.u.sites[(h^1)%sites]
	}
	if s.epoch == w.epoch && s.pc == pc && s.precise == precise {
		return s
	}
	lookup := pc
	if !precise {
		lookup--
	}
	m := w.u.space.FindModule(lookup)
	exec := w.u.space.Executable(lookup)
	if s.epoch != 0 && s.pc == pc && s.precise == precise && s.module == m && m != nil && s.exec == exec {
		s.epoch = w.epoch
		return s
	}
	regs := s.row.Regs[:0]
	*s = site{pc: pc, precise: precise, epoch: w.epoch, module: m, exec: exec}
	s.row.Regs = regs
	if exec || w.u.space.Executable(pc) {
		w.readCode(s)
		s.after = w.u.followsCall(s.before(), pc)
		s.sigcode = w.u.callsSigreturn(s)
	}
	return s
}

// readCode fills s.code with as much as there is.
func (w *Walk) readCode(s *site) {
	s.codeLo, s.codeHi = codeBefore, codeBefore
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
	n, _ := w.u.space.ReadMemory(s.pc, w.code[codeBefore:])
	s.code = w.code
	s.codeHi = codeBefore + max(0, min(n, codeAfter))
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
func (s *site) filePC() uint64 { return uint64(s.lookup()) - s.module.Bias }

// rowAt finds the site's row, once.
func (w *Walk) rowAt(s *site) (*row.Row, error) {
	if !s.rowDone {
		s.rowDone = true
		s.rowErr = cfi.ErrNotCovered
		if s.module != nil {
			s.rowErr = s.module.rowAt(w.u.arch, s.filePC(), &s.row)
		}
	}
	return &s.row, s.rowErr
}
