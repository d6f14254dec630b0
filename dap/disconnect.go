package dap

import (
	"context"

	"dbg/target"
)

// disconnectArguments has a pointer for a field whose absence differs from false.
type disconnectArguments struct {
	TerminateDebuggee *bool `json:"terminateDebuggee"`
	Restart           bool  `json:"restart"`
}

// disconnect ends the connection. By default it kills a launched program and detaches from an
// attached one. The client may request the opposite.
func (s *server) disconnect(_ context.Context, args disconnectArguments) (any, error) {
	defer s.leave()
	if s.phase.get() != phaseLoaded || s.kind.get() == target.Core {
		return nil, nil
	}
	kill := s.kind.get() == target.Launched
	if args.TerminateDebuggee != nil {
		kill = *args.TerminateDebuggee
	}
	var err error
	if kill {
		err = s.sess.Kill()
	} else {
		err = s.sess.Detach()
	}
	if err != nil {
		// The process may have ended a moment ago. The session is closed in any case.
		s.logf("disconnect: %v", err)
	}
	return nil, nil
}
