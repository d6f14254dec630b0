package dap

import (
	"context"

	"dbg/target"
)

// disconnectArguments has a pointer where nothing is not the same as false.
type disconnectArguments struct {
	TerminateDebuggee *bool `json:"terminateDebuggee"`
	Restart           bool  `json:"restart"`
}

// disconnect ends the connection. A launched program ends, unless the client
// says otherwise; an attached one runs on, unless it says otherwise.
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
