package session

import (
	"errors"

	"dbg/symbols"
	"dbg/target"
)

// stepOut runs until a frame returns to its caller: "finish". It reads the function's return value
// there.
//
// Contract: it ends at the return address, in the caller's frame. An exception or a longjmp that
// lands in the caller, or outside it, ends it there, without a value.
type stepOut struct {
	left   *symbols.Function
	module *Module
	from   frameMark
	outer  *runTo      // to the return address
	into   target.Addr // the caller's CFA
}

// newFinish returns the plan that leaves a frame of a thread.
func (s *Session) newFinish(t target.ThreadID, level int) (plan, error) {
	f, err := s.frame(t, level)
	if err != nil {
		return nil, err
	}
	if f.Inlined && !f.TailCall {
		// An inlined call has no return: step until its code is left.
		return &lineStep{over: true, count: 1, outOf: f.Level + 1}, nil
	}
	outer, err := s.frame(t, level+1)
	for err == nil && outer.Machine.Index == f.Machine.Index { // skip functions that ended in tail calls
		outer, err = s.frame(t, outer.Level+1)
	}
	if err != nil {
		return nil, errors.New("\"finish\" not meaningful in the outermost frame.") //lint:ignore ST1005 gdb's words
	}
	if !f.Machine.HasCFA {
		return nil, errors.New("the frame's CFA is unknown, so its return can't be recognised")
	}
	minSP := uint64(f.Machine.CFA)
	if f.Machine.Signal {
		// The trampoline returns to the interrupted code, on its stack.
		minSP, _ = outer.Machine.Regs.SP()
	}
	return &stepOut{left: f.Function, module: f.Module, from: markOf(&f), outer: to(outer.PC, minSP), into: outer.Machine.CFA}, nil
}

func (p *stepOut) begin(s *Session, c *course) (action, error) {
	c.from = p.from
	if top, err := s.frame(c.thread, 0); err == nil {
		c.goroutine = s.goroutineOf(c.thread, top.Function)
	}
	return action{push: p.outer}, nil
}

func (p *stepOut) next(s *Session, c *course) (action, error) {
	if pc, _, err := s.pcAndSP(c.thread); err == nil {
		s.hideStarting(c.thread, pc)
	}
	stop := Stop{Reason: StopFinish, Returned: p.left}
	if v, ok := s.returnValue(c.thread, p.module, p.left); ok {
		stop.ReturnValue, stop.HasReturnValue = v, true
	}
	return action{done: true, stop: stop}, nil
}

func (*stepOut) marks() []mark { return nil }

func (p *stepOut) shift(by uint64) {
	if p.into != 0 {
		p.into += target.Addr(by)
	}
}

// newAdvance returns the plan that runs until one of several places is reached, or the innermost
// frame returns.
func (s *Session) newAdvance(t target.ThreadID, places []BreakpointPlace) plan {
	p := &runTo{}
	for _, place := range places {
		p.list = append(p.list, mark{addr: place.Addr})
	}
	if top, err := s.top(t, 2); err == nil && len(top) == 2 && top[0].HasCFA {
		p.list = append(p.list, mark{addr: top[1].PC, minSP: uint64(top[0].CFA)})
		p.caller = top[1].CFA
	} else if err != nil {
		s.logf("advance: %v", err)
	}
	return p
}
