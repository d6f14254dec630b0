package session

import (
	"dbg/target"
)

// instructionStep executes instructions one by one. With over, a call runs until it returns.
//
// Contract: it ends after count instructions. If a signal handler begins during a step, the step
// enters it, as in gdb. If an exception or a longjmp leaves a call that is stepped over, the step
// ends where that lands.
type instructionStep struct {
	over  bool
	count int
	cfa   target.Addr // of the stepping frame
}

func (p *instructionStep) begin(s *Session, c *course) (action, error) {
	if f, err := s.frame(c.thread, 0); err == nil {
		c.from = markOf(&f)
	}
	return p.move(s, c)
}

// move starts one instruction.
func (p *instructionStep) move(s *Session, c *course) (action, error) {
	pc, sp, err := s.pcAndSP(c.thread)
	if err != nil {
		return action{}, err
	}
	if p.over {
		p.cfa = 0
		if top, err := s.top(c.thread, 1); err == nil {
			p.cfa = top[0].CFA
		}
		if ins, err := s.disassemble(pc, 1); err == nil && len(ins) == 1 && ins[0].call {
			return action{push: to(pc+target.Addr(len(ins[0].Bytes)), sp)}, nil
		}
	}
	return action{resume: target.Resume{Thread: c.thread, Step: true}}, nil
}

func (p *instructionStep) next(s *Session, c *course) (action, error) {
	if p.count--; p.count > 0 {
		return p.move(s, c)
	}
	return action{done: true, stop: Stop{Reason: StopStep}}, nil
}

func (*instructionStep) marks() []mark { return nil }
func (p *instructionStep) shift(by uint64) {
	if p.cfa != 0 {
		p.cfa += target.Addr(by)
	}
}
