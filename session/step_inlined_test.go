package session_test

import (
	"fmt"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestNextBetweenTwins: the ends of two inlined calls at one place of the source are two ends. The
// second call is not a part of the first one.
func TestNextBetweenTwins(t *testing.T) {
	s := newStorm(t)
	s.must(s.Load(session.Program{Path: fixture.Build(t, "c/twins.cc", "-g", "-O2")}))
	s.breakAt("twins.cc:9", nil)
	s.must(s.Run())
	s.wait()
	var got []string
	for _, kind := range []session.StepKind{session.StepOver, session.StepInto, session.StepOver} {
		s.must(s.Step(kind, 1))
		ev, ok := s.wait().(session.Stopped)
		if !ok {
			t.Fatalf("the program has ended after %s", got)
		}
		f, err := s.Frame(ev.Thread, 0)
		s.must(err)
		got = append(got, fmt.Sprintf("%s:%d", f.FunctionName, f.Position.Line))
	}
	if g, want := strings.Join(got, " "), "work:18 Guard::~Guard:8 Guard::~Guard:9"; g != want {
		t.Errorf("got  %s\nwant %s", g, want)
	}
}

// A line that is nothing but an inlined call is a line: next stops at it, and step goes in.
func TestNextAtInlinedCall(t *testing.T) {
	for _, c := range []struct {
		flags string
		steps []session.StepKind
		want  string
	}{
		{"-O0", repeat(session.StepOver, 5), "work:16 work:17 work:18 work:19 work:20"},
		{"-O1", repeat(session.StepOver, 4), "work:16 work:17 work:18 work:19"},
		{"-O0", append(repeat(session.StepOver, 1), repeat(session.StepInto, 4)...), "work:16 bump:5 bump:6 bump:7 work:17"},
		{"-O0", append(repeat(session.StepOver, 3), repeat(session.StepInto, 2)...), "work:16 work:17 work:18 twice:10 bump:5"},
	} {
		t.Run(c.flags+" "+c.want, func(t *testing.T) {
			s := newStorm(t)
			s.must(s.Load(session.Program{Path: fixture.Build(t, "c/inlines.c", "-g", c.flags)}))
			s.breakAt("work", nil)
			s.must(s.Run())
			s.wait()
			var got []string
			for _, kind := range c.steps {
				s.must(s.Step(kind, 1))
				ev, ok := s.wait().(session.Stopped)
				if !ok {
					t.Fatalf("the program has ended after %s", got)
				}
				f, err := s.Frame(ev.Thread, 0)
				s.must(err)
				got = append(got, fmt.Sprintf("%s:%d", f.FunctionName, f.Position.Line))
			}
			if g := strings.Join(got, " "); g != c.want {
				t.Errorf("got  %s\nwant %s", g, c.want)
			}
		})
	}
}

func repeat(k session.StepKind, n int) []session.StepKind {
	out := make([]session.StepKind, n)
	for i := range out {
		out[i] = k
	}
	return out
}
