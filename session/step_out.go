package session

import (
	"errors"

	"dbg/symbols"
	"dbg/target"
)

// stepOut runs until a frame returns to its caller: "finish". The value that
// the function returns is read there.
type stepOut struct {
	stepBase
	left   *symbols.Function
	module *Module
}

func (s *Session) newFinish(t target.ThreadID, level int) (stepper, target.Resume, error) {
	f, err := s.frame(t, level)
	if err != nil {
		return nil, target.Resume{}, err
	}
	if f.Inlined && !f.TailCall {
		// There is no return to wait for: the inlined code is left by stepping.
		return s.newInlineOut(t, f)
	}
	outer, err := s.frame(t, level+1)
	for err == nil && outer.Machine.Index == f.Machine.Index { // functions that are gone by tail calls
		outer, err = s.frame(t, outer.Level+1)
	}
	if err != nil {
		return nil, target.Resume{}, errors.New("\"finish\" not meaningful in the outermost frame.") //lint:ignore ST1005 gdb's words
	}
	if !f.Machine.HasCFA {
		return nil, target.Resume{}, errors.New("the frame's CFA is not known, so its return can't be recognised")
	}
	st := &stepOut{left: f.Function, module: f.Module}
	st.thread, st.cfa, st.fn = t, f.Machine.CFA, f.FunctionName
	if top, err := s.frame(t, 0); err == nil {
		st.placed.goroutine = s.goroutineOf(t, top.Function)
	}
	minSP := uint64(f.Machine.CFA)
	if f.Machine.Signal {
		// The trampoline returns to where the signal struck, on whatever stack that was.
		minSP, _ = outer.Machine.Regs.SP()
	}
	return st, target.Resume{}, st.placed.add(s, outer.PC, minSP)
}

func (st *stepOut) next(s *Session, ev target.Event) (action, error) {
	reached, err := s.atMark(&st.placed, st.thread)
	if err != nil || !reached {
		return action{}, err
	}
	stop := Stop{Reason: StopFinish, Returned: st.left}
	if v, ok := s.returnValue(st.thread, st.module, st.left); ok {
		stop.ReturnValue, stop.HasReturnValue = v, true
	}
	return action{done: true, stop: stop}, nil
}

// inlineOut leaves an inlined call by stepping over lines until it is no longer
// around the PC.
type inlineOut struct {
	lineStep
	fn    *symbols.Function
	depth int
}

func (s *Session) newInlineOut(t target.ThreadID, f Frame) (stepper, target.Resume, error) {
	st := &inlineOut{fn: f.Function}
	st.lineStep.over, st.lineStep.count, st.lineStep.thread = true, 1, t
	r, err := st.begin(s)
	st.depth = st.lineStep.depth - f.Level
	return st, r, err
}

func (st *inlineOut) next(s *Session, ev target.Event) (action, error) {
	a, err := st.lineStep.next(s, ev)
	if err != nil || !a.done {
		return a, err
	}
	top, err := s.top(st.thread, 1)
	if err != nil || top[0].CFA != st.cfa {
		return a, err
	}
	if m := s.modules.find(top[0].PC); m != nil && m.Symbols != nil {
		if calls := m.Symbols.CallsAt(m.fileAddr(top[0].PC)); len(calls) >= st.depth {
			st.count = 1
			r, err := st.begin(s)
			return action{resume: r}, err
		}
	}
	return a, nil
}

// advance runs until one of several places is reached, or the frame returns.
type advance struct{ stepBase }

func (s *Session) newAdvance(t target.ThreadID, places []BreakpointPlace) (stepper, error) {
	st := &advance{}
	st.thread = t
	for _, p := range places {
		if err := st.placed.add(s, p.Addr, 0); err != nil {
			st.placed.clear(s)
			return nil, err
		}
	}
	top, err := s.top(t, 2)
	if err == nil && len(top) == 2 && top[0].HasCFA {
		st.cfa = top[0].CFA
		err = st.placed.add(s, top[1].PC, uint64(top[0].CFA))
	}
	if err != nil {
		s.logf("advance: %v", err)
	}
	return st, nil
}

func (st *advance) next(s *Session, ev target.Event) (action, error) {
	reached, err := s.atMark(&st.placed, st.thread)
	if err != nil || !reached {
		return action{}, err
	}
	return action{done: true, stop: Stop{Reason: StopStep}}, nil
}
