package session

import (
	"errors"
	"fmt"
	"slices"

	"dbg/target"
)

// onParked decides about one thread that has stopped while the others run: at a site whose meaning
// the judge could not determine, or at the end of a step.
func (s *Session) onParked(ev target.Event) {
	s.dropCache()
	s.slowPlan.Store(false)
	// In the meantime there may have been a pause, and another run with another hit of the thread.
	if s.state != IsRunning || s.proc.ParkedAs(ev.Thread) != ev.Serial {
		return
	}
	s.knowThread(ev.Thread)
	s.arrival = ev.Arrival
	s.deciding = true
	defer func() { s.deciding = false }()
	var ended []WatchHit
	switch ev.Reason {
	case target.Breakpoint:
		libs, gone := s.onInternal(ev.Thread, ev.Addr)
		ended = s.endedScopes(ev.Thread, ev.Addr)
		ids, deleted := s.hit(ev.Thread, ev.Addr)
		if ids, deleted = append(libs, ids...), append(gone, deleted...); len(ids) > 0 {
			s.conclude(Stop{Reason: StopBreakpoint, Thread: ev.Thread, Breakpoints: ids, Deleted: deleted, EndedWatches: ended}, ev)
			return
		}
	case target.Watched:
		st, stops, again := s.onWatched(ev)
		switch {
		case stops:
			s.conclude(st, ev)
			return
		case again: // onStopped decides, with all threads stopped
			if err := s.proc.StopAll(ev.Thread); err != nil {
				s.logf("stop of thread %d: %v", ev.Thread, err)
			}
			return
		}
	case target.Syscall, target.ChildCreated, target.ThreadCreated:
		if st, stops := s.onCatchable(ev); stops {
			s.conclude(st, ev)
			return
		}
	}
	r := target.Resume{Thread: ev.Thread}
	if c := s.takeUp(ev.Thread); c != nil {
		st, next, done := s.plan(c, ev)
		if done {
			st.EndedWatches = ended
			s.conclude(st, ev)
			return
		}
		r = next
		r.Thread = ev.Thread
	}
	if len(ended) > 0 {
		s.conclude(Stop{Reason: StopWatchScope, Thread: ev.Thread, EndedWatches: ended}, ev)
		return
	}
	s.proceed(r)
	switch ev.Reason {
	case target.Breakpoint, target.Syscall, target.ChildCreated, target.ThreadCreated:
		if !s.moveFailed {
			break
		}
		// A pause came first. The hit was counted, and must not be counted again.
		s.decide(ev.Thread, decision{addr: ev.Addr})
	}
}

// onInternal handles internal breakpoints at an address.
// It returns the catchpoints that wait for libraries that were loaded or unloaded.
func (s *Session) onInternal(t target.ThreadID, at target.Addr) (ids, deleted []int) {
	if s.breakpoints.hasInternal(at, internalLinker) && s.refreshModules() {
		ids, deleted = s.libraries(t)
		s.resolveAll()
	}
	if s.breakpoints.hasInternal(at, internalJIT) {
		s.onJIT()
	}
	return ids, deleted
}

// conclude makes a parked thread's stop a stop of the whole program: StopAll stops the other
// threads, and the target then reports the stop.
func (s *Session) conclude(st Stop, ev target.Event) {
	s.decide(ev.Thread, decision{stop: &st, addr: ev.Addr, ids: st.Breakpoints, deleted: st.Deleted})
	if err := s.proc.StopAll(ev.Thread); err != nil {
		// A pause came first. The decision about the hit is used when the thread continues.
		s.logf("can't stop for thread %d: %v", ev.Thread, err)
		if len(st.Breakpoints) == 0 {
			delete(s.decided, ev.Thread)
		}
	}
	s.dropCache()
}

// onStopped decides about a stop of all threads.
func (s *Session) onStopped(ev target.Event) {
	s.arrival = ev.Arrival
	if d, ok := s.decided[ev.Thread]; ok && d.stop != nil {
		delete(s.decided, ev.Thread)
		s.stop(*d.stop)
		return
	}
	switch ev.Reason {
	case target.Breakpoint, target.Watched, target.Syscall, target.ChildCreated, target.ThreadCreated:
		var ended []WatchHit
		var st Stop
		var stops bool
		switch ev.Reason {
		case target.Breakpoint:
			libs, gone := s.onInternal(ev.Thread, ev.Addr)
			if k := s.callAt(ev.Thread); k != nil {
				s.callReturned(k)
				return
			}
			ended = s.endedScopes(ev.Thread, ev.Addr)
			ids, deleted := s.hit(ev.Thread, ev.Addr)
			ids, deleted = append(libs, ids...), append(gone, deleted...)
			stops = len(ids) > 0
			st = Stop{Reason: StopBreakpoint, Thread: ev.Thread, Breakpoints: ids, Deleted: deleted, EndedWatches: ended}
		case target.Watched:
			st, stops, _ = s.onWatched(ev)
		default:
			st, stops = s.onCatchable(ev)
		}
		if stops {
			s.stop(st)
			return
		}
		if s.followHeir() {
			return
		}
		if c := s.takeUp(ev.Thread); c != nil {
			st, r, done := s.plan(c, ev)
			switch {
			case done:
				st.EndedWatches = ended
				s.stop(st)
			case len(ended) > 0:
				s.stop(Stop{Reason: StopWatchScope, Thread: ev.Thread, EndedWatches: ended})
			default:
				s.proceed(r)
			}
			return
		}
		if len(ended) > 0 {
			s.stop(Stop{Reason: StopWatchScope, Thread: ev.Thread, EndedWatches: ended})
			return
		}
		s.proceed(target.Resume{})
	case target.Signalled:
		s.onSignal(ev)
	case target.Execed:
		s.onExec(ev)
	case target.Entry:
		s.stop(Stop{Reason: StopEntry, Thread: ev.Thread})
	default:
		s.proceed(target.Resume{})
	}
}

// onExec follows the process into its new program.
func (s *Session) onExec(ev target.Event) {
	s.endCourses()
	called := s.endCalls(0, exitedInCall)
	clear(s.decided)
	clear(s.caught)
	s.breakpoints.forgetSites()
	s.landings.at = nil
	s.dropFramedWatches()
	s.forgetJIT()
	s.linked = false
	s.modules = s.noModules()
	s.exeFile = nil
	s.refreshModules()
	if m := s.exeModule(); m != nil {
		s.exeFile = m.Symbols
	}
	s.followLinker()
	s.resolveAll()
	s.publish(LogMessage{Text: fmt.Sprintf("process %d is executing new program: %s", s.tgt.PID(), s.tgt.Exe())})
	if s.group.settings().NewAtExec {
		s.leaveProgram(s.program)
		s.publish(LogMessage{Text: fmt.Sprintf("[New inferior %d]", s.Number())})
	}
	if ids, deleted := s.catchEvent(Caught{Kind: CatchExec, Thread: ev.Thread, Path: s.tgt.Exe()}, nil); len(ids) > 0 {
		s.stop(Stop{Reason: StopCatch, Thread: ev.Thread, Breakpoints: ids, Deleted: deleted})
		return
	}
	if called { // nobody waits for the new program
		s.stop(Stop{Reason: StopExec, Thread: s.selected})
		return
	}
	s.proceed(target.Resume{})
}

// plan asks a thread's plans for the next action, after a stop. done means that the step has ended,
// with the stop.
func (s *Session) plan(c *course, ev target.Event) (st Stop, r target.Resume, done bool) {
	if s.callAt(ev.Thread) != nil { // the step has come to the end of a called function
		return Stop{Thread: ev.Thread, call: true}, r, true
	}
	st, r, done, err := c.ask(s)
	if errors.Is(err, target.ErrGone) || errors.Is(err, target.ErrNoThread) {
		return st, r, false // it was just killed; its end will be reported soon
	}
	if err != nil {
		s.publish(LogMessage{Warning: true, Text: err.Error()})
		done = true
	}
	if !done {
		// The thread has stepped onto a breakpoint, which it would be taken over when it continues.
		pc, _, err := s.pcAndSP(ev.Thread)
		if err == nil && ev.Reason == target.Stepped && pc != c.at {
			if ids, deleted := s.hit(ev.Thread, pc); len(ids) > 0 {
				return Stop{Reason: StopBreakpoint, Thread: ev.Thread, Breakpoints: ids, Deleted: deleted}, r, true
			}
		}
		c.at = pc
		return st, r, false
	}
	st.Thread = ev.Thread
	// A step that ends on a breakpoint has hit it: continuing from here steps off it.
	if ev.Reason != target.Breakpoint {
		if pc, _, err := s.pcAndSP(ev.Thread); err == nil {
			if ids, deleted := s.hit(ev.Thread, pc); len(ids) > 0 {
				st = Stop{Reason: StopBreakpoint, Thread: ev.Thread, Breakpoints: ids, Deleted: deleted}
			}
		}
	}
	return st, r, true
}

// stop publishes that the program has stopped.
func (s *Session) stop(st Stop) {
	if st.call && st.Number == 0 {
		if k := s.callAt(st.Thread); k != nil {
			s.callReturned(k)
			return
		}
	}
	s.setState(IsStopped)
	s.settleStop(&st)
	s.addCaught(&st)
	if s.saveStop(&st) {
		st = Stop{Reason: StopTogether, Thread: st.Thread, NewFunction: true}
	}
	s.ctl.mu.Lock()
	s.ctl.pausing = false
	late := s.ctl.lateCatch()
	if late != nil {
		st.Breakpoints = append(slices.Clip(st.Breakpoints), late.Breakpoints...)
		st.Deleted = append(slices.Clip(st.Deleted), late.Deleted...)
	}
	st = s.ctl.setStop(st)
	s.ctl.mu.Unlock()
	if late != nil {
		s.publishLate(late)
	}
	s.publish(Stopped{st})
	if st.Reason != StopTogether {
		s.stopTogether()
	}
}

// settleStop updates the session at a stop: its threads, the selection, the modules.
func (s *Session) settleStop(st *Stop) {
	s.abandonCalls(st)
	var from frameMark
	if c := s.courses.of(st.Thread); c != nil {
		from = c.from
	}
	s.endCourses()
	s.refreshThreads()
	s.cache.threadsFresh = true
	if !s.hasThread(st.Thread) && len(s.threads.all) > 0 {
		st.Thread = s.threads.all[0].ID
	}
	s.point(st.Thread)
	// The PC may be in code that was mapped without a report, by the program's own loader: look
	// again.
	if pc, _, err := s.pcAndSP(st.Thread); err == nil && s.modules.find(pc) == nil && s.refreshModules() {
		s.resolveAll()
	}
	st.NewFunction = true
	if st.Reason == StopStep {
		if f, err := s.frame(st.Thread, 0); err == nil {
			st.NewFunction = !s.stepFrom.is(&f) && (!from.is(&f) || (f.ShowPC && f.HasSource()) || !f.HasSource())
		}
	}
}

// LastStop returns the latest stop.
func (s *Session) LastStop() Stop {
	s.ctl.mu.Lock()
	defer s.ctl.mu.Unlock()
	return s.ctl.stop
}

// proceed resumes the program for the session itself: the parked thread that r names, or all
// threads after a stop that is not for the user. It is the only function that does so. A pause that
// was requested in the meantime comes first.
func (s *Session) proceed(r target.Resume) {
	s.dropCache()
	if s.dirty {
		s.publishRules()
	}
	if s.state == IsRunning {
		err := s.proc.Move(r)
		if s.moveFailed = err == target.ErrNotRunning; err != nil {
			s.logf("can't continue thread %d: %v", r.Thread, err) // it was stopped, or has ended
		}
		return
	}
	s.ctl.mu.Lock()
	reason := StopPause
	if s.ctl.together && !s.ctl.pausing {
		reason = StopTogether
	}
	pausing := s.ctl.pausing || s.ctl.together
	if !pausing {
		s.state, s.ctl.state = IsRunning, IsRunning
	}
	s.ctl.mu.Unlock()
	if pausing {
		s.stop(Stop{Reason: reason, Thread: s.selected})
		return
	}
	if err := s.proc.Resume(s.locked(r)); err != nil && !errors.Is(err, target.ErrGone) {
		s.publish(LogMessage{Warning: true, Text: err.Error()})
		s.stop(Stop{Reason: StopPause, Thread: s.selected})
		return
	}
	s.interruptIfPausing()
}
