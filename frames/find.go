package frames

import (
	"dbg/arch"
	"dbg/target"
)

// find searches for the caller of w.frame. It returns true if w.caller holds it; otherwise w.end
// holds the reason. It also sets those fields of the frame that the search determines: Module,
// Signal, CFA.
func (w *Walk) find() bool {
	f := &w.frame
	w.attempts = w.attempts[:0]
	w.done, w.stuck, w.hasBad, w.switches = false, false, false, false
	w.refused.is = false
	w.inRegister, w.byExpr, w.borrowed, w.landing, w.precise, w.zeroed, w.above = false, false, false, notLanding, false, End{}, 0
	if w.rec != nil {
		w.rec.tries, w.rec.now = nil, Try{}
		m := recording{&w.stack, w.rec}
		w.words, w.env.Mem = m, m
	}
	w.pinned = nil
	s := w.site(f.PC, !f.PCIsReturnAddress)
	w.pinned = s
	f.Module = s.module
	if f.Index+1 >= w.u.DepthLimit {
		w.finish(End{Reason: DepthLimit})
		return false
	}
	if s.module != nil && s.module.IsGo() && s.module.IsOutermost(s.filePC(), f.PCIsReturnAddress) {
		w.finish(End{Outermost: true, Reason: EntryPoint})
		return false
	}
	if name := w.leftStack(s); name != "" {
		if goVDSOCallers[name] && w.u.Use.Has(Prologue) && w.prologue(s) {
			return true
		}
		if w.bySched() {
			return true
		}
		w.finish(End{Reason: OtherStack, Function: name})
		return false
	}
	use := w.u.Use
	if use.Has(Sigreturn) && w.sigreturn(s) {
		return true
	}
	if !f.Signal && w.leaves(s) {
		return true
	}
	if !w.done && !f.Signal && use&Tables != 0 && w.byTable(s) {
		return true
	}
	if w.done {
		return false
	}
	if w.atEntry() {
		w.finish(End{Outermost: true, Reason: EntryPoint})
		return false
	}
	if !f.Signal && (use.Has(PLT) && w.plt(s) || use.Has(Prologue) && w.prologue(s)) {
		return true
	}
	if !f.Signal && !w.stackMissing() && (use.Has(FP) && w.fp() || use.Has(SCS) && w.scs() || use.Has(Scan) && w.scan()) {
		return true
	}
	if s.module != nil && s.module.IsGo() && s.module.IsOutermost(s.filePC(), true) {
		w.finish(End{Outermost: true, Reason: EntryPoint}) // a new thread
		return false
	}
	e := End{Reason: NoCaller}
	switch {
	case w.zeroed.Reason != NotEnded:
		e = w.zeroed
	case w.stuck:
		e.Reason = NotMoved
	case w.hasBad:
		e.Reason, e.Addr = Unreadable, w.bad
	}
	w.finish(e)
	return false
}

// stackMissing reports whether the place of the return address is known, but that part of the stack
// is missing (a core without that page). A search of the rest would not find the caller.
func (w *Walk) stackMissing() bool {
	sp, known := w.lowest()
	return w.hasBad && known && uint64(w.bad) >= sp && uint64(w.bad)-sp < maxFrame
}

// lowest returns the frame's stack pointer, or, if that is unknown, a lower bound of it. It returns
// false if there is none.
func (w *Walk) lowest() (uint64, bool) {
	if sp, known := w.frame.Regs.SP(); known {
		return sp, true
	}
	return w.floor, w.floor != 0
}

// atEntry reports whether the frame is in its module's entry function.
func (w *Walk) atEntry() bool {
	s := w.pinned
	return s.module != nil && s.module.InEntry(w.u.arch, s.filePC())
}

// failed records an attempt. It returns false, for the strategy to return.
func (w *Walk) failed(how Strategy, why string) bool {
	w.attempts = append(w.attempts, Attempt{how, why})
	if w.rec != nil {
		w.rec.close(how, why)
	}
	return false
}

// finish ends the walk.
func (w *Walk) finish(e End) {
	w.done = true
	w.end = e
	if len(w.attempts) > 0 {
		w.end.Attempts = append([]Attempt(nil), w.attempts...)
	}
}

// commit turns the frame into its caller.
func (w *Walk) commit() {
	if w.quick {
		w.commitQuick()
		return
	}
	f := &w.frame
	f.Tries = nil
	if w.rec != nil {
		f.Tries = w.rec.tries
	}
	before := f.Trust
	if low, _ := w.lowest(); !w.caller.Has(w.u.arch.SP) {
		w.floor = max(low, w.above)
	}
	w.caller.Commit(&f.Regs, &f.places)
	switch {
	case w.how >= PLT:
		// A heuristic does not know whether the function has changed the registers that it passes on.
		f.doubt(f.Regs.Known(), w.trust)
	case before > Table || f.heuristic != (arch.RegSet{}) || f.guess != (arch.RegSet{}):
		f.doubt(w.caller.Sets(), before)
	}
	f.Index++
	f.PC = target.Addr(w.caller.PC)
	f.PCIsReturnAddress = !f.Signal && !w.precise
	f.Signal, f.CFA, f.HasCFA, f.Module = false, 0, false, nil
	f.Strategy, f.Trust = w.how, w.trust
	// Move the attempts to the new frame, and reuse the old list.
	f.Attempts, w.attempts = w.attempts, f.Attempts[:0]
}
