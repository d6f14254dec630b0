package session_test

import (
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestThreadLocals reads the thread-local variables of a program, of a library that it is linked with and of one that it loads, in
// each of its threads: live and in a core.
func TestThreadLocals(t *testing.T) {
	one := fixture.Build(t, "c/tls.c", "-g", "-O1", "-shared", "-fPIC", "-DLIBRARY=one")
	two := fixture.Build(t, "c/tls.c", "-g", "-O1", "-shared", "-fPIC", "-DLIBRARY=two")
	exe := fixture.Build(t, "c/tls.c", "-g", "-O1", one, "-ldl")
	t.Run("live", func(t *testing.T) {
		s, events := newSession(t)
		dev := null(t)
		if err := s.Load(session.Program{Path: exe, Args: []string{two}, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		until[session.Stopped](t, events)
		checkThreadLocals(t, s)
	})
	t.Run("core", func(t *testing.T) {
		core := fixture.Core(t, exe, two)
		s, _ := newSession(t)
		if err := s.OpenCore(core, exe); err != nil {
			t.Fatal(err)
		}
		checkThreadLocals(t, s)
	})
}

func checkThreadLocals(t *testing.T, s *session.Session) {
	t.Helper()
	threads, err := s.Threads()
	if err != nil || len(threads) != 3 {
		t.Fatalf("%d threads (%v), want 3", len(threads), err)
	}
	names := []string{"own", "own_array", "one_value", "one_zero", "two_value", "two_zero"}
	want := map[string]string{
		"50": "50 {1, 2, 3} 45 -40 35 -30",
		"10": "10 {1, 1, 3} 6 -1 ? ?", // it has never touched the second library's
		"20": "20 {1, 2, 3} 7 -2 7 -2",
	}
	for _, th := range threads {
		var got []string
		for _, name := range names {
			got = append(got, threadLocal(s, th.ID, name))
		}
		if g := strings.Join(got, " "); g != want[got[0]] {
			t.Errorf("thread %d has %s, want %s", th.Number, g, want[got[0]])
		}
		delete(want, got[0])
	}
	if len(want) != 0 {
		t.Errorf("no thread has %v", want)
	}
}

func threadLocal(s *session.Session, t target.ThreadID, name string) string {
	v, err := s.Evaluate(t, 0, name)
	text := ""
	if err != nil {
		text = err.Error()
	} else {
		text = s.FormatIn(t, 0, v, eval.Options{})
	}
	if strings.HasSuffix(strings.TrimSuffix(text, ">"), "this thread has not allocated its block yet") {
		return "?"
	}
	return text
}
