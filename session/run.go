package session

import (
	"errors"
	"fmt"

	"dbg/target"
)

// Run starts the loaded program and lets it run. If there is already a process, Run kills it first.
func (s *Session) Run() error {
	return s.try(func() error {
		if err := s.start(); err != nil {
			return err
		}
		return s.letGo(target.Resume{})
	})
}

// Continue resumes the program. signal is as in target.Resume: 0 keeps the signal with which the
// program stopped, -1 discards it.
func (s *Session) Continue(signal int) error {
	return s.try(func() error {
		if err := s.needProcess(); err != nil {
			return err
		}
		r := target.Resume{Signal: signal}
		if signal != 0 {
			r.Thread = s.selected
		}
		return s.letGo(r)
	})
}

// letGo starts a run, and continues the other processes if they run together.
func (s *Session) letGo(r target.Resume) error {
	for _, o := range s.others() {
		o.catchUp() // what stopped them must not stop the group again after this
	}
	if s.reportSaved() || s.followHeir() {
		return nil
	}
	if err := s.letGoAlone(r); err != nil {
		return err
	}
	s.runTogether()
	return nil
}

// letGoAlone starts a run. It publishes that before any other event of the run can occur.
func (s *Session) letGoAlone(r target.Resume) error {
	if s.allFrozen() {
		return errAllFrozen
	}
	s.dropCache()
	s.removeCallSite()
	s.followLinker()
	if len(s.courses.all) == 0 {
		s.disarmLandings()
	}
	s.publishRules()
	s.ctl.mu.Lock()
	s.ctl.run++
	s.ctl.pausing, s.ctl.together, s.ctl.again, s.ctl.caught = false, false, false, nil
	s.state, s.ctl.state = IsRunning, IsRunning
	s.ctl.mu.Unlock()
	s.publish(Resumed{Thread: s.selected})
	s.hidden = hiddenCalls{}
	err := s.proc.Resume(s.locked(r))
	if errors.Is(err, target.ErrGone) {
		return nil // it was killed while it was stopped; Ended follows
	}
	if err != nil {
		s.setState(IsStopped)
		s.publish(Stopped{s.LastStop()})
		return err
	}
	s.interruptIfPausing()
	return nil
}

// Locking says which threads run when the program continues.
type Locking uint8

const (
	LockOff  Locking = iota // all threads
	LockOn                  // the selected thread only
	LockStep                // the selected thread only, while it steps
)

// SetLocking changes which threads run: scheduler-locking. It takes effect when the program
// continues next.
func (s *Session) SetLocking(l Locking) error {
	return s.try(func() error { s.locking = l; return nil })
}

// Locking returns the present setting.
func (s *Session) Locking() Locking {
	l, _ := ask(s, func() (Locking, error) { return s.locking, nil })
	return l
}

// locked keeps the other threads stopped if the user wants that.
func (s *Session) locked(r target.Resume) target.Resume {
	if s.locking == LockOn || s.locking == LockStep && len(s.courses.all) > 0 {
		if r.Thread == 0 {
			r.Thread = s.selected
		}
		r.Alone = true
	}
	return r
}

// interruptIfPausing is called after the target was resumed: a pause that was requested while the
// target was still stopped had no effect on it.
func (s *Session) interruptIfPausing() {
	s.ctl.mu.Lock()
	pausing := s.ctl.pausing
	s.ctl.mu.Unlock()
	if pausing {
		if err := s.proc.Interrupt(); err != nil {
			s.logf("can't pause: %v", err)
		}
	}
}

// Pause stops the running program. A Stopped event follows. Pause does not wait for a query.
func (s *Session) Pause() error {
	s.ctl.mu.Lock()
	p, state := s.ctl.proc, s.ctl.state
	if state == IsRunning {
		s.ctl.pausing = true
	}
	s.ctl.mu.Unlock()
	switch {
	case p == nil:
		return target.ErrNotRunning
	case state != IsRunning:
		return errors.New("the program is not running")
	}
	return p.Interrupt()
}

// Step makes the selected thread step count times.
func (s *Session) Step(kind StepKind, count int) error {
	return s.try(func() error { return s.step(s.selected, kind, count) })
}

// StepThread makes a thread step and selects it.
func (s *Session) StepThread(t target.ThreadID, kind StepKind, count int) error {
	return s.try(func() error {
		if err := s.needProcess(); err != nil {
			return err
		}
		if !s.hasThread(t) {
			return fmt.Errorf("%w: %d", target.ErrNoThread, t)
		}
		if s.selected != t {
			s.selected, s.level = t, 0
		}
		return s.step(t, kind, count)
	})
}

func (s *Session) step(t target.ThreadID, kind StepKind, count int) error {
	if err := s.needProcess(); err != nil {
		return err
	}
	if count < 1 {
		count = 1
	}
	s.stepFrom = s.markFrame()
	var p plan
	var err error
	if kind == StepInto && s.enterHidden(t) {
		if count--; count == 0 {
			return nil
		}
	}
	switch kind {
	case StepInto, StepOver:
		p = &lineStep{over: kind == StepOver, count: count, signalled: s.getsSignal(t)}
	case StepUntil:
		p = &lineStep{over: true, count: 1, until: true, signalled: s.getsSignal(t)}
	case StepOut:
		p, err = s.newFinish(t, s.level)
	case StepInstruction, NextInstruction:
		p = &instructionStep{over: kind == NextInstruction, count: count}
	}
	if err != nil {
		return err
	}
	return s.goBy(t, p)
}

// getsSignal reports whether a thread has stopped for a signal that it gets when it continues.
func (s *Session) getsSignal(t target.ThreadID) bool {
	st := s.LastStop()
	return st.Reason == StopSignal && st.Thread == t && st.Signal != nil && s.signal(st.Signal.Number).Pass
}

// goBy resumes the program with a plan for one thread.
func (s *Session) goBy(t target.ThreadID, p plan) error {
	if s.threads.icy[t] {
		return errors.New("the thread is frozen; thaw it first")
	}
	r, err := s.begin(t, p)
	if err == nil {
		err = s.letGo(r)
	}
	if err != nil {
		s.endCourses()
	}
	return err
}

// Advance runs until a location is reached, or the selected frame returns.
func (s *Session) Advance(spec LocationSpec) error {
	places, err := s.FindLocation(spec)
	if err != nil {
		return err
	}
	return s.try(func() error {
		if err := s.needProcess(); err != nil {
			return err
		}
		return s.goBy(s.selected, s.newAdvance(s.selected, places))
	})
}
