package frames

import (
	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// tryQuick finds the caller in the common case: the frame's address is known, its rules are plain,
// the memory that they read is in the window, and the caller is an ordinary one. It makes no
// decisions: it returns false in any uncommon case, and find starts from the beginning. For each
// caller that it accepts, find would have returned the same result.
func (w *Walk) tryQuick() bool {
	f := &w.frame
	cur := w.next
	if cur == nil {
		return false
	}
	if !cur.plain && !cur.rowDone && cur.isOf(w) {
		w.planAt(cur)
	}
	if !cur.isPlainly(w) || f.Index+1 >= w.u.DepthLimit {
		return false
	}
	w.block = w.stack.last & 1
	step, ok := cur.plan.Begin(&f.Regs, &w.stack.blocks[w.block&1].Window)
	if !ok {
		return false
	}
	if w.u.CodeBits != 0 {
		step.PC = row.Strip(step.PC, w.u.CodeBits)
	}
	if sp, known := f.Regs.SP(); !known || step.CFA <= sp || step.PC == 0 {
		return false
	}
	w.step, w.plan = step, cur.plan
	w.pinned = cur
	next := cur.caller
	if !next.returned(target.Addr(step.PC), w.epoch) {
		next = w.callerOf(cur, target.Addr(step.PC))
	}
	if !next.called {
		return false
	}
	trust := Table
	if f.Trust == Exact && w.u.Prove && w.proven(cur, next, step.CFA, step.CFA) {
		trust = Exact
	}
	w.how, w.trust = cur.how, max(trust, f.Trust)
	f.CFA, f.HasCFA, f.Module = target.Addr(step.CFA), true, cur.module
	w.next, w.quick = next, true
	return true
}

// isPlainly reports whether s is the site of the walk's frame, was used in this walk, and has plain
// rules.
func (s *site) isPlainly(w *Walk) bool {
	return s.plain && s.isOf(w) && !w.slow
}

// isOf reports whether s is the site of the walk's frame. Another walk may have reused the site
// since w found it.
func (s *site) isOf(w *Walk) bool {
	return s.pc == w.frame.PC && s.precise != w.frame.PCIsReturnAddress && s.epoch == w.epoch
}

// commitQuick is commit for a caller from tryQuick.
func (w *Walk) commitQuick() {
	f := &w.frame
	w.quick = false
	p := w.plan
	p.Finish(&f.Regs, &f.places, &w.stack.blocks[w.block&1].Window, w.step)
	if f.Trust > Table || f.heuristic != (arch.RegSet{}) || f.guess != (arch.RegSet{}) {
		f.doubt(p.Sets(), f.Trust)
	}
	f.Index++
	f.PC = target.Addr(w.step.PC)
	f.PCIsReturnAddress, f.HasCFA = true, false
	f.Signal, f.CFA, f.Module = false, 0, nil
	f.Strategy, f.Trust = w.how, w.trust
	if len(f.Attempts) > 0 {
		f.Attempts = f.Attempts[:0]
	}
}

// doubt sets the trust of the registers in set to t.
func (f *Frame) doubt(set arch.RegSet, t Trust) {
	for i := range set {
		f.heuristic[i] &^= set[i]
		f.guess[i] &^= set[i]
		switch t {
		case Heuristic:
			f.heuristic[i] |= set[i]
		case Guess:
			f.guess[i] |= set[i]
		}
	}
}
