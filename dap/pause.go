package dap

import (
	"context"

	"dbg/session"
	"dbg/target"

	godap "github.com/google/go-dap"
)

// pause stops all threads and shows the one that the client names.
func (s *server) pause(_ context.Context, args godap.PauseArguments) (any, error) {
	if s.phase == phaseEnded {
		return nil, errNoProcess
	}
	switch s.sess.State() {
	case session.IsCore:
		return nil, errCore
	case session.IsStopped:
		return nil, errStopped
	}
	if err := s.sess.Pause(); err != nil {
		return nil, err
	}
	s.pauseThread = target.ThreadID(args.ThreadId)
	return nil, nil
}
