package session_test

import (
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/session"
)

// TestTailCalls stops at the end of chains of tail calls. Where only one way leads there, the functions that are
// gone are shown, with what they were passed; where there are several, none.
func TestTailCalls(t *testing.T) {
	want := []string{
		"stop(3, 20) ~last ~middle ~only main",
		"stop(-16, 2) main", // by either, and left or right
		"stop(0, 3) main",   // by ping and pong, an unknown number of times
		"stop(-37, 4) main", // by a function that only a register knew
		"stop(6, 20) viaRegister main",
		"stop(4, 3) ~compare",
		"stop(-91, 5) main",
	}
	for _, cc := range []string{"gcc", "clang-19"} {
		t.Run(cc, func(t *testing.T) {
			exe := fixture.Build(t, "c/tail.c", "cc="+cc, "-g", "-O2")
			s, events := newSession(t)
			dev := null(t)
			if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "stop"}}, false); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				stop := until[session.Stopped](t, events)
				bt := backtrace(t, s, stop.Thread)
				if got := shortStack(s, stop, bt); got != w && !(strings.Contains(w, "~compare") && !knowsLibrary(bt)) {
					t.Errorf("stop %d: dbg has %s\nwant %s", i, got, w)
				}
				if i == 0 {
					only, middle := bt[3], bt[2]
					if got := argumentValues(s, stop, &only); got != "1, 7" && cc == "gcc" {
						t.Errorf("only(%s), want only(1, 7)", got)
					}
					if got := argumentValues(s, stop, &middle); got != "2" && cc == "gcc" {
						t.Errorf("middle(%s), want middle(2)", got)
					}
				}
				if err := s.Continue(0); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// shortStack writes the functions up to main, or to a file that is not the program's own; tail calls with a ~.
func shortStack(s *session.Session, stop session.Stopped, bt []session.Frame) string {
	var out []string
	for i := range bt {
		f := &bt[i]
		if f.Module == nil || f.Module != bt[0].Module {
			break
		}
		name := f.FunctionName
		switch {
		case f.TailCall && f.Strategy == "tailcall":
			name = "~" + name
		case i == 0:
			name += "(" + argumentValues(s, stop, f) + ")"
		}
		out = append(out, name)
		if name == "main" {
			break
		}
	}
	return strings.Join(out, " ")
}

func argumentValues(s *session.Session, stop session.Stopped, f *session.Frame) string {
	var out []string
	for _, a := range s.Arguments(stop.Thread, f, eval.Options{}) {
		out = append(out, a.Value)
	}
	return strings.Join(out, ", ")
}

// knowsLibrary reports whether the C library of the backtrace has debug information: then its call of compare is known.
func knowsLibrary(bt []session.Frame) bool {
	for i := range bt {
		if bt[i].Module != bt[0].Module {
			return bt[i].Function != nil && !bt[i].Function.FromSymbolTable
		}
	}
	return false
}

// TestTailCallsAgainstGDB compares the whole of a backtrace with gdb's, and leaves the innermost of the functions that
// are gone.
func TestTailCallsAgainstGDB(t *testing.T) {
	exe := fixture.Build(t, "c/tail.c", "cc=gcc", "-g", "-O2")
	want := gdbpeer.Frames(gdbpeer.Run(t, exe, "-ex", "break stop", "-ex", "run", "-ex", gdbpeer.Stack, "-ex", "kill"))
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "stop"}}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	stop := until[session.Stopped](t, events)
	bt := backtrace(t, s, stop.Thread)
	if len(want) != 1 || len(want[0]) != len(bt) {
		t.Fatalf("dbg has %d frames, gdb %d", len(bt), len(want[0]))
	}
	for i, w := range want[0] {
		if g, w := describe(bt[i]), describeGDB(w); g != w || bt[i].TailCall != want[0][i].TailCall || bt[i].Level != i {
			t.Errorf("frame %d (tail call: %v, %v)\n  dbg: %s\n  gdb: %s", i, bt[i].TailCall, want[0][i].TailCall, g, w)
		}
	}
	// "finish" from a frame that is gone ends where its caller goes on.
	if _, err := s.SelectFrame(2); err != nil {
		t.Fatal(err)
	}
	if err := s.Step(session.StepOut, 1); err != nil {
		t.Fatal(err)
	}
	stop = until[session.Stopped](t, events)
	if f, err := s.Frame(stop.Thread, 0); err != nil || f.PC != bt[4].PC {
		t.Errorf("finish has stopped at %v (%v), want %v", f.PC, err, bt[4].PC)
	}
}
