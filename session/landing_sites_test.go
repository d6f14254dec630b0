package session

import (
	"testing"
	"time"

	"dbg/internal/fixture"
)

// TestLandingLeavesNothing: after a step, no mark is left. After the program has run without a step,
// there are no sites for landings.
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
					if k == internalStep {
						t.Errorf("%s: a site is left at %s", when, a)
					}
				}
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
	if spec, err = s.ParseBreakpoint("178"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetBreakpoint(spec, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	stopped()
	s.do(func() {
		for a, kinds := range s.breakpoints.internal {
			for _, k := range kinds {
				if k == internalLanding {
					t.Errorf("a site for landings is left at %s", a)
				}
			}
		}
	})
}
