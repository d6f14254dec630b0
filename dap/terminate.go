package dap

import "context"

// terminate kills the program; the exited and terminated events follow. A stopped program could not
// handle a milder signal.
func (s *server) terminate(context.Context, struct{}) (any, error) {
	if s.phase.get() == phaseEnded {
		return nil, nil
	}
	if err := s.sess.Kill(); err != nil {
		// A core, or a process that has just ended.
		s.post(s.terminated)
	}
	return nil, nil
}
