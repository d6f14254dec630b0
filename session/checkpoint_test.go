package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestCheckpoints: a program that reads a file goes on from a checkpoint as it was, with its
// variables, its position in the file and the breakpoints; and from the place that was left.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/checkpoint.c", "-g", "-O0")
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, []byte("1\n2\n3\n4\n5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := session.New(session.Config{})
	defer s.Close()
	if err := s.Load(session.Program{Path: exe, Args: []string{file}}); err != nil {
		t.Fatal(err)
	}
	events, cancel := s.Subscribe()
	defer cancel()
	spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "have"}}
	if _, err := s.SetBreakpoint(spec, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	// stop waits for the next stop in have(i, text), which must have these values.
	stop := func(i, text string) {
		t.Helper()
		ev, ok := next(t, events).(session.Stopped)
		if !ok || ev.Reason != session.StopBreakpoint {
			t.Fatalf("%+v", ev)
		}
		here(t, s, i, text)
	}
	run := func(i, text string) {
		t.Helper()
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
		stop(i, text)
	}
	stop("0", "1")
	run("1", "2")
	first, err := s.Checkpoint()
	if err != nil || first.Number != 1 {
		t.Fatal(first, err)
	}
	run("2", "3")
	second, err := s.Checkpoint()
	if err != nil || second.Number != 2 {
		t.Fatal(second, err)
	}
	run("3", "4")
	if err := s.Restart(1); err != nil {
		t.Fatal(err)
	}
	here(t, s, "1", "2")
	run("2", "3")
	if err := s.Restart(0); err != nil { // the place that was left
		t.Fatal(err)
	}
	here(t, s, "3", "4")
	if err := s.Restart(2); err != nil {
		t.Fatal(err)
	}
	here(t, s, "2", "3")
	run("3", "4")
	if list := s.Checkpoints(); len(list) != 3 || !list[2].Current || list[1].PID != first.PID {
		t.Errorf("%+v", list)
	}
	if err := s.DeleteCheckpoint(2, false); err == nil {
		t.Error("the current process was deleted")
	}
	if err := s.DeleteCheckpoint(1, false); err != nil {
		t.Error(err)
	}
	if err := s.Restart(1); err == nil {
		t.Error("a deleted checkpoint was restarted")
	}
	run("4", "5")
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	if ev, ok := next(t, events).(session.Ended); !ok || !ev.Exited || ev.ExitCode != 0 {
		t.Fatalf("%+v", ev)
	}
	if err := s.Restart(0); err != nil { // the others live on when one has ended
		t.Fatal(err)
	}
	here(t, s, "3", "4")
	run("4", "5")
}

// here checks the values of have(i, text) at the current stop.
func here(t *testing.T, s *session.Session, i, text string) {
	t.Helper()
	for expr, want := range map[string]string{"i": i, "text[0]": "'" + text + "'"} {
		v, err := s.Evaluate(s.LastStop().Thread, 0, expr)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Format(v, session.DefaultFormat())
		if expr != "i" {
			got = got[len(got)-3:]
		}
		if got != want {
			t.Errorf("%s is %s, not %s", expr, got, want)
		}
	}
}
