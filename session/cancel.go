package session

import (
	"context"

	"dbg/internal/fault"
)

// cutShort reports whether the query was cancelled. Long work for a query (building an index of
// names) calls it, and stops if it returns true. The query then fails, even if it has found
// something. cutShort may be called from any goroutine that works for the holder of the lane.
func (s *Session) cutShort() bool {
	if s.ctx.Err() == nil {
		return false
	}
	s.cut.Store(true)
	return true
}

// cutShort is cutShort for the files, which the sessions of a group share: it asks the session that
// holds the lane.
func (g *group) cutShort() bool { return g.active != nil && g.active.cutShort() }

// forgetCut drops cached results that may be wrong because the query was cancelled.
func (s *Session) forgetCut() {
	for _, f := range s.files {
		if f.symbols != nil {
			f.symbols.Forget()
		}
	}
	for _, l := range s.made.lists {
		for _, e := range l.entries {
			if e.module != nil {
				e.module.Symbols.Forget()
			}
		}
	}
	s.dropCache()
}

// uncut runs f, a part of a query, to its end, even if the query is cancelled.
func (s *Session) uncut(f func()) {
	ctx := s.ctx
	s.ctx = context.Background()
	defer func() { s.ctx = ctx }()
	f()
}

// queried reports whether a client's query is running.
func (s *Session) queried() bool {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	return s.ctl.client
}

// decideNext runs f in the lane, as a decision of the session itself, which no client can cancel.
// After Close it does nothing.
func (s *Session) decideNext(f func()) {
	if !s.enter() {
		return
	}
	defer s.leave()
	if err := fault.Catch(f); err != nil {
		s.failed(err)
	}
}

// failed is called when a decision about the program could not be made, because a file could not be
// read or because of a bug. It stops the program, so that the user sees where it is.
func (s *Session) failed(err error) {
	s.logPanic(err)
	s.dropCache()
	s.publish(LogMessage{Warning: true, Text: err.Error()})
	if s.proc == nil || s.state != IsRunning {
		return
	}
	if err := s.proc.Interrupt(); err != nil {
		s.logf("%v", err)
	}
}

// Interrupted reports whether the query was cancelled: eval then stops formatting a value.
func (e *env) Interrupted() bool { return e.s.ctx.Err() != nil }
