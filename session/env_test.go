package session_test

import (
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// stopAt runs a fixture up to a function.
func stopAt(t *testing.T, exe, function string) (*session.Session, <-chan session.Event, target.ThreadID) {
	t.Helper()
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Capture: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: function}}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return s, events, until[session.Stopped](t, events).Thread
}

// printIn evaluates an expression in a frame and gives gdb's text or the error's.
func printIn(s *session.Session, id target.ThreadID, level int, text string) string {
	v, err := s.Evaluate(id, level, text)
	if err != nil {
		return err.Error()
	}
	return s.FormatIn(id, level, v, session.DefaultFormat())
}

// TestSavedRegisters reads, in outer frames, variables that live in registers
// that inner frames have saved and use otherwise, and assigns to one: the program goes on
// with the new value.
func TestSavedRegisters(t *testing.T) {
	exe := fixture.Build(t, "c/saved.c", "-g", "-O2")
	s, events, id := stopAt(t, exe, "stop")
	for _, c := range []struct {
		level      int
		expr, want string
	}{
		{1, "kept", "14"},    // 2 * 7 + 0
		{1, "other", "4666"}, // 14 ^ 0x1234
		{2, "kept", "8"},     // 1 * 3 + 5
		{2, "kept * 2", "16"},
		{2, "a", "1"},
		{2, "per_thread", "42"},
		{0, "counter", "0"},
		{2, "$rax", "<not saved>"}, // what a call may change is not known before it
	} {
		if got := printIn(s, id, c.level, c.expr); got != c.want && !(c.expr == "a" && got == "<optimized out>") {
			t.Errorf("frame %d: %s is %s, want %s", c.level, c.expr, got, c.want)
		}
	}
	if got := printIn(s, id, 2, "kept = 9"); got != "9" {
		t.Fatalf("assigned: %s", got)
	}
	if got := printIn(s, id, 2, "kept"); got != "9" {
		t.Errorf("after the assignment kept is %s", got)
	}
	if got := printIn(s, id, 1, "kept"); got != "14" {
		t.Errorf("the assignment in frame 2 changed frame 1's kept to %s", got)
	}
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for ev := range events {
		if o, ok := ev.(session.Output); ok {
			out.Write(o.Data)
		}
		if _, ok := ev.(session.Ended); ok {
			break
		}
	}
	// (9 ^ (14 + 4666 * 3)) + 80
	if out.String() != "14085\n" {
		t.Errorf("the program printed %q", out.String())
	}
}

// TestMembersAndEnumerators evaluates names in a member function.
func TestMembersAndEnumerators(t *testing.T) {
	exe := fixture.Build(t, "c/members.cc", "-g", "-O0")
	s, _, id := stopAt(t, exe, "ns::Box::get")
	for expr, want := range map[string]string{
		"value": "5", "::value": "1000", "inherited + add": "9", "color": "ns::Color::GREEN", "plain": "TWO",
		"TWO": "TWO", "plain == TWO": "true", "ns::Color::RED": "ns::Color::RED", "GREEN": `No symbol "GREEN" in current context.`,
		"nosuch": `No symbol "nosuch" in current context.`, "*this": "{<ns::Base> = {inherited = 7}, value = 5, color = ns::Color::GREEN, plain = TWO}",
	} {
		if got := printIn(s, id, 0, expr); got != want {
			t.Errorf("%s is %s, want %s", expr, got, want)
		}
	}
}
