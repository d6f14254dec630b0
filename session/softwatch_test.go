package session_test

import (
	"encoding/binary"
	"strconv"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestSoftWatchEveryChange: two threads write to an array that no debug registers hold. Each write is
// reported once, of the right thread, at the right line, with the values before and after.
func TestSoftWatchEveryChange(t *testing.T) {
	t.Parallel()
	const rounds = 120
	exe := fixture.Build(t, "c/softwatch.c", "-g", "-O0", "-pthread")
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{strconv.Itoa(rounds)}, Stdout: null(t)}); err != nil {
		t.Fatal(err)
	}
	runUntil(t, s, events, session.LocationSpec{Function: "main"})
	b, err := s.SetBreakpoint(session.BreakpointSpec{Watch: &session.WatchSpec{Expr: "array"}}, false)
	if err != nil || !b.Software {
		t.Fatalf("%+v, %v", b, err)
	}
	line := lineWith(t, "c/softwatch.c", "// the write")
	of := map[target.ThreadID]int{} // the number of the writer, by thread
	next0 := map[int]int{}          // the next value of each
	hits := 0
	for {
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
		ev := next(t, events)
		if end, ok := ev.(session.Ended); ok {
			if !end.Exited || end.ExitCode != 0 {
				t.Fatalf("%+v", end)
			}
			break
		}
		st, ok := ev.(session.Stopped)
		if !ok || st.Reason != session.StopWatch || len(st.Watches) != 1 {
			t.Fatalf("%+v", ev)
		}
		hits++
		h := st.Watches[0]
		value := -1
		for i := 0; i+4 <= len(h.New.Bytes); i += 4 {
			if v := binary.LittleEndian.Uint32(h.New.Bytes[i:]); v != binary.LittleEndian.Uint32(h.Old.Bytes[i:]) {
				if value >= 0 {
					t.Fatal("two elements have changed")
				}
				value = int(v)
			}
		}
		who, i := value/100000, value%100000-1
		if known, ok := of[st.Thread]; ok && known != who || i != next0[who] {
			t.Fatalf("write %d of thread %d, reported for a thread of %d; expected write %d", i, who, known, next0[who])
		}
		of[st.Thread] = who
		next0[who] = i + 1
		f, err := s.Frame(st.Thread, 0)
		if err != nil || f.FunctionName != "run" || f.Position.Line != line && f.Position.Line != line+1 {
			t.Fatalf("%s:%d, %v", f.FunctionName, f.Position.Line, err)
		}
	}
	if hits != 2*rounds || len(of) != 2 {
		t.Errorf("%d hits of %d writes in %d threads", hits, 2*rounds, len(of))
	}
}

// TestSoftWatchRegister: a variable in a register is watched as long as its frame lives, also through
// its callees.
func TestSoftWatchRegister(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/softwatch.c", "-g", "-O0", "-pthread")
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{"1"}, Stdout: null(t)}); err != nil {
		t.Fatal(err)
	}
	runUntil(t, s, events, session.LocationSpec{Function: "sum"})
	if err := s.Step(session.StepOver, 1); err != nil { // total is 0
		t.Fatal(err)
	}
	if ev := next(t, events); !isStop(ev, session.StopStep) {
		t.Fatalf("%+v", ev)
	}
	b, err := s.SetBreakpoint(session.BreakpointSpec{Watch: &session.WatchSpec{Expr: "total"}}, false)
	if err != nil || !b.Software {
		t.Fatalf("%+v, %v", b, err)
	}
	for _, want := range []string{"1", "3", "6", "10"} {
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
		st, ok := next(t, events).(session.Stopped)
		if !ok || st.Reason != session.StopWatch || s.Format(st.Watches[0].New, session.DefaultFormat()) != want {
			t.Fatalf("%+v, want %s", st, want)
		}
	}
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	if st, ok := next(t, events).(session.Stopped); !ok || st.Reason != session.StopWatchScope {
		t.Fatalf("%+v", st)
	}
	if err := s.Continue(0); err != nil { // now at full speed
		t.Fatal(err)
	}
	if end, ok := next(t, events).(session.Ended); !ok || !end.Exited {
		t.Fatalf("%+v", end)
	}
}

// TestSoftWatchWithOthers: breakpoints, steps, a pause and conditions work while a value is stepped
// for.
func TestSoftWatchWithOthers(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/softwatch.c", "-g", "-O0", "-pthread")
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{"20"}, Stdout: null(t)}); err != nil {
		t.Fatal(err)
	}
	runUntil(t, s, events, session.LocationSpec{Function: "main"})
	if _, err := s.SetBreakpoint(session.BreakpointSpec{Watch: &session.WatchSpec{Expr: "array"}, Condition: "order == 30"}, false); err != nil {
		t.Fatal(err)
	}
	inSum, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "sum"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	step := func(do func() error, reason session.StopReason) session.Stop {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		st, ok := next(t, events).(session.Stopped)
		if !ok || st.Reason != reason {
			t.Fatalf("%+v", st)
		}
		return st.Stop
	}
	step(func() error { return s.Step(session.StepOver, 1) }, session.StopStep)
	step(func() error { return s.Continue(0) }, session.StopWatch)
	if v, err := s.Evaluate(s.LastStop().Thread, 0, "order"); err != nil || s.Format(v, session.DefaultFormat()) != "30" {
		t.Errorf("order is not 30, %v", err)
	}
	if st := step(func() error { return s.Continue(0) }, session.StopBreakpoint); st.Breakpoints[0] != inSum.ID {
		t.Errorf("%+v", st)
	}
	step(func() error { return s.Step(session.StepOut, 1) }, session.StopFinish)
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	if end, ok := next(t, events).(session.Ended); !ok || !end.Exited || end.ExitCode != 0 {
		t.Fatalf("%+v", end)
	}
}

// TestSoftWatchPause: a program that is stepped for a watchpoint stops at once when it is told to.
func TestSoftWatchPause(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/softwatch.c", "-g", "-O0", "-pthread")
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{"loop"}}); err != nil {
		t.Fatal(err)
	}
	runUntil(t, s, events, session.LocationSpec{Function: "main"})
	if _, err := s.SetBreakpoint(session.BreakpointSpec{Watch: &session.WatchSpec{Expr: "array"}}, false); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
		if err := s.Pause(); err != nil {
			t.Fatal(err)
		}
		if ev := next(t, events); !isStop(ev, session.StopPause) {
			t.Fatalf("%+v", ev)
		}
	}
}

// runUntil starts the loaded program and lets it run to a location.
func runUntil(t *testing.T, s *session.Session, events <-chan session.Event, l session.LocationSpec) {
	t.Helper()
	if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: l, Temporary: true}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if ev := next(t, events); !isStop(ev, session.StopBreakpoint) {
		t.Fatalf("%+v", ev)
	}
}
