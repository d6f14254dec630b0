package session_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dbg/arch"
	"dbg/session"
	"dbg/target"
	"dbg/target/scripted"
)

// story is a session on a scripted process, with a breakpoint at 0x2000.
type story struct {
	*session.Session
	p      *scripted.Process
	t      *testing.T
	events <-chan session.Event
	bp     session.Breakpoint
}

func newStory(t *testing.T, threads int, change func(*session.BreakpointSpec)) *story {
	t.Helper()
	s := &story{Session: session.New(session.Config{}), p: scripted.New(threads), t: t}
	events, cancel := s.Subscribe()
	s.events = events
	t.Cleanup(func() { s.Close(); cancel() })
	s.must(s.Adopt(s.p))
	spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Addr: 0x2000, HasAddr: true, Text: "*0x2000"}}
	if change != nil {
		change(&spec)
	}
	var err error
	s.bp, err = s.SetBreakpoint(spec, false)
	s.must(err)
	s.must(s.Continue(0))
	s.p.Calls()
	return s
}

func (s *story) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// next returns the next stop or end.
func (s *story) next() session.Event {
	s.t.Helper()
	for deadline := time.After(20 * time.Second); ; {
		select {
		case ev := <-s.events:
			switch ev.(type) {
			case session.Stopped, session.Ended:
				return ev
			}
		case <-deadline:
			s.t.Fatal("nothing happens")
		}
	}
}

// none checks that nothing has stopped or ended, when all that was asked for before has been dealt with.
func (s *story) none() {
	s.t.Helper()
	s.Selected() // after all queries that wait for the lane
	for {
		select {
		case ev := <-s.events:
			switch ev.(type) {
			case session.Stopped, session.Ended:
				s.t.Fatalf("unexpected: %+v", ev)
			}
		default:
			return
		}
	}
}

func (s *story) wantStop(reason session.StopReason, thread target.ThreadID) {
	s.t.Helper()
	if ev, ok := s.next().(session.Stopped); !ok || ev.Reason != reason || thread != 0 && ev.Thread != thread {
		s.t.Fatalf("%+v, want reason %d of thread %d", ev, reason, thread)
	}
}

func (s *story) wantCalls(want string) {
	s.t.Helper()
	if got := strings.Join(s.p.Calls(), ", "); got != want {
		s.t.Errorf("calls: %s; want %s", got, want)
	}
}

func (s *story) hits() int {
	for _, b := range s.Breakpoints() {
		if b.ID == s.bp.ID {
			return b.Hits
		}
	}
	return -1
}

// busy keeps a query at work until it is released.
func (s *story) busy() (release func()) {
	const at = 0xdead000
	reading, let := s.p.Block(at)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.ReadMemory(at, make([]byte, 1))
	}()
	<-reading
	return func() { let(); <-done }
}

// park lets a thread hit the breakpoint while a query is at work, so that it waits for a decision.
func (s *story) park(t target.ThreadID) {
	s.t.Helper()
	s.p.Hit(t, 0x2000)
	if s.p.ParkedAs(t) == 0 {
		s.t.Fatal("the hit is not parked")
	}
}

// eventually waits for something that another goroutine does.
func (s *story) eventually(what string, f func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatal(what)
		}
	}
}

// A pause is told while a query is at work and a hit waits to be decided. The hit is decided when the program goes on, and
// counted once.
func TestPauseBeforeDecision(t *testing.T) {
	s := newStory(t, 2, func(b *session.BreakpointSpec) { b.Ignore = 5 })
	release := s.busy()
	s.park(2)
	s.must(s.Pause())
	s.wantStop(session.StopPause, 0)
	release()
	s.none()
	before := s.hits()
	s.must(s.Continue(0))
	s.eventually("the kept hit is not counted", func() bool { return s.hits() == before+1 })
	s.none()
}

// A pause that comes between the decision about a hit and the thread's going on does not count the hit twice.
func TestPauseAfterDecision(t *testing.T) {
	s := newStory(t, 2, func(b *session.BreakpointSpec) { b.Ignore = 5 })
	release := s.busy()
	s.park(2)
	s.p.Before("Move", func() { _ = s.p.Interrupt() })
	release()
	s.wantStop(session.StopPause, 0)
	if n := s.hits(); n != 1 {
		t.Errorf("%d hits, want 1", n)
	}
	s.must(s.Continue(0))
	s.eventually("the thread does not go on", func() bool { return s.p.ParkedAs(2) == 0 })
	s.none()
	if n := s.hits(); n != 1 {
		t.Errorf("%d hits after the pause, want 1", n)
	}
}

// A stop that was decided when a pause came first is not lost: it is told when the program goes on, before anything moves.
func TestPauseBeforeStop(t *testing.T) {
	s := newStory(t, 2, func(b *session.BreakpointSpec) { b.HitCondition = "1" })
	release := s.busy()
	s.park(2)
	s.p.Before("StopAll", func() { _ = s.p.Interrupt() })
	release()
	s.wantStop(session.StopPause, 0)
	s.must(s.Continue(0))
	s.wantStop(session.StopBreakpoint, 2)
	if n := s.hits(); n != 1 {
		t.Errorf("%d hits, want 1", n)
	}
}

// Of two threads that hit at once one is told; the other one's hit is told by the next continue, before anything moves.
func TestTwoHitsAtOnce(t *testing.T) {
	s := newStory(t, 3, nil)
	s.p.Hit(2, 0x2000)
	s.p.Hit(3, 0x2000) // while the process was being stopped
	s.wantStop(session.StopBreakpoint, 2)
	s.must(s.Continue(0))
	s.wantStop(session.StopBreakpoint, 3)
	s.wantCalls("Resume")
	if n := s.hits(); n != 2 {
		t.Errorf("%d hits, want 2", n)
	}
}

// A step that has ended is told though another thread hits a breakpoint at the same time, and that hit is not lost.
func TestStepBesideHit(t *testing.T) {
	s := newStory(t, 2, nil)
	s.p.Hit(1, 0x2000)
	s.wantStop(session.StopBreakpoint, 1)
	s.must(s.Step(session.StepInstruction, 1))
	s.p.Finish(1, 0x2004)
	s.p.Hit(2, 0x2000)
	s.wantStop(session.StopStep, 1)
	s.must(s.Continue(0))
	s.wantStop(session.StopBreakpoint, 2)
}

// False conditions of other threads do not touch a step.
func TestStepBesideFalseConditions(t *testing.T) {
	s := newStory(t, 3, func(b *session.BreakpointSpec) { b.Condition = "$rax == 7" })
	for i := range 3 {
		s.p.SetRegisterOf(target.ThreadID(i+1), arch.RAX, 0)
	}
	s.p.SetRegisterOf(1, arch.RAX, 7)
	s.p.Hit(1, 0x2000)
	s.wantStop(session.StopBreakpoint, 1)
	for i := range 50 {
		s.must(s.Step(session.StepInstruction, 1))
		s.p.Hit(2, 0x2000)
		s.p.Hit(3, 0x2000)
		s.p.Finish(1, target.Addr(0x3000+4*i))
		s.p.Hit(2, 0x2000)
		s.wantStop(session.StopStep, 1)
	}
	if n := s.hits(); n != 1 {
		t.Errorf("%d hits, want 1", n)
	}
}

// The program is killed at each point of the way of a hit: its end is told once, with its signal, and nothing hangs.
func TestDeathAtEachPoint(t *testing.T) {
	for _, point := range []string{"running", "parked", "Move", "StopAll", "Resume", "stopped", "paused"} {
		t.Run(point, func(t *testing.T) {
			s := newStory(t, 2, func(b *session.BreakpointSpec) {
				b.HitCondition = map[bool]string{true: "1", false: "99"}[point == "StopAll"]
			})
			die := func() { s.p.Die(9) }
			switch point {
			case "running":
				die()
			case "parked", "Move", "StopAll":
				release := s.busy()
				s.park(2)
				if point == "parked" {
					die()
				} else {
					s.p.Before(point, die)
				}
				release()
			case "Resume":
				s.must(s.Pause())
				s.wantStop(session.StopPause, 0)
				s.p.Before("Resume", die)
				_ = s.Continue(0)
				for {
					if ev, ok := s.next().(session.Ended); ok {
						checkKilled(t, ev)
						return
					}
				}
			case "stopped":
				s.must(s.Pause())
				s.wantStop(session.StopPause, 0)
				die()
			case "paused":
				s.p.Before("Interrupt", die)
				_ = s.Pause()
			}
			ev, _ := s.next().(session.Ended)
			checkKilled(t, ev)
			s.none()
		})
	}
}

func checkKilled(t *testing.T, ev session.Ended) {
	t.Helper()
	if ev.Signal == nil || ev.Signal.Number != 9 {
		t.Fatalf("%+v", ev)
	}
}

// Ends do not wait for a query that takes long.
func TestEndsBesideQuery(t *testing.T) {
	for name, end := range map[string]func(*session.Session) error{
		"Close": (*session.Session).Close, "Detach": (*session.Session).Detach, "Kill": (*session.Session).Kill, "Pause": (*session.Session).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, 1, nil)
			release := s.busy()
			defer release()
			ended := make(chan error, 1)
			go func() { ended <- end(s.Session) }()
			select {
			case err := <-ended:
				s.must(err)
			case <-time.After(20 * time.Second):
				t.Fatal("it waits for the query")
			}
			if calls := s.p.Calls(); name != "Close" && !slices.Contains(calls, map[string]string{"Detach": "Detach", "Kill": "Kill", "Pause": "Interrupt"}[name]) {
				t.Errorf("calls: %v", calls)
			}
		})
	}
}
