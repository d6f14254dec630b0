package session_test

import (
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// A step in a program in Go belongs to the goroutine, which may go on on another thread, or on another stack.
func TestNextOfGoroutine(t *testing.T) {
	s := newStorm(t)
	exe := fixture.Build(t, "c/gonext.go", "-gcflags=-N -l")
	s.must(s.Load(session.Program{Path: exe}))
	s.breakAt("main.work", nil)
	threads := map[target.ThreadID]bool{}
	for round := range amount(100, 12) {
		if round == 0 {
			s.must(s.Run())
		} else {
			s.must(s.Continue(0))
		}
		ev, ok := s.wait().(session.Stopped)
		if !ok || ev.Reason != session.StopBreakpoint {
			t.Fatalf("%+v", ev)
		}
		f, err := s.Frame(ev.Thread, 0)
		s.must(err)
		from := f.Position.Line
		for line := from + 1; line <= from+8; line++ {
			s.must(s.Step(session.StepOver, 1))
			ev, ok := s.wait().(session.Stopped)
			if !ok {
				t.Fatalf("round %d: the program has ended", round)
			}
			f, err := s.Frame(ev.Thread, 0)
			s.must(err)
			if f.FunctionName != "main.work" || f.Position.Line != line || ev.Reason != session.StopStep {
				t.Fatalf("round %d: at %s:%d (%+v), want main.work:%d", round, f.FunctionName, f.Position.Line, ev.Stop, line)
			}
			threads[ev.Thread] = true
		}
	}
	if len(threads) < 2 {
		t.Errorf("the goroutine was on one thread only")
	}
}
