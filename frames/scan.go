package frames

import (
	"dbg/arch"
	"dbg/target"
)

// scanWords is how far the stack is searched for a return address.
const scanWords = 1024

// scan searches the stack for a word that can be a return address. That is a guess, and every frame after it is
// one. No register passes: see unsureFP. On x86 the frame ends there. Where a function saves the link register itself, that is anywhere in its frame, so that the
// caller's stack pointer is not known.
func (w *Walk) scan() bool {
	a, c := w.u.arch, &w.caller
	size := uint64(a.PtrSize)
	sp, known := w.lowest()
	if !known {
		return w.failed(Scan, "the stack pointer is not known")
	}
	at := (sp + size - 1) &^ (size - 1)
	for range scanWords {
		v, err := w.words.Word(target.Addr(at), int(size))
		if err != nil {
			return w.unreadable(Scan, err)
		}
		v = w.code64(v)
		if v >= page && w.u.space.Executable(target.Addr(v-1)) {
			if s := w.site(target.Addr(v), false); s.after == yes || s.sigcode {
				c.Start(arch.RegSet{})
				if a.LR == arch.NoReg {
					c.CFA = at + size
					c.SetSP(a, c.CFA)
				} else {
					w.above = at + size
				}
				c.SetPC(a, v, target.Addr(at), true)
				return w.judge(Scan)
			}
		}
		if at += size; at < size {
			break
		}
	}
	return w.failed(Scan, "no word on the stack follows a call")
}

// unsureFP is a frame pointer that the skipped functions may have left as it was, where a search has found the frame. Nobody has
// read their code, so that the frame does not have it as a register. It serves to find the caller, where what it leads to follows a call.
func (w *Walk) unsureFP(reg arch.Reg) (uint64, bool) {
	f := &w.frame
	sp, known := w.lowest()
	v := f.Regs.Raw(reg)
	return v, f.Trust == Guess && known && v >= sp && v-sp < maxFrame
}
