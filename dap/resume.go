package dap

import (
	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// resume resumes the program with start. After that, all references are stale, and the following
// Resumed event is expected.
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

// step serves the stepping requests.
func (s *server) step(thread int, kind session.StepKind) (any, error) {
	return nil, s.resume(func() error { return s.query.StepThread(target.ThreadID(thread), kind, 1) })
}

// granular returns the kind of step for a granularity.
func granular(g godap.SteppingGranularity, line, instruction session.StepKind) session.StepKind {
	if g == "instruction" {
		return instruction
	}
	return line
}
