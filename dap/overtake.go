package dap

import (
	"context"
	"sync/atomic"
	"time"

	"dbg/session"
)

// Requests are handled in order. A request that controls the program waits no longer than this for
// earlier ones: the building of an index or a stack of a million frames must not prevent a program
// from being stopped. After that time, it is handled while the current request still runs.
const overtakeAfter = 40 * time.Millisecond

// controls reports whether a request may be handled before its turn.
func (req *request) controls() bool {
	switch req.Command {
	case "pause", "terminate", "disconnect", "cancel":
		return req.wrong == nil && req.Type == "request"
	}
	return false
}

// moves reports whether a request may resume the program.
func (req *request) moves() bool {
	switch req.Command {
	case "launch", "attach", "restart", "configurationDone", "continue", "next", "stepIn", "stepOut":
		return true
	}
	return false
}

// take claims a request for the caller. It returns false if it was already claimed.
func (req *request) take() bool { return req.taken.CompareAndSwap(false, true) }

// goAhead handles a request that has waited for its turn long enough.
func (in *inbox) goAhead(req *request) {
	in.mu.Lock()
	if in.closed || req.taken.Load() {
		in.mu.Unlock()
		return
	}
	in.ahead.Add(1)
	in.mu.Unlock()
	defer in.ahead.Done()
	in.overtake(req)
	if !req.taken.Load() { // it can't be handled yet; an earlier request may change that
		time.AfterFunc(overtakeAfter, func() { in.goAhead(req) })
	}
}

// overtake handles a request while another one runs, if that is already meaningful: a program that
// was not launched can't be terminated, and one that does not run can't be paused, but an earlier
// request may change that.
func (s *server) overtake(req *request) {
	switch phase := s.phase.get(); {
	case phase == phaseNew && req.Command != "disconnect":
		return
	case req.Command == "terminate" && phase < phaseLoaded:
		return
	case req.Command == "pause" && s.sess.State() != session.IsRunning && (phase < phaseLoaded || s.in.mayMove()):
		return
	}
	if !req.take() {
		return
	}
	body, err := s.dispatch(context.Background(), req)
	s.answer(req, body, err)
}

// leave makes serve return as soon as the current request is finished.
func (s *server) leave() { s.leaveOnce.Do(func() { close(s.left) }) }

func (s *server) leaving() bool {
	select {
	case <-s.left:
		return true
	default:
		return false
	}
}

// post makes serve run f, after the response to the current request.
func (s *server) post(f func()) {
	select {
	case s.posted <- f:
	default: // enough are queued already
	}
}

// shared is a small value that several goroutines use.
type shared[T ~uint8] struct{ value atomic.Uint32 }

func (s *shared[T]) get() T  { return T(s.value.Load()) }
func (s *shared[T]) set(v T) { s.value.Store(uint32(v)) }
