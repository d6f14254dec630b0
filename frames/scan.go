package frames

import (
	"dbg/arch"
	"dbg/frames/machine"
	"dbg/target"
)

// scanWords is the number of words on the stack that are searched for a return address.
const scanWords = 1024

// scan searches the stack for a word that can be a return address. That is a guess, and so is every
// frame after it. No register passes: see unsureFP.
//
// On x86 the frame ends at that word. On machines with a link register the word may be anywhere in
// the frame, so the caller's stack pointer stays unknown.
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
			if s := w.site(target.Addr(v), false); s.after == machine.Yes || s.sigcode {
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

// unsureFP returns a frame pointer that the skipped functions may have left unchanged. Their code
// was not read, so the frame's registers do not include it. It may lead to the caller, but only to
// a return address that follows a call.
func (w *Walk) unsureFP(reg arch.Reg) (uint64, bool) {
	f := &w.frame
	sp, known := w.lowest()
	v := f.Regs.Stale(reg)
	return v, f.Trust == Guess && known && v >= sp && v-sp < maxFrame
}
