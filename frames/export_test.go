package frames

import "dbg/target"

// LookupApply walks along frames with nothing but the look-up of their rules and the
// application: no judgement, no trust. It is for benchmarks, and returns the number of frames.
func (w *Walk) LookupApply() int {
	f := &w.frame
	if w.stack.mem == nil {
		w.reset()
		w.stack.size = maxBlock
		sp, _ := w.start.SP()
		w.stack.Word(target.Addr(sp), 8)
	}
	f.Regs = w.start
	pc, _ := f.Regs.PC()
	cur := w.site(target.Addr(pc), true)
	n, win := 0, &w.stack.blocks[w.stack.last&1].Window
	for {
		if !cur.plain {
			if !cur.rowDone {
				w.planAt(cur)
			}
			if !cur.plain {
				return n
			}
		}
		step, ok := cur.plan.Begin(&f.Regs, win)
		if !ok {
			return n
		}
		cur.plan.Finish(&f.Regs, nil, win, step)
		next := cur.caller
		if !next.returned(target.Addr(step.PC), w.epoch) {
			next = w.callerOf(cur, target.Addr(step.PC))
		}
		cur = next
		n++
	}
}
