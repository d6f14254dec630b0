package session_test

import (
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestFreezeThread: a frozen thread does not move while the others do, and moves again later.
func TestFreezeThread(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/tracing.c", "-g", "-O0", "-pthread")
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{"2000"}}); err != nil {
		t.Fatal(err)
	}
	runUntil(t, s, events, session.LocationSpec{Function: "work"})
	frozen := s.LastStop().Thread
	first, err := s.Frame(frozen, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.FreezeThread(frozen, true); err != nil {
		t.Fatal(err)
	}
	b, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "work"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
		st, ok := next(t, events).(session.Stopped)
		if !ok || st.Reason != session.StopBreakpoint || st.Thread == frozen {
			t.Fatalf("%+v", st)
		}
		if f, err := s.Frame(frozen, 0); err != nil || f.PC != first.PC || f.Machine.CFA != first.Machine.CFA {
			t.Fatalf("the frozen thread is at %v, %v", f.PC, err)
		}
	}
	if err := s.StepThread(frozen, session.StepOver, 1); err == nil {
		t.Error("a frozen thread was stepped")
	}
	if err := s.DeleteBreakpoint(b.ID); err != nil {
		t.Fatal(err)
	}
	list, _ := s.Threads()
	for _, x := range list {
		if x.Frozen != (x.ID == frozen) {
			t.Errorf("thread %d: frozen %v", x.Number, x.Frozen)
		}
		if err := s.FreezeThread(x.ID, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Continue(0); err == nil {
		t.Error("all threads are frozen, and the program continues")
	}
	for _, x := range list {
		if err := s.FreezeThread(x.ID, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	if end, ok := next(t, events).(session.Ended); !ok || !end.Exited || end.ExitCode != 0 {
		t.Fatalf("%+v", end)
	}
}
