package session_test

import (
	"fmt"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/session"
)

// TestStepsAgainstGDB steps through a program line by line, in each way, and
// expects to be where gdb is after each step.
func TestStepsAgainstGDB(t *testing.T) {
	steps := map[string]session.StepKind{"step": session.StepInto, "next": session.StepOver, "stepi": session.StepInstruction, "nexti": session.NextInstruction}
	for _, b := range []build{builds[0], {name: "O0-static", flags: []string{"-g", "-O0", "-static"}}, {name: "O1", flags: []string{"-g", "-O1"}}} {
		for command, kind := range steps {
			if b.name == "O1" && (command == "step" || command == "next") {
				// At the first instruction of an inlined call gdb pretends to be
				// at the call in its caller; dbg shows the inlined frame at once.
				continue
			}
			t.Run(b.name+"/"+command, func(t *testing.T) {
				t.Parallel()
				exe := b.make(t, "c/steps.c")
				const n = 40
				args := []string{exe, "-ex", "break main", "-ex", "run"}
				for range n {
					args = append(args, "-ex", gdbpeer.Stack, "-ex", command)
				}
				want := gdbpeer.Frames(gdbpeer.Run(t, append(args, "-ex", "kill")...))
				s, events := newSession(t)
				dev := null(t)
				if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "main"}}, false); err != nil {
					t.Fatal(err)
				}
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if len(want[i]) == 0 {
						return // gdb's program has ended
					}
					ev := next(t, events)
					stop, ok := ev.(session.Stopped)
					if !ok {
						t.Fatalf("%s %d: dbg's program has ended, gdb is at %s", command, i, describeGDB(want[i][0]))
					}
					f, err := s.Frame(stop.Thread, 0)
					if err != nil {
						t.Fatal(err)
					}
					if g, w := describe(f), describeGDB(want[i][0]); g != w && !aliases(t, f, want[i][0]) {
						t.Fatalf("after %d times %s\n  dbg: %s\n  gdb: %s", i, command, g, w)
					}
					if err := s.Step(kind, 1); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// next takes events until the program has stopped or ended.
func next(t testing.TB, events <-chan session.Event) session.Event {
	t.Helper()
	for ev := range events {
		switch ev.(type) {
		case session.Stopped, session.Ended:
			return ev
		}
	}
	t.Fatal("the session ended")
	return nil
}

// TestFinish leaves a recursive function and reads what it returned.
func TestFinish(t *testing.T) {
	exe := fixture.Build(t, "c/steps.c", "-g", "-O0")
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	spec, err := s.ParseBreakpoint("factorial if n == 1")
	if err != nil {
		t.Fatal(err)
	}
	bp, err := s.SetBreakpoint(spec, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	until[session.Stopped](t, events)
	if err := s.DeleteBreakpoint(bp.ID); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1", "2"} {
		if err := s.Step(session.StepOut, 1); err != nil {
			t.Fatal(err)
		}
		stop := until[session.Stopped](t, events)
		if stop.Reason != session.StopFinish || !stop.HasReturnValue {
			t.Fatalf("%+v", stop.Stop)
		}
		if got := s.Format(stop.ReturnValue, session.DefaultFormat()); got != want {
			t.Errorf("returned %s, want %s", got, want)
		}
	}
	f, err := s.SelectedFrame()
	if err != nil || f.FunctionName != "main" {
		t.Errorf("in %s, %v", f.FunctionName, err)
	}
	// A floating point value comes back in another register.
	spec, _ = s.ParseBreakpoint("half")
	if _, err := s.SetBreakpoint(spec, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	until[session.Stopped](t, events)
	if err := s.Step(session.StepOut, 1); err != nil {
		t.Fatal(err)
	}
	if stop := until[session.Stopped](t, events); s.Format(stop.ReturnValue, session.DefaultFormat()) != "2.25" {
		t.Errorf("half returned %s", s.Format(stop.ReturnValue, session.DefaultFormat()))
	}
}

// TestStepFromLineless: code of line 0 belongs to the line before it. Finish shows that line, and
// next goes to the line after it.
func TestStepFromLineless(t *testing.T) {
	s := newStorm(t)
	s.must(s.Load(session.Program{Path: fixture.Build(t, "c/lineless.rs", "-g")}))
	s.breakAt("lineless::pick", nil)
	s.must(s.Run())
	s.wait()
	var got []string
	for _, kind := range []session.StepKind{session.StepOut, session.StepOver, session.StepOver} {
		s.must(s.Step(kind, 1))
		ev, ok := s.wait().(session.Stopped)
		if !ok {
			t.Fatalf("the program has ended after %s", got)
		}
		f, err := s.Frame(ev.Thread, 0)
		s.must(err)
		got = append(got, fmt.Sprintf("%s:%d", f.FunctionName, f.Position.Line))
	}
	if g, want := strings.Join(got, " "), "lineless::caller:10 lineless::caller:11 lineless::pick:5"; g != want {
		t.Errorf("got  %s\nwant %s", g, want)
	}
}

// TestStepInLineless: a step in a function without line numbers enters a function that has some, as
// in gdb. Next does not.
func TestStepInLineless(t *testing.T) {
	for _, c := range []struct {
		kind session.StepKind
		want string
	}{{session.StepInto, "callback:5"}, {session.StepOver, "main:21"}} {
		s := newStorm(t)
		s.must(s.Load(session.Program{Path: fixture.Build(t, "c/nolines.c", "-g", "-O0")}))
		s.breakAt("*nolines", nil)
		s.must(s.Run())
		s.wait()
		s.must(s.Step(c.kind, 1))
		ev, ok := s.wait().(session.Stopped)
		if !ok {
			t.Fatal("the program has ended")
		}
		f, err := s.Frame(ev.Thread, 0)
		s.must(err)
		if got := fmt.Sprintf("%s:%d", f.FunctionName, f.Position.Line); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
