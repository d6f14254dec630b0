package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestViewConditions: what an expression may say of a container, a condition may say, too.
func TestViewConditions(t *testing.T) {
	const source = "view/condition.cc"
	exe := fixture.Build(t, source, "-g", "-O0")
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "// stop")
	for _, condition := range []string{
		"v[1] == 3", "p->x == 3", "(*p).x == 3", "m[1] == 10", "m.at(1) == 10", "v.size() == 3 && i == 3",
		`s == "n3"`, "s[1] == '3'", "*o == 3", "o.value() == 3", "h->x == 3", "*it == 3",
		"alignof(int) == 4 && i == 3", "p.get()->x == 3", "h.use_count() == 1 && i == 3", "!m.empty() && i == 3",
	} {
		s, events := newSession(t)
		dev := null(t)
		c := &caller{s, t, events, 0}
		c.must(s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}))
		_, err := s.SetBreakpoint(session.BreakpointSpec{
			LocationSpec: session.LocationSpec{File: "condition.cc", Line: strings.Count(before, "\n") + 1}, Condition: condition}, false)
		if err != nil {
			t.Errorf("%s: %v", condition, err)
			continue
		}
		c.must(s.Run())
		switch ev := endOrStop(t, events).(type) {
		case session.Stopped:
			v, err := s.Evaluate(ev.Thread, 0, "i")
			c.must(err)
			if got := v.Bytes[0]; got != 3 {
				t.Errorf("%s: it stops with i = %d, not 3", condition, got)
			}
		default:
			t.Errorf("%s: it does not stop", condition)
		}
	}
}

// endOrStop returns the next stop, or the program's end.
func endOrStop(t *testing.T, events <-chan session.Event) session.Event {
	t.Helper()
	for ev := range events {
		switch ev.(type) {
		case session.Stopped, session.Ended:
			return ev
		}
	}
	t.Fatal("no event")
	return nil
}
