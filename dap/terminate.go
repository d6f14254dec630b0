package dap

import "context"

// terminate ends the program; the exited and terminated events follow. It is killed: a
// stopped program could not act on a polite signal.
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
