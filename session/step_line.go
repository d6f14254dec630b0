package session

import (
	"slices"
	"strings"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/symbols"
	"dbg/target"
)

// lineStep runs to the start of another source line. "next" (over) steps over calls, "step" enters
// functions that have line numbers.
//
// Contract: it ends at the start of a statement of another line in the same frame, in a function
// that it entered (after its prologue), or right after the return to the caller. In a function
// without line numbers it continues until that function returns or, for "step", calls one that has
// line numbers, as gdb does. An exception, a longjmp or a recovered panic that lands in the frame,
// or outside it, ends the step there.
type lineStep struct {
	over  bool
	count int
	cfa   target.Addr      // of the stepping frame; 0: unknown, as in code that starts a program
	pos   symbols.Position // the line to leave; Line is 0 if there is none
	depth int              // the number of inlined calls around the PC when the step began
	// inside is the innermost function, or inlined call, around that PC.
	inside *symbols.Function
	// into is the start of a function's body to which the thread runs, and where the step ends; 0
	// means none.
	into target.Addr
	// outside means that the function has no line numbers: step until it is left.
	outside bool
	file    *Module
	// signalled means that the thread gets the signal for which it has stopped. As in gdb, the step
	// enters its handler.
	signalled bool
	// lineless means that the step begins in code of line 0, and leaves that code only.
	lineless bool
	// outOf is the number of inlined calls to leave: the step ends at a line of the function that
	// made the outermost of them.
	outOf int
	// left is the outermost inlined call to leave, in the frame of the step. nil means none.
	left *symbols.Function
	// until makes the step skip all code from the function's start to the end of the first line.
	until   bool
	skipped span // that code, in the frame of the step
	// call is the address of a call that the step enters, and callReturn that of the instruction
	// after it. 0 means none. See StepIntoTarget.
	call, callReturn target.Addr

	spans   []span // the known spans of the line to leave
	leaving bool   // the thread runs to the exits of spans

	spansOf   target.Addr // the frame of spans
	spansLine symbols.Position
}

func (*lineStep) marks() []mark { return nil }

// setFrame makes another frame the one to step in.
func (st *lineStep) setFrame(cfa target.Addr) {
	if cfa != st.cfa {
		st.left, st.skipped = nil, span{}
	}
	st.cfa = cfa
}

func (st *lineStep) shift(by uint64) {
	st.cfa += target.Addr(by)
	st.spansOf += target.Addr(by)
}

// shownCalls returns the calls around a thread's PC, and how many of the innermost ones are hidden.
func (s *Session) shownCalls(t target.ThreadID, m *Module, pc target.Addr) (calls []symbols.Call, hidden int) {
	calls = m.Symbols.CallsAt(m.fileAddr(pc))
	return calls, min(s.hidden.hides(t, pc), max(0, len(calls)-1))
}

// begin sets the current place as the one to leave.
func (st *lineStep) begin(s *Session, c *course) (action, error) {
	top, err := s.top(c.thread, 1)
	if err != nil {
		return action{}, err
	}
	f := top[0]
	again := st.cfa != 0
	st.setFrame(f.CFA)
	st.outside, st.into = false, 0
	st.signalled = st.signalled && !again
	c.from = frameMark{cfa: f.CFA, known: true}
	st.pos = symbols.Position{}
	m := s.modules.find(f.PC)
	st.file = m
	if m == nil || m.Symbols == nil {
		st.outside = true
		return st.leave(s, c, f.PC, f.PC+1)
	}
	calls, hidden := s.shownCalls(c.thread, m, f.PC)
	st.depth = len(calls) - hidden
	st.inside = nil
	if hidden < len(calls) {
		st.inside = calls[hidden].Function
	}
	if n := st.outOf; n > 0 && hidden+n < len(calls) {
		st.outOf = 0
		st.depth, st.inside, st.left = st.depth-n, calls[hidden+n].Function, calls[hidden+n-1].Function
		lr, ok := m.Symbols.LineAt(m.fileAddr(f.PC))
		if !ok {
			return st.leave(s, c, f.PC, f.PC+1)
		}
		return st.leave(s, c, m.processAddr(lr.Lo), m.processAddr(lr.Hi))
	}
	if len(calls) > 0 {
		c.from.function = calls[0].Function.Name
		c.goroutine = s.goroutineOf(c.thread, calls[0].Function)
	}
	lr, ok := m.Symbols.LineAt(m.fileAddr(f.PC))
	lineless := st.lineless
	st.lineless = false
	if lineless && ok {
		return st.leave(s, c, m.processAddr(lr.Lo), m.processAddr(lr.Hi))
	}
	if !ok {
		st.outside = true
		return st.leaveFunction(s, c, m, f.PC)
	}
	if st.pos = lr.Position; lr.Line == 0 {
		st.pos = m.lineBefore(m.fileAddr(f.PC), calls)
	}
	if hidden > 0 {
		st.pos = calls[hidden].Position
	}
	if st.until {
		st.until = false
		if st.skipped = s.untilHere(m, m.fileAddr(f.PC), lr); st.skipped.has(f.PC) {
			return st.leave(s, c, st.skipped.lo, st.skipped.hi)
		}
	}
	return st.leave(s, c, m.processAddr(lr.Lo), m.processAddr(lr.Hi))
}

// leaveFunction steps while control stays in the function at pc.
func (st *lineStep) leaveFunction(s *Session, c *course, m *Module, pc target.Addr) (action, error) {
	if fn := m.Symbols.FunctionAt(m.fileAddr(pc)); fn != nil && fn.Hi > fn.Lo {
		return st.leave(s, c, m.processAddr(fn.Lo), m.processAddr(fn.Hi))
	}
	return st.leave(s, c, pc, pc+1)
}

// leave moves the thread out of a range, and out of the other known ranges of the same line in the
// same frame. It steps or, if they contain a loop or a call, runs to an exit.
func (st *lineStep) leave(s *Session, c *course, lo, hi target.Addr) (action, error) {
	r := span{lo, hi}
	if !slices.Contains(st.spans, r) {
		if st.spansOf != st.cfa || st.spansLine != st.pos || len(st.spans) == mostSpans {
			st.spans = nil
		}
		st.spansOf, st.spansLine = st.cfa, st.pos
		st.spans = append(st.spans, r)
	}
	if st.signalled {
		return action{resume: target.Resume{Thread: c.thread, Step: true}}, nil
	}
	step := action{resume: target.Resume{Thread: c.thread, Step: true, StepLo: lo, StepHi: hi}}
	if st.cfa == 0 || s.tgt.Arch() != arch.AMD64 {
		return step, nil
	}
	list, worth, ok := s.exits(st.spans, !st.over)
	if st.call != 0 {
		list = append(list, st.call)
	}
	if !ok || !worth {
		return step, nil
	}
	pc, _, err := s.pcAndSP(c.thread)
	if err != nil {
		return step, err
	}
	if slices.Contains(list, pc) { // it is at an exit
		return action{resume: target.Resume{Thread: c.thread, Step: true}}, nil
	}
	exits := &runTo{}
	for _, a := range list {
		exits.list = append(exits.list, s.markInFrame(a, st.cfa))
	}
	st.leaving = true
	step.push = exits
	return step, nil
}

// next implements plan. The pushed plan is done: the thread is at an exit, at the start of a
// function that it enters, or where a call has returned to. Or the thread has been stepped.
func (st *lineStep) next(s *Session, c *course) (action, error) {
	pc, _, err := s.pcAndSP(c.thread)
	if err != nil {
		return action{}, err
	}
	leaving, signalled := st.leaving, st.signalled
	st.leaving, st.signalled = false, false
	if st.into != 0 && st.into == pc {
		return st.finish(s, c)
	}
	st.into = 0
	if leaving && slices.ContainsFunc(st.spans, func(r span) bool { return r.has(pc) }) {
		// The exit is a call to enter, a return, or a jump to an unknown place.
		return action{resume: target.Resume{Thread: c.thread, Step: true}}, nil
	}
	top, err := s.top(c.thread, 3)
	if err != nil {
		return action{}, err
	}
	if signalled && len(top) > 1 && top[1].Signal {
		return st.finish(s, c)
	}
	if top[0].HasCFA && top[0].CFA != st.cfa {
		if a, ok, err := st.leftFrame(s, c, top); ok || err != nil {
			return a, err
		}
	}
	return st.sameFrame(s, c, pc)
}

// leftFrame handles a PC in another frame than the stepping one: a callee, a signal handler, or the
// caller. It returns false if it can't tell which.
func (st *lineStep) leftFrame(s *Session, c *course, top []*frames.Frame) (action, bool, error) {
	f0 := top[0]
	if len(top) > 1 {
		caller := top[1]
		if caller.Signal && len(top) > 2 {
			// A handler began: let it run, and continue where it interrupted the code.
			sp, _ := top[2].Regs.SP()
			return action{push: to(top[2].PC, sp)}, true, nil
		}
		if st.isIn(s, caller) {
			a, err := st.inCallee(s, c, f0, caller)
			return a, true, err
		}
	}
	if f0.CFA > st.cfa && st.cfa != 0 || len(top) == 1 {
		a, err := st.returned(s, c, f0)
		return a, true, err
	}
	// This is deeper than one call: the callee has jumped on, or its frame was not set up yet at
	// the stop. Go back to the stepping frame, if it still exists.
	deep, err := s.top(c.thread, 64)
	if err != nil {
		return action{}, true, err
	}
	for i, f := range deep[1:] {
		if st.isIn(s, f) {
			return action{push: to(f.PC, uint64(deep[i].CFA))}, true, nil
		}
	}
	return action{}, false, nil
}

// isIn reports whether a frame that has made a call is the one to step in. If the CFA of that is not
// known, it is the only frame of its function.
func (st *lineStep) isIn(s *Session, f *frames.Frame) bool {
	if st.cfa != 0 || f.HasCFA {
		return f.HasCFA && f.CFA == st.cfa
	}
	m := s.modules.find(f.PC - 1)
	if m == nil || m.Symbols == nil || st.inside == nil {
		return false
	}
	fn := m.Symbols.FunctionAt(m.fileAddr(f.PC - 1))
	return fn != nil && st.file == m && fn.Lo == st.inside.Lo
}

// inCallee decides at a function's entry whether to enter it.
func (st *lineStep) inCallee(s *Session, c *course, f0, caller *frames.Frame) (action, error) {
	wanted := st.call != 0 && caller.PC == st.callReturn
	if !st.over || wanted {
		if entry, ok := s.enterable(f0.PC); ok && (wanted || !s.skipped(entry)) {
			if entry == f0.PC {
				return st.finish(s, c)
			}
			// The function might end before its body is reached (an exception in a lazy binding),
			// so wait for the return as well.
			return st.enter(entry, f0, caller), nil
		} else if !ok && (wanted || s.stepMode) {
			switch entry, ok := s.linelessEntry(f0.PC); {
			case entry == f0.PC:
				return st.finish(s, c)
			case ok:
				return st.enter(entry, f0, caller), nil
			}
		}
	}
	return action{push: to(caller.PC, uint64(f0.CFA))}, nil
}

// enter runs to a place in the function that f0 has begun or is about to jump to.
func (st *lineStep) enter(entry target.Addr, f0, caller *frames.Frame) action {
	st.into = entry
	return action{push: &runTo{list: []mark{{addr: entry}, {addr: caller.PC, minSP: uint64(f0.CFA)}}}}
}

// enterable returns where to stop in the function at pc, if it has line numbers. A PLT stub
// represents the function to which it will jump.
func (s *Session) enterable(pc target.Addr) (target.Addr, bool) {
	m := s.modules.find(pc)
	if m == nil || m.Symbols == nil {
		return 0, false
	}
	fa := m.fileAddr(pc)
	if name, _, ok := m.Symbols.SymbolAt(fa); ok && strings.HasSuffix(name, "@plt") {
		for _, f := range s.searchList() {
			for _, fn := range f.sym.FunctionsByName(strings.TrimSuffix(name, "@plt")) {
				if loc := f.sym.AfterPrologue(fn); loc.Line != 0 && f.mod != nil {
					return f.mod.processAddr(loc.Addr), true
				}
			}
		}
		return 0, false
	}
	fn := m.Symbols.FunctionAt(fa)
	if fn == nil || fn.FromSymbolTable {
		return 0, false
	}
	if loc := m.Symbols.AfterPrologue(fn); loc.Line != 0 {
		if loc.Addr < fa || fn.Lo > fa || image.Addr(fa) >= fn.Hi {
			return pc, true // already past it
		}
		return m.processAddr(loc.Addr), true
	}
	return 0, false
}

// returned handles the arrival in a caller. If the return address is at the start of a statement,
// the step ends there. If it is in the middle of a line, the rest of that line is stepped over as
// if the step had begun there.
func (st *lineStep) returned(s *Session, c *course, f *frames.Frame) (action, error) {
	lr, m, ok := s.position(f.PC)
	if !ok {
		return st.finish(s, c)
	}
	fa := m.fileAddr(f.PC)
	if lr.Lo == fa && lr.IsStmt && (lr.Line != st.pos.Line || lr.File != st.pos.File) {
		return st.finish(s, c)
	}
	st.setFrame(f.CFA)
	st.outside, st.file = false, m
	calls, line := m.Symbols.CallsAt(fa), lr.Position
	if lr.Lo == fa && !lr.IsStmt {
		line = symbols.Position{} // no statement begins here: the next one may be of this line
	}
	st.goOn(calls, startingCalls(m, fa, calls), line)
	return st.leave(s, c, m.processAddr(lr.Lo), m.processAddr(lr.Hi))
}

// sameFrame handles a PC outside the range in the stepping frame.
func (st *lineStep) sameFrame(s *Session, c *course, pc target.Addr) (action, error) {
	m := s.modules.find(pc)
	if m == nil || m.Symbols == nil {
		return st.leave(s, c, pc, pc+1)
	}
	if st.skipped.has(pc) {
		return st.leave(s, c, st.skipped.lo, st.skipped.hi)
	}
	fa := m.fileAddr(pc)
	lr, ok := m.Symbols.LineAt(fa)
	if !ok {
		return st.leaveFunction(s, c, m, pc)
	}
	on := func() (action, error) { return st.leave(s, c, m.processAddr(lr.Lo), m.processAddr(lr.Hi)) }
	over := func(call *symbols.Call) (action, error) {
		// Another call may begin in the same row, right after this one.
		lo, hi := lr.Lo, lr.Hi
		for _, r := range call.Function.Ranges {
			if r.Lo <= fa && fa < r.Hi {
				lo, hi = max(lo, r.Lo), min(hi, r.Hi)
			}
		}
		return st.leave(s, c, m.processAddr(lo), m.processAddr(hi))
	}
	if lr.Line == 0 {
		return on()
	}
	// Inlined calls that begin here are not entered yet. The rules are gdb's, except that a call
	// whose code has several ranges begins only at its entry.
	calls := m.Symbols.CallsAt(fa)
	starting := startingCalls(m, fa, calls)
	within := st.within(calls)
	if within && calls[len(calls)-st.depth].Function.Lo != fa {
		starting = min(starting, len(calls)-st.depth)
	}
	shown := len(calls) - starting
	switch {
	case st.left != nil && st.left.Lo != fa && isAmong(st.left, calls):
		return on() // the call has not been left
	case within && shown == st.depth && starting > 0:
		call := calls[starting].Position
		same := call.Line == st.pos.Line && call.File == st.pos.File
		switch {
		case call.Line == 0 || same && st.over:
			return over(&calls[starting-1])
		case same && s.skippedCall(calls[starting-1:starting]):
			return over(&calls[starting-1])
		case same:
			starting--
		}
		s.hidden = hiddenCalls{c.thread, pc, starting}
		return st.finishShown(s, c)
	case within && shown > st.depth:
		if st.over || s.skippedCall(calls[starting:len(calls)-st.depth]) {
			return over(&calls[len(calls)-st.depth-1]) // an inlined call is a call
		}
		s.hidden = hiddenCalls{c.thread, pc, starting}
		return st.finishShown(s, c)
	}
	same := within && shown == st.depth
	switch {
	case lr.Line == st.pos.Line && lr.File == st.pos.File:
		if !within {
			st.goOn(calls, starting, st.pos) // the inlined call has ended
		}
	case lr.Lo != fa:
		// This is the middle of another line: part of its statement was already executed.
		st.goOn(calls, starting, lr.Position)
		return on()
	case lr.IsStmt:
		s.hidden = hiddenCalls{c.thread, pc, starting}
		return st.finishShown(s, c)
	case !same:
		// Another function goes on here, and no statement begins: the next one may be of this line.
		st.goOn(calls, starting, symbols.Position{})
	}
	return on()
}

// goOn continues the step in the function that is shown at a PC, as a step over a line.
func (st *lineStep) goOn(calls []symbols.Call, starting int, line symbols.Position) {
	st.pos, st.depth, st.inside = line, len(calls)-starting, nil
	if starting < len(calls) {
		st.inside = calls[starting].Function
	}
}

// within reports whether the inlined call in which the step began is among the calls around a PC.
func (st *lineStep) within(calls []symbols.Call) bool {
	n := len(calls) - st.depth
	return n >= 0 && n < len(calls) && (st.inside == nil || calls[n].Function.Is(st.inside))
}

// isAmong reports whether a function, or an inlined call, is in a list.
func isAmong(f *symbols.Function, calls []symbols.Call) bool {
	return slices.ContainsFunc(calls, func(k symbols.Call) bool { return k.Function.Is(f) })
}

// finish ends one step; another may follow. The inlined calls that begin here are hidden.
func (st *lineStep) finish(s *Session, c *course) (action, error) {
	if pc, _, err := s.pcAndSP(c.thread); err == nil {
		s.hideStarting(c.thread, pc)
	}
	return st.finishShown(s, c)
}

// finishShown is finish where s.hidden is set.
func (st *lineStep) finishShown(s *Session, c *course) (action, error) {
	if st.count--; st.count > 0 {
		return st.begin(s, c)
	}
	return action{done: true, stop: Stop{Reason: StopStep}}, nil
}
