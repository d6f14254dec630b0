package session

import (
	"fmt"
	"slices"
	"strings"

	"dbg/target"
)

// sentCatches holds what the target was last told about catchpoints.
type sentCatches struct {
	events  target.EventSet
	calls   target.SyscallSet
	signals [target.NumSignals]bool
}

// sendCatches tells the target which events to report. It does nothing if that has not changed, so
// it never waits for the tracer's thread when a breakpoint is decided there.
func (s *Session) sendCatches() {
	if s.proc == nil {
		return
	}
	var now sentCatches
	now.events.Children = s.group.settings().childPolicy()
	for _, b := range s.breakpoints.all {
		if b.catch == nil || !b.Enabled {
			continue
		}
		switch c := b.Spec.Catch; c.Kind {
		case CatchFork:
			now.events.Fork = true
		case CatchVfork:
			now.events.Vfork = true
		case CatchThreadStart:
			now.events.ThreadStart = true
		case CatchSignal:
			for n := 1; n < target.NumSignals; n++ {
				now.signals[n] = now.signals[n] || c.catchesSignal(n)
			}
		case CatchSyscall:
			now.calls.All = now.calls.All || len(c.Syscalls) == 0
			for _, n := range c.Syscalls {
				now.calls.Add(n)
			}
		}
	}
	before := s.sent
	s.sent = now
	if now.events != before.events {
		s.proc.CatchEvents(now.events)
	}
	if now.calls != before.calls {
		if err := s.proc.CatchSyscalls(now.calls); err != nil {
			s.logf("catching system calls: %v", err)
		}
	}
	for n := range now.signals {
		if now.signals[n] != before.signals[n] {
			s.sendSignalPolicy(n)
		}
	}
}

// sendSignalPolicy tells the target how to handle a signal: one that a catchpoint waits for stops
// the process.
func (s *Session) sendSignalPolicy(n int) {
	p := s.signal(n).SignalPolicy
	p.Stop = p.Stop || s.sent.signals[n]
	s.proc.SetSignalPolicy(n, p)
}

// catchesSignal reports whether a signal is one of a catchpoint's. Without a list, these are all
// except the two that debuggers use.
func (c *CatchSpec) catchesSignal(n int) bool {
	if c.AllSignals {
		return true
	}
	if len(c.Signals) == 0 {
		name := target.SignalName(n)
		return name != "SIGTRAP" && name != "SIGINT"
	}
	return slices.Contains(c.Signals, n)
}

// catchesCall reports whether a system call is one of a catchpoint's.
func (c *CatchSpec) catchesCall(n int) bool {
	return len(c.Syscalls) == 0 || slices.Contains(c.Syscalls, n)
}

// judgeEvent decides about an event on the tracer's thread: the session decides further.
func (s *Session) judgeEvent(h *target.Hit) target.Verdict {
	set := s.rules.Load()
	if set == nil {
		return target.Park
	}
	for i := range set.catches {
		if r := &set.catches[i]; r.thread == 0 || r.thread == h.Thread {
			switch r.spec.Kind {
			case CatchSyscall:
				if h.Syscall.Valid && r.spec.catchesCall(h.Syscall.Number) {
					return target.Park
				}
			case CatchFork, CatchVfork:
				if h.Reason == target.ChildCreated {
					return target.Park
				}
			case CatchThreadStart:
				if h.Reason == target.ThreadCreated {
					return target.Park
				}
			}
		}
	}
	return target.Pass
}

// catchRule is the judge's information about a catchpoint for events.
type catchRule struct {
	spec   *CatchSpec // never changes
	thread target.ThreadID
}

// onCatchable deals with a system call, a new child or a new thread. The thread is parked, or all
// are stopped.
func (s *Session) onCatchable(ev target.Event) (st Stop, stops bool) {
	if d, ok := s.decided[ev.Thread]; ok && d.addr == ev.Addr && s.still(&d, ev.Arrival) {
		switch { // a pause came after the event was counted
		case d.stop != nil && d.stop.Reason == StopCatch:
			delete(s.decided, ev.Thread)
			return *d.stop, true
		case d.stop == nil && d.arrival != 0:
			delete(s.decided, ev.Thread)
			return st, false
		}
	}
	st = Stop{Reason: StopCatch, Thread: ev.Thread}
	add := func(ids, deleted []int) {
		st.Breakpoints = append(st.Breakpoints, ids...)
		st.Deleted = append(st.Deleted, deleted...)
	}
	switch ev.Reason {
	case target.ThreadCreated:
		add(s.catchEvent(Caught{Kind: CatchThreadStart, Thread: ev.Thread}, nil))
	case target.ChildCreated:
		kind := CatchFork
		if ev.Vfork {
			kind = CatchVfork
		}
		add(s.catchEvent(Caught{Kind: kind, Thread: ev.Thread, Child: ev.Child}, nil))
	}
	if ev.Syscall.Valid {
		add(s.catchEvent(Caught{Kind: CatchSyscall, Thread: ev.Thread, Syscall: ev.Syscall.Number, Returned: ev.Syscall.Return},
			func(b *logical) bool { return b.Spec.Catch.catchesCall(ev.Syscall.Number) }))
	}
	return st, len(st.Breakpoints) > 0
}

// onSignal decides about a signal that has stopped all threads.
func (s *Session) onSignal(ev target.Event) {
	st := Stop{Reason: StopSignal, Thread: ev.Thread, Signal: ev.Signal}
	n := 0
	if ev.Signal != nil {
		n = ev.Signal.Number
	}
	ids, deleted := s.catchEvent(Caught{Kind: CatchSignal, Thread: ev.Thread, Signal: n}, func(b *logical) bool { return b.Spec.Catch.catchesSignal(n) })
	switch {
	case len(ids) > 0:
		st.Reason, st.Breakpoints, st.Deleted = StopCatch, ids, deleted
	case n > 0 && n < target.NumSignals && s.sent.signals[n] && !s.signal(n).Stop:
		s.proceed(target.Resume{})
		return
	}
	if s.unwindSignal(ev.Thread) {
		return
	}
	s.stop(st)
}

// libraries returns the catchpoints that wait for a change of the loaded libraries, which a thread
// has just made.
func (s *Session) libraries(t target.ThreadID) (ids, deleted []int) {
	for _, c := range []Caught{{Kind: CatchLoad, Paths: s.modules.added}, {Kind: CatchUnload, Paths: s.modules.removed}} {
		if len(c.Paths) == 0 {
			continue
		}
		c.Thread = t
		some, gone := s.catchEvent(c, func(b *logical) bool { return slices.ContainsFunc(c.Paths, b.catch.matches) })
		ids, deleted = append(ids, some...), append(deleted, gone...)
	}
	return ids, deleted
}

// catchThreadExit stops the program after a thread has ended, if a catchpoint waits for that. The
// other threads run meanwhile, so it is a pause.
func (s *Session) catchThreadExit(t target.ThreadID) {
	ids, deleted := s.catchEvent(Caught{Kind: CatchThreadExit, Thread: t}, nil)
	list := s.caught[t]
	delete(s.caught, t)
	if len(ids) == 0 || len(list) == 0 {
		return
	}
	st := Stop{Reason: StopCatch, Breakpoints: ids, Deleted: deleted, Caught: list[len(list)-len(ids)], NewFunction: true}
	s.ctl.mu.Lock()
	running := s.ctl.state == IsRunning && s.ctl.caught == nil
	if running {
		s.ctl.caught = &st
	}
	s.ctl.mu.Unlock()
	if !running {
		s.publishLate(&st)
		return
	}
	if err := s.proc.Interrupt(); err != nil {
		s.logf("can't stop at the end of thread %d: %v", t, err)
	}
}

// publishLate reports a catchpoint's event that has not stopped the program, since another stop
// came first.
func (s *Session) publishLate(st *Stop) {
	var ids []string
	for _, id := range st.Breakpoints {
		ids = append(ids, fmt.Sprint(id))
	}
	s.publish(LogMessage{Text: fmt.Sprintf("Catchpoint %s: thread %d has ended.", strings.Join(ids, ", "), st.Caught.Thread)})
}

// lateCatch returns and clears the event for which an interruption was requested.
func (c *control) lateCatch() *Stop {
	st := c.caught
	c.caught = nil
	return st
}
