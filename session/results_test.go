package session_test

import (
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// TestResults finishes functions of Go and of Rust.
func TestResults(t *testing.T) {
	for _, c := range []struct {
		source string
		flags  []string
		cases  [][2]string // a function, and its result; "": it is not known
	}{
		{"call/go/results.go", []string{"-gcflags=-N"}, [][2]string{
			{"main.str", `"hello"`},
			{"main.three", "{x = 3, p = {X = 3, Y = 4}, s = []int len: 2, cap: 2, [1,2]}"},
			{"main.arr", "{r0 = [5, 6, 7], r1 = 9}"},
		}},
		{"call/results.rs", []string{"-g"}, [][2]string{
			{"results::s", `"hello"`}, {"results::t", "(2, 3)"}, {"results::f", "3"}, {"results::st", `"5"`},
			{"results::o", ""}, {"results::m", "(7, 2.5)"},
		}},
	} {
		t.Run(c.source, func(t *testing.T) {
			exe := fixture.Build(t, c.source, c.flags...)
			s, events := newSession(t)
			dev := null(t)
			if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
				t.Fatal(err)
			}
			for i, x := range c.cases {
				spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: x[0], Text: x[0]}, Temporary: true}
				if _, err := s.SetBreakpoint(spec, false); err != nil {
					t.Fatal(err)
				}
				var err error
				if i == 0 {
					err = s.Run()
				} else {
					err = s.Continue(0)
				}
				if err != nil {
					t.Fatal(err)
				}
				until[session.Stopped](t, events)
				if err := s.Step(session.StepOut, 1); err != nil {
					t.Fatal(err)
				}
				st := until[session.Stopped](t, events)
				got := ""
				if st.HasReturnValue {
					got = s.Format(st.ReturnValue, eval.DefaultOptions())
				}
				if got != x[1] || st.Reason != session.StopFinish {
					t.Errorf("%s returned %s, want %s", x[0], got, x[1])
				}
			}
		})
	}
}
