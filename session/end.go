package session

import (
	"context"
	"errors"
	"time"

	"dbg/target"
)

// grace is the time that an end waits for a cancelled query. The process is already released then.
// The rest of the work is done when the query ends.
const grace = 50 * time.Millisecond

// process returns the process under control, or nil.
func (s *Session) process() target.Process {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	return s.ctl.proc
}

// hurry ends all waiting for slow subscribers.
func (s *Session) hurry() {
	s.hurried.Store(true)
	s.wakeWriters()
}

// Kill ends the process. It does not wait for queries.
func (s *Session) Kill() error {
	p := s.process()
	if p == nil {
		return target.ErrNotRunning
	}
	s.cancelQuery()
	s.hurry()
	s.ctl.mu.Lock()
	done := s.ctl.done
	s.ctl.mu.Unlock()
	err := p.Kill()
	for err == nil {
		select {
		case <-done: // its end has been published
			return nil
		case <-time.After(grace):
			if s.queried() {
				return nil // the end is published when that query ends
			}
		}
	}
	return err
}

// Detach releases the process, which continues unharmed. It does not wait for queries.
func (s *Session) Detach() error {
	p := s.process()
	if p == nil {
		return target.ErrNotRunning
	}
	s.cancelQuery()
	s.hurry()
	pid := p.PID()
	err := p.Detach()
	if errors.Is(err, target.ErrGone) {
		return err // it was killed meanwhile; Ended follows
	}
	s.soon(func() {
		if s.proc == p {
			s.logHeld()
			s.dropCheckpoints()
			s.forgetTarget()
			s.resolveAll()
		}
		s.publish(Ended{PID: pid, Detached: true})
	})
	return err
}

// Close ends the session. It kills a launched process and detaches from an attached one. It may be
// called more than once.
func (s *Session) Close() error {
	s.ctl.mu.Lock()
	p, closing := s.ctl.proc, s.ctl.closing
	s.ctl.closing = true
	s.ctl.mu.Unlock()
	if closing {
		<-s.closed
		return nil
	}
	var err error
	last := false
	if p != nil {
		s.cancelQuery()
		s.hurry()
		err = p.Close()
	}
	s.soon(func() {
		if e := s.dropTarget(); err == nil {
			err = e
		}
		if last = s.group.quit(s); last {
			for _, f := range s.files {
				f.close()
			}
		}
		s.files, s.exeFile = nil, nil
	})
	close(s.closed)
	if last {
		s.fetcher.client.Close()
	}
	s.endSubscriptions()
	return err
}

// soon runs f in the lane. If a query does not leave the lane in time, soon returns, and f runs
// when the query leaves.
func (s *Session) soon(f func()) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case s.lane <- struct{}{}:
		s.entered(context.Background())
		f()
		s.leave()
	case <-timer.C:
		s.putOff(f)
	}
}
