package dap

import (
	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// resume makes the program go by start. If it does, all references are stale,
// and the Resumed event to come is our own doing.
func (s *server) resume(start func() error) error {
	if err := start(); err != nil {
		return err
	}
	s.refs.reset()
	s.ownResumes++
	s.lastStop = nil
	s.pauseThread.Store(0)
	return nil
}

// step is what the four stepping requests share.
func (s *server) step(thread int, kind session.StepKind) (any, error) {
	return nil, s.resume(func() error { return s.query.StepThread(target.ThreadID(thread), kind, 1) })
}

// granular chooses a kind of step.
func granular(g godap.SteppingGranularity, line, instruction session.StepKind) session.StepKind {
	if g == "instruction" {
		return instruction
	}
	return line
}
