package frames

import (
	"dbg/arch"
	"dbg/frames/machine"
	"dbg/target"
)

// proven reports whether the code confirms the table at cur: the call before the return address
// calls this very function, and the function's own instructions put the return address at the same
// place as the table. A wrong table, or an overwritten stack, rarely passes both checks. cfa
// belongs to the frame at cur, sp is the caller's stack pointer, next is the caller's site.
func (w *Walk) proven(cur, next *site, cfa, sp uint64) bool {
	if next.after != machine.Yes || sp != cfa || w.u.arch != arch.AMD64 {
		return false
	}
	if !cur.hasFn {
		cur.hasFn = true
		if cur.module != nil {
			if fn, ok := cur.module.FunctionStart(w.u.arch, cur.filePC()); ok {
				cur.fn = target.Addr(fn + cur.module.Bias())
			}
		}
	}
	if cur.fn == 0 {
		return false
	}
	if next.calls != cur.fn {
		to := w.calledBefore(next)
		if to != cur.fn && w.throughPLT(to) != cur.fn {
			return false
		}
		next.calls = cur.fn
		next.slots = next.slots || w.u.machine.DirectCall(next.before(), next.pc) != cur.fn
	}
	r := w.aheadOf(cur)
	if r.CFA.Base != arch.RSP && w.frame.Index > 0 {
		// The frame pointer itself was read from the stack according to the table: both would be
		// wrong alike. The function's first instructions show the distance from the stack pointer
		// to the return address.
		r, _ = w.fromTo(cur, uint64(cur.fn))
		if r.CFA.Base != arch.RSP {
			return false
		}
	}
	at, known := r.RA().Address(&w.frame.Regs)
	if r.Why != "" || !known || at+8 != cfa {
		return false
	}
	ra, err := w.stack.Word(target.Addr(at), 8)
	return err == nil && ra == uint64(next.pc)
}
