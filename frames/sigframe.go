package frames

import (
	"dbg/arch"
	"dbg/target"
)

// Sizes of arm64's struct rt_sigframe, from the kernel's signal.c and asm/sigcontext.h.
const (
	arm64Sigframe = 128 + 176 + 288 + 4096 // siginfo, ucontext up to its mcontext, the registers, what extensions have saved
	arm64Extra    = 16 << 10               // what SVE may need beyond that
)

// sigframeByRecord finds the signal's frame where SP is not known, because the handler's caller was found by the frame
// pointer. The kernel sets X29 for the handler to a frame record at the top of what it has saved, with the interrupted X29 and X30. So a
// frame below it that has saved the same two is the right one.
func (w *Walk) sigframeByRecord(t *trampoline) (sp uint64, found bool) {
	record, known := w.frame.Regs.Get(w.u.arch.FP)
	if !known || record%16 != 0 || record < arm64Sigframe+arm64Extra {
		return 0, false
	}
	word := func(at uint64) (uint64, bool) {
		v, err := w.words.Word(target.Addr(at), 8)
		return v, err == nil
	}
	fp, ok1 := word(record)
	lr, ok2 := word(record + 8)
	if !ok1 || !ok2 || fp == 0 && lr == 0 {
		return 0, false
	}
	for sp = record - arm64Sigframe; sp >= record-arm64Sigframe-arm64Extra; sp -= 16 {
		regs := sp + uint64(t.at)
		savedFP, ok1 := word(regs + 8*uint64(arch.ARM64.FP))
		savedLR, ok2 := word(regs + 8*uint64(arch.ARM64.LR))
		switch {
		case !ok1 || !ok2:
			return 0, false
		case savedFP == fp && savedLR == lr:
			return sp, true
		}
	}
	return 0, false
}
