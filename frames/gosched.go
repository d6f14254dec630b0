package frames

import (
	"dbg/arch"
	"dbg/frames/goroutine"
)

// bySched continues with the stack of the goroutine for which the thread runs on another stack.
func (w *Walk) bySched() bool {
	sp, known := w.frame.Regs.SP()
	if w.u.arch != arch.AMD64 || !known || !w.u.Use.Has(GoSched) {
		return false
	}
	pc, to, ok := goroutine.Waiting(w.u.space, &w.start, sp)
	if !ok {
		return w.failed(GoSched, "found no goroutine that waits for this stack")
	}
	c := &w.caller
	c.Start(arch.RegSet{})
	c.CFA = to
	c.SetSP(w.u.arch, to)
	c.SetPC(w.u.arch, pc, 0, false)
	w.landing = anywhere
	if w.judge(GoSched) {
		return true
	}
	w.landing, w.precise = notLanding, false
	return false
}
