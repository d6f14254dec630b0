package session

// CancelQuery makes the client's query that is at work end soon, with context.Canceled. It does nothing to decisions about the program
// (a condition, a step), and nothing if there is no query. It does not wait.
func (s *Session) CancelQuery() {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	if s.ctl.client && s.ctl.cancel != nil {
		s.ctl.cancel()
	}
}

// queried reports whether a client's query is at work.
func (s *Session) queried() bool {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	return s.ctl.client
}

// decideNext runs f in the lane, as a decision that CancelQuery leaves alone. It does nothing after Close.
func (s *Session) decideNext(f func()) {
	if s.enter() {
		defer s.leave()
		f()
	}
}

// Interrupted reports whether the query was cancelled: eval stops writing a value then.
func (e *env) Interrupted() bool { return e.s.ctx.Err() != nil }
