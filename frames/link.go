package frames

import (
	"dbg/arch"
	"dbg/target"
)

// byLink takes the caller from the link register, in a function whose instructions can't be followed to PC. The
// register follows a
// call in another function: so this one has not made a call that came back, or it is about to return, and the
// register has what the function was entered with. Where the function's frame is, that does not say. The function must be known,
// since one that has made calls has an address of its own there.
func (w *Walk) byLink(s *site) bool {
	a, c := w.u.arch, &w.caller
	lr, known := w.frame.Regs.Get(a.LR)
	if a.LR == arch.NoReg || !known || w.frame.PCIsReturnAddress || s.module == nil {
		return false
	}
	lr = w.code64(lr)
	lo, hi, ok := w.boundsOf(s)
	if !ok || lr < page || lr-s.module.Bias-1 >= lo && lr-s.module.Bias-1 < hi {
		return false
	}
	if next := w.site(target.Addr(lr), false); !next.exec || next.after != yes {
		return false
	}
	list := w.u.machine.records
	var keep arch.RegSet
	for i := range list {
		switch r, why, err := w.record(&list[i]); {
		case why != "" || err != nil:
		case r.ra == lr: // the function's own record
			return w.byRecord(&list[i], r)
		case r.ra != 0:
			keep.Add(list[i].reg) // the caller's
		}
	}
	c.Start(keep)
	c.SetPC(a, lr, 0, false)
	return w.judge(Prologue)
}
