package dap

import (
	"context"

	"dbg/session"

	godap "github.com/google/go-dap"
)

// pause stops all threads and shows the one that the client named.
func (s *server) pause(_ context.Context, args godap.PauseArguments) (any, error) {
	if s.phase.get() == phaseEnded {
		return nil, errNoProcess
	}
	switch s.sess.State() {
	case session.IsCore:
		return nil, errCore
	case session.IsStopped:
		return nil, errStopped
	}
	s.pauseThread.Store(int64(args.ThreadId))
	return nil, s.sess.Pause()
}
