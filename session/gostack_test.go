package session_test

import (
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestGoOtherStack: below what Go's runtime calls on the scheduler's stack come the frames of the goroutine that it works for, up to its
// first function.
func TestGoOtherStack(t *testing.T) {
	exe := fixture.Build(t, "check/routines.go")
	for _, c := range []struct{ stop, last, next string }{
		{"runtime.newstack", "runtime.morestack", ""}, // whatever has called needs a larger stack
		{"runtime.newproc1", "runtime.systemstack", "runtime.newproc"},
		{"runtime.park_m", "runtime.mcall", "runtime.gopark"},
	} {
		t.Run(c.last, func(t *testing.T) {
			s, events := newSession(t)
			dev := null(t)
			if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: c.stop}}, false); err != nil {
				t.Fatal(err)
			}
			for n, run := 0, s.Run; n < 200; n, run = n+1, func() error { return s.Continue(0) } {
				if err := run(); err != nil {
					t.Fatal(err)
				}
				stop, ok := next(t, events).(session.Stopped)
				if !ok {
					break
				}
				bt, err := s.Backtrace(stop.Thread, 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				for i := range bt.Frames {
					if f := bt.Frames[i].Function; f == nil || f.Name != c.last {
						continue
					}
					var below []string
					for _, f := range bt.Frames[i+1:] {
						if f.Function == nil {
							t.Fatalf("no function at %v", f.PC)
						}
						if f.Function.Name != "runtime.systemstack_switch" {
							below = append(below, f.Function.Name)
						}
					}
					if bt.End == nil || !bt.End.Outermost || len(below) < 2 || c.next != "" && below[0] != c.next {
						if n > 20 {
							t.Fatalf("below %s: %q, end %+v", c.last, below, bt.End)
						}
						break // the scheduler itself: it works for nobody
					}
					if last := below[len(below)-1]; last != "runtime.goexit" || bt.Frames[i+1].Strategy != "gosched" {
						t.Errorf("the outermost frame is %s, the first one was found by %s", last, bt.Frames[i+1].Strategy)
					}
					t.Logf("%s: %q", c.last, below)
					return
				}
			}
			t.Fatalf("%s was never called by %s", c.stop, c.last)
		})
	}
}
