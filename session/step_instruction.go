package session

import (
	"dbg/target"
)

// instructionStep executes instructions one by one; over passes a call and what
// it calls in one go.
type instructionStep struct {
	stepBase
	over  bool
	count int
}

func (s *Session) newInstructionStep(t target.ThreadID, over bool, count int) (stepper, target.Resume, error) {
	st := &instructionStep{over: over, count: count}
	st.thread = t
	if f, err := s.frame(t, 0); err == nil {
		st.cfa, st.fn = f.Machine.CFA, f.FunctionName
	}
	r, err := st.move(s)
	return st, r, err
}

// move begins one instruction.
func (st *instructionStep) move(s *Session) (target.Resume, error) {
	pc, sp, err := s.pcAndSP(st.thread)
	if err != nil {
		return target.Resume{}, err
	}
	if st.over {
		if ins, err := s.disassemble(pc, 1); err == nil && len(ins) == 1 && ins[0].call {
			return target.Resume{}, st.placed.add(s, pc+target.Addr(len(ins[0].Bytes)), sp)
		}
	}
	return target.Resume{Thread: st.thread, Step: true}, nil
}

func (st *instructionStep) next(s *Session, ev target.Event) (action, error) {
	if len(st.placed.list) > 0 {
		reached, err := s.atMark(&st.placed, st.thread)
		if err != nil || !reached {
			return action{}, err
		}
		st.placed.clear(s)
	}
	if st.count--; st.count > 0 {
		r, err := st.move(s)
		return action{resume: r}, err
	}
	return action{done: true, stop: Stop{Reason: StopStep}}, nil
}
