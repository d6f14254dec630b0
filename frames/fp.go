package frames

import (
	"dbg/arch"
	"dbg/target"
)

// maxFrame is how large a frame can be that the chain of frame pointers is believed
// to skip: 16 MiB, more than the usual stack has.
const maxFrame = 16 << 20

// fp follows the chain of frame pointers: [FP] is the caller's FP, the word after it the return
// address (RISC-V has both below FP). The function may have changed any other
// callee-saved register and saved it where we don't know, so they become unknown.
func (w *Walk) fp() bool {
	a, c := w.u.arch, &w.caller
	size := uint64(a.PtrSize)
	fp, known := w.frame.Regs.Get(a.FP)
	sp, knownSP := w.frame.Regs.SP()
	low := fp
	if a == arch.RISCV64 {
		low = fp - 2*size
	}
	switch {
	case !known:
		return w.failed(FP, "the frame pointer is not known")
	case fp == 0:
		return w.failed(FP, "the frame pointer is 0")
	case fp%size != 0:
		return w.failed(FP, "the frame pointer is not aligned")
	case !knownSP:
		return w.failed(FP, "the stack pointer is not known")
	case low < sp:
		return w.failed(FP, "the frame pointer is below the stack pointer")
	case fp-sp > maxFrame:
		return w.failed(FP, "the frame pointer is too far from the stack pointer")
	}
	saved, err := w.words.Word(target.Addr(low), int(size))
	if err != nil {
		return w.unreadable(FP, err)
	}
	at := target.Addr(low + size)
	ra, err := w.words.Word(at, int(size))
	if err != nil {
		return w.unreadable(FP, err)
	}
	if a == arch.RISCV64 { // there the return address comes second from the top, too: [fp-8] = ra, [fp-16] = fp
		at = target.Addr(fp - size)
	}
	if saved != 0 && (saved <= fp || saved%size != 0) {
		// An x86 function may use RBP for something else and its caller may have, but then this is
		// no chain.
		return w.failed(FP, "the saved frame pointer does not go up")
	}
	c.Start(arch.RegSet{})
	c.CFA = low + 2*size
	c.SetSP(a, c.CFA)
	c.SetSaved(a.FP, saved, target.Addr(low))
	c.SetPC(a, w.code64(ra), at, true)
	return w.judge(FP)
}
