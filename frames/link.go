package frames

import (
	"dbg/arch"
	"dbg/frames/machine"
	"dbg/target"
)

// byLink takes the caller from the link register, in a function whose instructions cannot be
// followed to PC. The register must hold an address after a call in another function. Then this
// function has not completed a call, or it is about to return, so the register holds its return
// address. That does not determine the function's frame. The function's bounds must be known,
// because after a call of its own the register holds an address inside the function.
func (w *Walk) byLink(s *site) bool {
	a, c := w.u.arch, &w.caller
	lr, known := w.frame.Regs.Get(a.LR)
	if a.LR == arch.NoReg || !known || w.frame.PCIsReturnAddress || s.module == nil {
		return false
	}
	lr = w.code64(lr)
	lo, hi, ok := w.boundsOf(s)
	if !ok || lr < page || lr-s.module.Bias()-1 >= lo && lr-s.module.Bias()-1 < hi {
		return false
	}
	if next := w.site(target.Addr(lr), false); !next.exec || next.after != machine.Yes {
		return false
	}
	list := w.u.machine.Records
	var keep arch.RegSet
	for i := range list {
		switch r, why, err := w.record(&list[i]); {
		case why != "" || err != nil:
		case r.ra == lr: // the function's own record
			return w.byRecord(&list[i], r)
		case r.ra != 0:
			keep.Add(list[i].Reg) // the caller's
		}
	}
	c.Start(keep)
	c.SetPC(a, lr, 0, false)
	return w.judge(Prologue)
}
