package session

import (
	"context"

	"dbg/internal/fault"
)

// cutShort is asked by those who work long for a query (an index of names that is built): it is true when the query was cancelled, which then
// fails, whatever was found so far. It may be called from any goroutine that works for the holder of the lane.
func (s *Session) cutShort() bool {
	if s.ctx.Err() == nil {
		return false
	}
	s.cut.Store(true)
	return true
}

// forgetCut drops what a query that was cut short may have found out wrongly, and kept.
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

// uncut runs f, which is part of a query, as something that is done whole even if the query is cancelled.
func (s *Session) uncut(f func()) {
	ctx := s.ctx
	s.ctx = context.Background()
	defer func() { s.ctx = ctx }()
	f()
}

// queried reports whether a client's query is at work.
func (s *Session) queried() bool {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	return s.ctl.client
}

// decideNext runs f in the lane, as a decision of the session's own, which no client cancels. It does nothing after Close.
func (s *Session) decideNext(f func()) {
	if !s.enter() {
		return
	}
	defer s.leave()
	if err := fault.Catch(f); err != nil {
		s.failed(err)
	}
}

// failed is called when a decision about the program could not be made, for want of a file that could be read, or by a mistake of ours. The
// user gets to see the program where it is.
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

// Interrupted reports whether the query was cancelled: eval stops writing a value then.
func (e *env) Interrupted() bool { return e.s.ctx.Err() != nil }
