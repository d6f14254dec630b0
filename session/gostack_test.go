package session_test

import (
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestGoOtherStack: what Go's runtime calls on the scheduler's stack has as outermost frame the function that went there. What is on that
// stack beyond it belongs to whoever was there before.
func TestGoOtherStack(t *testing.T) {
	exe := fixture.Build(t, "check/routines.go")
	for _, c := range []struct{ stop, last string }{
		{"runtime.newstack", "runtime.morestack"},
		{"runtime.newproc1", "runtime.systemstack"},
		{"runtime.park_m", "runtime.mcall"},
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
					if i+1 < len(bt.Frames) || bt.End == nil || bt.End.Outermost || !strings.Contains(bt.End.Reason, "another stack") {
						t.Errorf("%s has %d callers, end %+v", c.last, len(bt.Frames)-i-1, bt.End)
					}
					return
				}
			}
			t.Fatalf("%s was never called by %s", c.stop, c.last)
		})
	}
}
