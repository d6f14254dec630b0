package dap

import (
	"context"
	"sync/atomic"
	"time"

	"dbg/session"
)

// Requests are handled in their order. One that controls the program does not wait for those before it for longer than this: an index that
// is built or a stack of a million frames must not keep a program from being stopped. It is then handled beside the request that is at work.
const overtakeAfter = 40 * time.Millisecond

// controls reports whether a request may be handled before its turn.
func (req *request) controls() bool {
	switch req.Command {
	case "pause", "terminate", "disconnect", "cancel":
		return req.wrong == nil && req.Type == "request"
	}
	return false
}

// moves reports whether a request may set the program going.
func (req *request) moves() bool {
	switch req.Command {
	case "launch", "attach", "restart", "configurationDone", "continue", "next", "stepIn", "stepOut":
		return true
	}
	return false
}

// take makes the caller the one who handles a request; false if another does.
func (req *request) take() bool { return req.taken.CompareAndSwap(false, true) }

// goAhead has a request handled that has waited for its turn long enough.
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
	if !req.taken.Load() { // it makes no sense yet: what is before it may change that
		time.AfterFunc(overtakeAfter, func() { in.goAhead(req) })
	}
}

// overtake handles a request beside the one that is at work, if it has a meaning already: a program that has not been launched can't be
// ended, and one that does not run can't be paused, while a request before it may change that.
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

// leave makes serve return as soon as the request that is at work has been handled.
func (s *server) leave() { s.leaveOnce.Do(func() { close(s.left) }) }

func (s *server) leaving() bool {
	select {
	case <-s.left:
		return true
	default:
		return false
	}
}

// post has f done by serve, after the response to the present request.
func (s *server) post(f func()) {
	select {
	case s.posted <- f:
	default: // nobody needs to be told so often
	}
}

// shared is a small value that several goroutines use.
type shared[T ~uint8] struct{ value atomic.Uint32 }

func (s *shared[T]) get() T  { return T(s.value.Load()) }
func (s *shared[T]) set(v T) { s.value.Store(uint32(v)) }
