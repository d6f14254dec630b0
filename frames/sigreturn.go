package frames

import (
	"bytes"

	"dbg/arch"
	"dbg/target"
)

// trampoline is code to which a signal handler returns, and the place where the kernel has saved
// the registers when it runs. It is not needed if the C library or the vDSO has a table
// (augmentation S); musl, Go and old kernels have none.
type trampoline struct {
	code []byte
	// starts are the offsets in code of the instructions: the PC may be at any of them. popped is
	// how far SP has moved by then.
	starts []int
	popped []int64

	regs    []arch.Reg // in the order of the saved words; NoReg is skipped
	at      int64      // offset of the first word from SP at the first instruction, or from *(SP+through)
	through int64      // 0 means not through a pointer
}

// trampolineAt recognizes a signal trampoline by its instructions: PC is at the first one or, if
// the thread is stopped there, at a later one. popped is how far SP has moved by then.
func (u *Unwinder) trampolineAt(s *site) (t *trampoline, popped int64) {
	list := u.machine.trampolines
	for i := range list {
		t := &list[i]
		for j, n := range t.starts {
			if j > 0 && !s.precise {
				break
			}
			if bytes.HasPrefix(s.at(), t.code[n:]) && bytes.HasSuffix(s.before(), t.code[:n]) {
				if t.popped != nil {
					popped = t.popped[j]
				}
				return t, popped
			}
		}
	}
	return nil, 0
}

// sigreturn takes the interrupted frame's registers from the kernel's signal frame.
func (w *Walk) sigreturn(s *site) bool {
	if s.sigcode && w.u.machine.trustTrampoline {
		w.frame.Signal = true
		return w.byTrampoline(s)
	}
	byTable := false
	if w.u.Use.Has(CFI) || w.u.Use.Has(Compact) {
		p, err := w.planAt(s)
		byTable = err == nil && p.Row().Signal
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
	t, popped := w.u.trampolineAt(s)
	sp, known := w.frame.Regs.SP()
	if find := w.u.machine.signalFrame; t != nil && !known && find != nil {
		sp, known = find(w, t)
	}
	if t == nil || !known {
		return w.failed(Sigreturn, "the stack pointer is not known")
	}
	at := sp - uint64(popped) + uint64(t.at)
	if t.through != 0 {
		uc, err := w.words.Word(target.Addr(sp-uint64(popped)+uint64(t.through)), a.PtrSize)
		if err != nil {
			return w.unreadable(Sigreturn, err)
		}
		at = uc + uint64(t.at)
	}
	c.Start(arch.RegSet{})
	for i, reg := range t.regs {
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
