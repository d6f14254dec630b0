package frames

import (
	"dbg/arch"
	"dbg/code/emulate"
	"dbg/frames/follow"
	"dbg/row"
	"dbg/target"
)

// Some code continues on another stack: swapcontext, longjmp, the end of _Unwind_RaiseException,
// Go's gogo. At its last instructions the stack pointer, or the contents of the stack, already
// belong to the other stack, while the table describes a frame that no longer exists. There, the
// walk executes the instructions up to the jump, on a copy of the registers and of the memory that
// they write. The target is the caller, with all its registers.

// leaves finds the caller of code that is about to switch to another stack. It returns false for
// all other code.
func (w *Walk) leaves(s *site) bool {
	if !w.mayLeave(s) || !w.isLeaving(s) {
		return false
	}
	e, ok := follow.NewDeparture(w.reader(s.module), &w.frame.Regs, uint64(s.pc))
	if !ok {
		return false
	}
	if !e.Run() || w.tableAgrees(s, &e.Regs) {
		return false
	}
	c := &w.caller
	c.Start(arch.RegSet{})
	for i, reg := range follow.GPRs {
		if reg == arch.RSP {
			continue
		}
		if now, _ := w.frame.Regs.Get(reg); now == e.Regs.GPR[i] {
			c.Keep(reg)
		} else {
			c.SetComputed(reg, e.Regs.GPR[i])
		}
	}
	c.CFA = e.Regs.GPR[4]
	c.SetSP(w.u.arch, c.CFA)
	c.SetPC(w.u.arch, e.Regs.RIP, 0, false)
	w.landing = s.leaving
	if w.judge(Prologue) {
		return true
	}
	w.landing, w.precise = notLanding, false
	return false
}

// tableAgrees reports whether the table yields the same caller as execution, with the same
// registers.
func (w *Walk) tableAgrees(s *site, at *emulate.Regs) bool {
	p, err := w.planAt(s)
	if err != nil {
		return false
	}
	c := &w.caller
	w.env.Bias, w.env.Preserved = s.module.Bias(), s.from.Preserved()
	c.Start(arch.RegSet{})
	if row.Apply(p.Row(), &w.env, c) != nil || c.End || c.PC != at.RIP || c.SP != at.GPR[4] {
		return false
	}
	for i, reg := range follow.GPRs {
		if !w.u.arch.CalleeSavedSet.Has(reg) {
			continue
		}
		v, set := c.Get(reg)
		if k := p.Row().Rule(reg).Kind; !set && k != row.Undefined {
			v, set = w.frame.Regs.Get(reg)
		}
		if set && v != at.GPR[i] {
			return false
		}
	}
	return true
}

// leadsToEnd reports whether code that no table covers leads within a few instructions to a place
// that the table marks as outermost. glibc's clone3 has no entry for the instructions that
// distinguish the new thread from the old one.
func (w *Walk) leadsToEnd(s *site) bool {
	if !w.mayLeave(s) || w.frame.Signal {
		return false
	}
	e, ok := follow.NewDeparture(w.reader(s.module), &w.frame.Regs, uint64(s.pc))
	for range 4 {
		if !ok || e.Wrote() {
			return false
		}
		if r := &w.u.row; e.Regs.RIP != uint64(s.pc) && s.module == w.u.space.FindModule(target.Addr(e.Regs.RIP)) {
			if _, err := s.module.Origin(w.u.arch, e.Regs.RIP-s.module.Bias(), r); err == nil {
				return r.Rule(r.RA).Kind == row.Undefined
			}
		}
		var ends bool
		if ends, ok = e.Step(); ends {
			return false
		}
	}
	return false
}

// landing classifies code by how it switches to another stack.
type landing uint8

const (
	notAnalyzed landing = iota
	notLanding
	anywhere // it continues after a call, or where the other stack was interrupted
	atPad    // it continues at a landing pad: the PC is not a return address
)

// mayLeave reports whether leaving can be analysed at a site.
func (w *Walk) mayLeave(s *site) bool {
	return w.u.Audit && w.u.arch == arch.AMD64 && s.precise && s.exec && s.module != nil && w.u.Use.Has(Prologue)
}

// isLeaving reports whether code is about to switch to another stack, while the table does not
// describe that. There are two signs.
//
// First: the code from the function's start has set the stack pointer to a value that is unrelated
// to the frame, but the row computes the CFA from the stack pointer.
//
// Second: the code ahead, which calls nothing but _Unwind_DebugHook, ends like __builtin_eh_return.
// It sets the stack pointer to a register that calls may change, and the table computes the CFA
// from that register there. The registers that the frame has saved are overwritten by then.
func (w *Walk) isLeaving(s *site) bool {
	if s.leaving == notAnalyzed {
		switch s.leaving = notLanding; {
		case w.endsInLanding(s):
			s.leaving = atPad
		case w.hasLeft(s):
			s.leaving = anywhere
		}
	}
	return s.leaving != notLanding
}

func (w *Walk) hasLeft(s *site) bool {
	p, err := w.planAt(s)
	return err == nil && s.how != Prologue && p.Row().CFA.Kind == row.InReg && p.Row().CFA.Reg == arch.RSP && w.startOf(s) == follow.NotFollowed
}

func (w *Walk) endsInLanding(s *site) bool {
	p, err := w.planAt(s)
	if err != nil {
		return false
	}
	if p.Row().CFA.Kind != row.InReg {
		return false
	}
	at, from, ok := follow.StackSet(w.reader(s.module), uint64(s.pc))
	if !ok || w.u.arch.CalleeSavedSet.Has(from) {
		return false // it restores its own frame
	}
	r := &w.u.row
	return s.from.RowAt(at-s.module.Bias(), r) == nil && r.CFA.Kind == row.InReg && r.CFA.Reg == from
}
