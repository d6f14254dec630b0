package session

import "dbg/target"

// untilLine steps over lines until control is after the line at which it began: "until" without a
// location. At the end of a loop it does not go back to the loop's start.
//
// Contract: it ends where a step over lines does, the first time that this is after the first
// line's code, or in another frame.
type untilLine struct {
	cfa    target.Addr
	lo, hi target.Addr // from the function's start to the end of the first line

	signalled bool // see lineStep
}

func (p *untilLine) begin(s *Session, c *course) (action, error) {
	top, err := s.top(c.thread, 1)
	if err != nil {
		return action{}, err
	}
	p.cfa = top[0].CFA
	if m := s.modules.find(top[0].PC); m != nil && m.Symbols != nil {
		at := m.fileAddr(top[0].PC)
		fn := m.Symbols.FunctionAt(at)
		if line, ok := m.Symbols.LineAt(at); ok && fn != nil {
			p.lo, p.hi = m.processAddr(fn.Lo), m.processAddr(line.Hi)
		}
	}
	act := p.line()
	act.push.(*lineStep).signalled = p.signalled
	return act, nil
}

// line steps over one line.
func (p *untilLine) line() action { return action{push: &lineStep{over: true, count: 1}} }

func (p *untilLine) next(s *Session, c *course) (action, error) {
	top, err := s.top(c.thread, 1)
	if err == nil && top[0].CFA == p.cfa && p.lo <= top[0].PC && top[0].PC < p.hi {
		return p.line(), nil
	}
	return action{done: true, stop: Stop{Reason: StopStep}}, nil
}

func (*untilLine) marks() []mark     { return nil }
func (p *untilLine) shift(by uint64) { p.cfa += target.Addr(by) }
