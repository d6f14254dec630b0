package session

import (
	"context"
	"errors"

	"dbg/target"
)

// ErrStale is the error of a query about a stop that is no longer current: the process has moved
// since, or has ended.
var ErrStale = errors.New("the process has moved since that stop")

// cursor is the state of one client: its selection, its convenience variables and its value
// history.
type cursor struct {
	selected target.ThreadID
	level    int              // the selected frame
	vars     map[string]Value // convenience variables
	history  []Value
}

// newCursor returns a cursor that points to the current stop.
func (s *Session) newCursor() *cursor {
	c := &cursor{vars: map[string]Value{}}
	if s.cursor != nil {
		c.selected = s.selected
	}
	s.cursors = append(s.cursors, c)
	return c
}

// point selects a thread's innermost frame for all clients, at a new stop.
func (s *Session) point(t target.ThreadID) {
	for _, c := range s.cursors {
		c.selected, c.level = t, 0
	}
}

// Under returns a handle of the session whose queries end with ctx's error once ctx is done. It has
// the cursor of s.
func (s *Session) Under(ctx context.Context) *Session {
	h := *s
	h.asked = ctx
	return &h
}

// At returns a handle of the session whose queries are about one stop, the one with the number
// (Stop.Number). They fail with ErrStale once the process has moved. The handle has the cursor and
// the context of s.
func (s *Session) At(stop uint64) *Session {
	h := *s
	h.at = stop
	return &h
}

// NewClient returns a handle with a cursor of its own: its own selected thread and frame,
// convenience variables and value history. A stop moves all cursors to the thread that stopped.
// leave drops the cursor.
func (s *Session) NewClient() (client *Session, leave func()) {
	h := *s
	s.do(func() { h.cursor = s.newCursor() })
	return &h, func() {
		s.do(func() {
			for i, c := range s.cursors {
				if c == h.cursor {
					s.cursors = append(s.cursors[:i:i], s.cursors[i+1:]...)
					return
				}
			}
		})
	}
}

// current returns ErrStale if the handle is about a stop that is no longer current.
func (s *Session) current() error {
	if s.at == 0 {
		return nil
	}
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	if s.ctl.stop.Number != s.at || s.ctl.state != IsStopped && s.ctl.state != IsCore {
		return ErrStale
	}
	return nil
}
