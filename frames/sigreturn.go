package frames

import (
	"dbg/arch"
	"dbg/frames/module"
	"dbg/target"
)

// sigreturn takes the interrupted frame's registers from the kernel's signal frame.
func (w *Walk) sigreturn(s *site) bool {
	if s.sigcode && w.u.machine.TrustTrampoline {
		w.frame.Signal = true
		return w.byTrampoline(s)
	}
	byTable := false
	if w.u.Use&Tables != 0 {
		p, err := w.planAt(s)
		byTable = err == nil && p.Row().Signal && s.from.Kind() != module.KindORC
	}
	if !byTable && !s.sigcode {
		return false
	}
	w.frame.Signal = true
	if byTable && w.applyRow(s, Sigreturn) {
		return true
	}
	if !s.sigcode || w.done {
		return false
	}
	return w.byTrampoline(s)
}

// byTrampoline reads the registers from the kernel's signal frame.
func (w *Walk) byTrampoline(s *site) bool {
	a, c := w.u.arch, &w.caller
	t, popped := w.u.machine.TrampolineAt(s.before(), s.at(), s.precise)
	sp, known := w.frame.Regs.SP()
	if find := w.u.machine.SignalFrame; t != nil && !known && find != nil {
		if fp, ok := w.frame.Regs.Get(a.FP); ok {
			sp, known = find(t, fp, w.words)
		}
	}
	if t == nil || !known {
		return w.failed(Sigreturn, "the stack pointer is not known")
	}
	at := sp - uint64(popped) + uint64(t.At)
	if t.Through != 0 {
		uc, err := w.words.Word(target.Addr(sp-uint64(popped)+uint64(t.Through)), a.PtrSize)
		if err != nil {
			return w.unreadable(Sigreturn, err)
		}
		at = uc + uint64(t.At)
	}
	c.Start(arch.RegSet{})
	for i, reg := range t.Regs {
		if reg == arch.NoReg {
			continue
		}
		addr := target.Addr(at) + target.Addr(a.PtrSize*i)
		v, err := w.words.Word(addr, a.PtrSize)
		if err != nil {
			return w.unreadable(Sigreturn, err)
		}
		switch reg {
		case a.PC:
			c.SetPC(a, v, addr, true)
			continue
		case a.SP:
			c.SP, c.CFA = v, v
		}
		c.SetSaved(reg, v, addr)
	}
	return w.judge(Sigreturn)
}
