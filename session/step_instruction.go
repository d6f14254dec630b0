package session

import (
	"dbg/target"
)

// instructionStep executes instructions one by one; over passes a call and what
// it calls in one go.
//
// Contract: it ends after count instructions. A signal's handler that begins in a step is gone into, as with gdb. A
// call that is passed and left by an exception or a longjmp does not come back: the program runs on.
type instructionStep struct {
	over  bool
	count int
}

func (p *instructionStep) begin(s *Session, c *course) (action, error) {
	if f, err := s.frame(c.thread, 0); err == nil {
		c.from = markOf(&f)
	}
	return p.move(s, c)
}

// move begins one instruction.
func (p *instructionStep) move(s *Session, c *course) (action, error) {
	pc, sp, err := s.pcAndSP(c.thread)
	if err != nil {
		return action{}, err
	}
	if p.over {
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
func (*instructionStep) shift(uint64)  {}
