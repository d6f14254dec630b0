package session

import (
	"sync"
	"time"

	"dbg/target"
)

// follow receives the events of a process until it has ended. A pause and the end of the process
// must not wait for a query: their effect on control is immediate. All other events are handled in
// order, by a goroutine that takes the lane for each.
func (s *Session) follow(p target.Process, done chan<- struct{}) {
	defer close(done)
	var q eventQueue
	q.init()
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		q.work()
	}()
	for ev := range p.Events() {
		switch {
		case ev.Kind == target.Stopped && ev.Reason == target.Interrupted:
			s.paused(p, ev)
		case ev.Kind == target.Exited || ev.Kind == target.Killed:
			s.cancelQuery()
			s.hurry()
			var once sync.Once
			ended := make(chan struct{})
			end := func() { once.Do(func() { s.onEnd(p, ev); close(ended) }) }
			q.put(func() { s.decideNext(end) })
			select {
			case <-ended:
			case <-time.After(grace):
				s.soon(end)
			}
		default:
			q.put(func() {
				if ev.Kind == target.Parked {
					s.awaitRoom(&s.hurried)
				}
				s.decideNext(func() {
					if s.proc == p {
						s.onEvent(ev)
					} else if ev.Process != nil { // the session does not have the parent any more
						_ = ev.Process.Close()
					}
				})
			})
		}
	}
	q.end()
	<-worked
}

// eventQueue holds the functions that handle events, in order.
type eventQueue struct {
	lock  sync.Mutex // guards list and ended
	list  []func()
	ended bool
	wake  chan struct{}
}

func (q *eventQueue) init() { q.wake = make(chan struct{}, 1) }

func (q *eventQueue) put(f func()) {
	q.lock.Lock()
	q.list = append(q.list, f)
	q.lock.Unlock()
	q.ring()
}

func (q *eventQueue) end() {
	q.lock.Lock()
	q.ended = true
	q.lock.Unlock()
	q.ring()
}

func (q *eventQueue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// work runs the functions in the queue until the queue has ended.
func (q *eventQueue) work() {
	for {
		q.lock.Lock()
		list, ended := q.list, q.ended
		q.list = nil
		q.lock.Unlock()
		for _, f := range list {
			f()
		}
		if len(list) > 0 {
			continue
		}
		if ended {
			return
		}
		<-q.wake
	}
}

// paused publishes a pause at once. The next holder of the lane updates the rest of the state.
func (s *Session) paused(p target.Process, ev target.Event) {
	s.ctl.mu.Lock()
	if s.ctl.proc != p || s.ctl.state != IsRunning {
		s.ctl.mu.Unlock()
		return
	}
	if s.ctl.again && !s.ctl.pausing && s.ctl.caught == nil {
		s.ctl.again = false
		s.ctl.late = append(s.ctl.late, func() {
			if s.proc == p && s.state == IsRunning {
				s.state = IsStopped
				s.proceed(target.Resume{})
			}
		})
		s.ctl.mu.Unlock()
		if s.tryEnter() {
			s.leave()
		}
		return
	}
	s.ctl.again = false
	reason := Stop{Reason: StopPause, NewFunction: true}
	if s.ctl.together && !s.ctl.pausing {
		reason.Reason = StopTogether
	}
	if c := s.ctl.lateCatch(); c != nil {
		reason = *c
	}
	reason.Thread = ev.Thread
	st := s.ctl.setStop(reason)
	s.ctl.state, s.ctl.pausing = IsStopped, false
	s.ctl.late = append(s.ctl.late, func() {
		if s.proc == p && s.state == IsRunning {
			s.state, s.heldSince = IsStopped, time.Now()
			s.dropCache()
			own := st // the published event must not change
			s.settleStop(&own)
			if own.Reason != StopTogether {
				s.stopTogether()
			}
		}
	})
	s.ctl.mu.Unlock()
	s.publish(Stopped{st})
	if s.tryEnter() {
		s.leave()
	}
}

// onEvent handles an event that is not urgent.
func (s *Session) onEvent(ev target.Event) {
	switch ev.Kind {
	case target.ThreadStarted:
		s.threadStarted(ev.Thread)
	case target.ThreadExited:
		s.threadExited(ev.Thread)
		s.catchThreadExit(ev.Thread)
		if c := s.courses.of(ev.Thread); c != nil { // nothing more will happen in it
			s.endCourse(c)
			if len(s.courses.all) == 0 {
				s.disarmLandings()
			}
			s.publishRules()
		}
		if s.endCalls(ev.Thread, threadEndedInCall) && s.state == IsRunning {
			if err := s.proc.Interrupt(); err != nil {
				s.logf("%v", err)
			}
		}
	case target.Forked:
		s.onForked(ev)
	case target.Parked:
		s.onParked(ev)
	case target.Stopped:
		s.ctl.mu.Lock()
		s.ctl.again = false // this stop came instead of the interruption
		s.ctl.mu.Unlock()
		s.state = IsStopped // control shows it as running until the stop is the user's
		s.heldSince = time.Now()
		s.dropCache()
		if ev.Process != nil {
			s.heir = &heir{ev.Thread, ev.Process, ev.Vfork}
		}
		s.onStopped(ev)
	}
}

// onEnd cleans up after a process that has ended.
func (s *Session) onEnd(p target.Process, ev target.Event) {
	delete(s.followed, p)
	if s.proc != p {
		s.lostCheckpoint(p)
		return // the session itself ended it, and has published that
	}
	s.dropCache()
	_ = p.Close()
	s.forgetTarget() // this publishes all output, before the end
	s.resolveAll()
	s.exited, s.exitCode, s.endSignal = ev.Kind == target.Exited, ev.ExitCode, 0
	if ev.Signal != nil {
		s.endSignal = ev.Signal.Number
	}
	s.publish(Ended{PID: p.PID(), Exited: ev.Kind == target.Exited, ExitCode: ev.ExitCode, Signal: ev.Signal})
}
