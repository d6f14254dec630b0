package frames

import (
	"dbg/arch"
	"dbg/frames/machine"
	"dbg/target"
)

// maxFrame is the maximum distance between the stack pointer and a frame pointer: 16 MiB, more than
// the usual size of a stack.
const maxFrame = 16 << 20

// fp follows the chain of frame pointers. The function may have changed any other callee-saved
// register and saved it at an unknown place, so those become unknown. So does the stack pointer,
// unless the record determines it.
func (w *Walk) fp() bool {
	list := w.u.machine.Records
	if len(list) == 1 {
		words, why, err := w.record(&list[0])
		switch {
		case err != nil:
			return w.unreadable(FP, err)
		case why != "":
			return w.failed(FP, why)
		}
		return w.byRecord(&list[0], words)
	}
	// Several layouts: use the nearest one that leads to a caller.
	var best *machine.FrameRecord
	var found recordWords
	first := ""
	for i := range list {
		words, why, err := w.record(&list[i])
		switch {
		case err != nil:
			why = err.Error()
		case why != "":
		case !w.mayFollowCall(words.ra):
			why = "the return address does not follow a call"
		case best == nil || words.low < found.low:
			best, found = &list[i], words
		}
		if first == "" {
			first = why
		}
	}
	if best == nil {
		return w.failed(FP, first)
	}
	return w.byRecord(best, found)
}

// recordWords is a record on the stack.
type recordWords struct {
	fp, low uint64 // the frame pointer, and the start of the record
	saved   uint64
	ra      uint64
}

// record reads the record at the frame pointer. If it is not a valid record, why is the reason.
func (w *Walk) record(l *machine.FrameRecord) (r recordWords, why string, err error) {
	size := uint64(w.u.arch.PtrSize)
	fp, known := w.frame.Regs.Get(l.Reg)
	if !known {
		fp, known = w.unsureFP(l.Reg)
	}
	sp, knownSP := w.lowest()
	r.fp, r.low = fp, fp+uint64(min(l.Saved, l.RA))
	switch {
	case !known:
		return r, "the frame pointer is not known", nil
	case fp == 0:
		return r, "the frame pointer is 0", nil
	case fp%size != 0:
		return r, "the frame pointer is not aligned", nil
	case !knownSP:
		return r, "the stack pointer is not known", nil
	case r.low < sp || r.low > fp+uint64(l.Top):
		return r, "the frame pointer is below the stack pointer", nil
	case fp-sp > maxFrame:
		return r, "the frame pointer is too far from the stack pointer", nil
	}
	if r.saved, err = w.words.Word(target.Addr(fp+uint64(l.Saved)), int(size)); err != nil {
		return r, "", err
	}
	if r.ra, err = w.words.Word(target.Addr(fp+uint64(l.RA)), int(size)); err != nil {
		return r, "", err
	}
	if r.saved != 0 && (r.saved <= fp || r.saved%size != 0) {
		// An x86 function may use RBP for another purpose while its caller does not. But then
		// this is not a chain.
		return r, "the saved frame pointer does not go up", nil
	}
	r.ra = w.code64(r.ra)
	return r, "", nil
}

// mayFollowCall reports whether a word of the stack may be a return address, including one into a
// signal trampoline.
func (w *Walk) mayFollowCall(pc uint64) bool {
	if pc < page || !w.u.space.Executable(target.Addr(pc-1)) {
		return false
	}
	s := w.site(target.Addr(pc), false)
	return s.after != machine.No || s.sigcode
}

// byRecord sets the caller from a record.
func (w *Walk) byRecord(l *machine.FrameRecord, r recordWords) bool {
	a, c := w.u.arch, &w.caller
	c.Start(arch.RegSet{})
	if top := r.fp + uint64(l.Top); l.IsCFA {
		c.CFA = top
		c.SetSP(a, top)
	} else {
		w.above = top
	}
	c.SetSaved(l.Reg, r.saved, target.Addr(r.fp+uint64(l.Saved)))
	c.SetPC(a, r.ra, target.Addr(r.fp+uint64(l.RA)), true)
	return w.judge(FP)
}
