package session

import (
	"fmt"
	"time"

	"dbg/target"
)

// onEvent takes an event of the target.
func (s *Session) onEvent(ev target.Event) {
	switch ev.Kind {
	case target.ThreadStarted:
		s.threadStarted(ev.Thread)
	case target.ThreadExited:
		s.threadExited(ev.Thread)
	case target.Forked:
		s.publish(LogMessage{Text: fmt.Sprintf("[Detaching after fork from child process %d]", ev.Child)})
	case target.Exited, target.Killed:
		s.onEnd(ev)
	case target.Stopped:
		s.state = IsStopped
		s.heldSince = time.Now()
		s.dropCache()
		s.onStopped(ev)
	}
}

// onEnd cleans up after a process that ended by itself.
func (s *Session) onEnd(ev target.Event) {
	pid := s.tgt.PID()
	s.dropCache()
	s.tgt.Close()
	s.forgetTarget() // all output is published here, before the end is
	s.resolveAll()
	s.publish(Ended{PID: pid, Exited: ev.Kind == target.Exited, ExitCode: ev.ExitCode, Signal: ev.Signal})
}

// onStopped decides whether the user hears of a stop, or the program goes on.
func (s *Session) onStopped(ev target.Event) {
	switch ev.Reason {
	case target.Breakpoint:
		if s.breakpoints.hasInternal(ev.Addr, internalLinker) && s.refreshModules() {
			s.resolveAll()
		}
		if ids, deleted := s.hit(ev.Thread, ev.Addr); len(ids) > 0 {
			s.stop(Stop{Reason: StopBreakpoint, Thread: ev.Thread, Breakpoints: ids, Deleted: deleted})
			return
		}
		s.goOn(ev)
	case target.Stepped:
		s.goOn(ev)
	case target.Signalled:
		s.stop(Stop{Reason: StopSignal, Thread: ev.Thread, Signal: ev.Signal})
	case target.Interrupted:
		s.stop(Stop{Reason: StopPause, Thread: ev.Thread})
	case target.Execed:
		s.onExec(ev)
	case target.Entry:
		s.stop(Stop{Reason: StopEntry, Thread: ev.Thread})
	}
}

// onExec follows the process into its new program.
func (s *Session) onExec(ev target.Event) {
	if s.stepper != nil {
		s.endStepper()
	}
	s.breakpoints.forgetSites()
	s.modules = moduleList{nextID: s.modules.nextID}
	s.exeFile = nil
	s.refreshModules()
	if m := s.exeModule(); m != nil {
		s.exeFile = m.Symbols
	}
	s.followLinker()
	s.resolveAll()
	s.publish(LogMessage{Text: fmt.Sprintf("process %d is executing new program: %s", s.tgt.PID(), s.tgt.Exe())})
	s.resume(target.Resume{})
}

// goOn continues after a stop that is not the user's: it asks the step
// controller, if there is one and the stop is its thread's.
func (s *Session) goOn(ev target.Event) {
	if s.stepper == nil {
		s.resume(target.Resume{})
		return
	}
	if ev.Thread != s.stepper.owner() {
		if !s.hasLiveThread(s.stepper.owner()) {
			// The thread that was to step has ended; nothing is left to wait for.
			s.endStepper()
			s.resume(target.Resume{})
			return
		}
		s.resume(s.resumeReq)
		return
	}
	s.advance(ev)
}

// advance lets the step controller decide, in its thread's stop.
func (s *Session) advance(ev target.Event) {
	act, err := s.stepper.next(s, ev)
	if err != nil {
		s.publish(LogMessage{Warning: true, Text: err.Error()})
		act.done = true
	}
	if !act.done {
		s.resume(act.resume)
		return
	}
	stop := act.stop
	stop.Thread = ev.Thread
	// A step that ends on a breakpoint has hit it: going on from here steps off it.
	if regs, err := s.tgt.Registers(ev.Thread); err == nil && ev.Reason != target.Breakpoint {
		if pc, ok := regs.PC(); ok {
			if ids, deleted := s.hit(ev.Thread, target.Addr(pc)); len(ids) > 0 {
				stop = Stop{Reason: StopBreakpoint, Thread: ev.Thread, Breakpoints: ids, Deleted: deleted}
			}
		}
	}
	s.stop(stop)
}

// stop tells the user that the program has stopped.
func (s *Session) stop(st Stop) {
	start := target.Addr(0)
	fn := ""
	if s.stepper != nil {
		start, fn = s.stepper.origin()
		s.endStepper()
	}
	s.state = IsStopped
	s.refreshThreads(true)
	s.cache.threadsFresh = true
	if !s.hasThread(st.Thread) && len(s.threads.all) > 0 {
		st.Thread = s.threads.all[0].ID
	}
	s.selected, s.level = st.Thread, 0
	// Code that nobody told us of, mapped by a loader of the program's own: look again.
	if pc, _, err := s.pcAndSP(st.Thread); err == nil && s.modules.find(pc) == nil && s.refreshModules() {
		s.resolveAll()
	}
	st.NewFunction = true
	if st.Reason == StopStep {
		if f, err := s.frame(st.Thread, 0); err == nil {
			st.NewFunction = f.Machine.CFA != start || f.FunctionName != fn || (f.ShowPC && f.HasSource()) || !f.HasSource()
		}
	}
	s.lastStop = st
	s.publish(Stopped{st})
}

// LastStop returns the newest stop.
func (s *Session) LastStop() Stop {
	st, _ := ask(s, func() (Stop, error) { return s.lastStop, nil })
	return st
}

// resume lets the process go on for the session's own purposes.
func (s *Session) resume(r target.Resume) {
	s.dropCache()
	s.resumeReq = r
	s.state = IsRunning
	if err := s.proc.Resume(r); err != nil {
		s.state = IsStopped
		s.publish(LogMessage{Warning: true, Text: err.Error()})
		s.stop(Stop{Reason: StopPause, Thread: s.selected})
	}
}

// hasLiveThread asks the target whether a thread is still there.
func (s *Session) hasLiveThread(id target.ThreadID) bool {
	for _, t := range s.tgt.Threads() {
		if t.ID == id {
			return true
		}
	}
	return false
}
