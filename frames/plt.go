package frames

import (
	"dbg/arch"
	"dbg/target"
)

// plt finds the caller of a PLT stub that no table covers. Only a precise PC can be there, because
// stubs do not call.
func (w *Walk) plt(s *site) bool {
	if s.module == nil || w.frame.PCIsReturnAddress || !s.module.InPLT(s.filePC()) {
		return false
	}
	if w.u.arch.LR != arch.NoReg {
		return w.leaf(PLT)
	}
	pushed := w.u.machine.PushedInStub
	if pushed == nil {
		return w.failed(PLT, "PLT stubs of this architecture are not supported")
	}
	if n, ok := pushed(s.before(), s.at()); ok {
		return w.returnAt(PLT, n, false)
	}
	return w.failed(PLT, "the code of the PLT stub is not known")
}

// returnAt finds the caller of a frame that has pushed n words since it was called: the return
// address is above them. All callee-saved registers are unchanged, except that the word pushed last
// may be the frame pointer.
func (w *Walk) returnAt(how Strategy, n int, fpPushed bool) bool {
	a, c := w.u.arch, &w.caller
	sp, known := w.frame.Regs.SP()
	if !known {
		return w.failed(how, "the stack pointer is not known")
	}
	at := target.Addr(sp) + target.Addr(n*a.PtrSize)
	ra, err := w.words.Word(at, a.PtrSize)
	if err != nil {
		return w.unreadable(how, err)
	}
	c.Start(w.preserved())
	c.CFA = uint64(at) + uint64(a.PtrSize)
	c.SetSP(a, c.CFA)
	c.SetPC(a, ra, at, true)
	if fpPushed {
		v, err := w.words.Word(target.Addr(sp), a.PtrSize)
		if err != nil {
			return w.unreadable(how, err)
		}
		c.SetSaved(a.FP, v, target.Addr(sp))
	}
	return w.judge(how)
}

// leaf finds the caller of a frame whose return address is still in the link register.
func (w *Walk) leaf(how Strategy) bool {
	a, c := w.u.arch, &w.caller
	sp, known := w.frame.Regs.SP()
	lr, knownLR := w.frame.Regs.Get(a.LR)
	if !known || !knownLR {
		return w.failed(how, "the stack pointer or the link register is not known")
	}
	c.Start(w.preserved())
	c.CFA = sp
	c.SetSP(a, sp)
	c.SetPC(a, w.code64(lr), 0, false)
	return w.judge(how)
}
