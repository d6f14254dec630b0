package session

import (
	"testing"
	"time"

	"dbg/internal/fixture"
)

// TestLandingLeavesNothing: after a step, the session has no sites of its own for landings, and
// while the program runs without a step it has none either.
func TestLandingLeavesNothing(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	events, cancel := s.Subscribe()
	t.Cleanup(func() { s.Close(); cancel() })
	stopped := func() {
		t.Helper()
		for limit := time.After(time.Minute); ; {
			select {
			case ev := <-events:
				if _, ok := ev.(Stopped); ok {
					return
				}
			case <-limit:
				t.Fatal("no stop")
			}
		}
	}
	left := func(when string) {
		t.Helper()
		s.do(func() {
			for a, kinds := range s.breakpoints.internal {
				for _, k := range kinds {
					if k == internalLanding || k == internalStep {
						t.Errorf("%s: a site is left at %s", when, a)
					}
				}
			}
			if len(s.landings.at) != 0 {
				t.Errorf("%s: landing sites are armed", when)
			}
		})
	}
	if err := s.Load(Program{Path: fixture.Build(t, "c/landing.cc", "-g", "-O0"), Args: []string{"caller"}, Capture: true}); err != nil {
		t.Fatal(err)
	}
	spec, err := s.ParseBreakpoint("caller")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetBreakpoint(spec, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	stopped()
	left("at the start")
	for range 4 {
		if err := s.Step(StepOver, 1); err != nil {
			t.Fatal(err)
		}
		stopped()
		left("after a step")
	}
}
