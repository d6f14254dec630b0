package session_test

import (
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestNextOutermost steps with next through the code that starts a Go program. It has no caller, and
// its frame no known CFA. Its calls are passed nevertheless.
func TestNextOutermost(t *testing.T) {
	exe := fixture.Build(t, "call/go/calls.go")
	s, events := newSession(t)
	dev := null(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}))
	c.breakAt(session.LocationSpec{Function: "runtime.rt0_go"})
	c.must(s.Run())
	line := 0
	for {
		st := until[session.Stopped](t, events)
		f, err := s.Frame(st.Thread, 0)
		c.must(err)
		if !strings.HasPrefix(f.FunctionName, "runtime.rt0_go") || !f.HasSource() {
			t.Fatalf("after line %d next stops in %s, line %d", line, f.FunctionName, f.Position.Line)
		}
		line = f.Position.Line
		lines, err := s.Source(f.Position.File)
		c.must(err)
		if strings.Contains(lines[line-1], "mstart") { // it does not return
			return
		}
		c.must(s.StepThread(st.Thread, session.StepOver, 1))
	}
}
