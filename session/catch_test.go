package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// loadCatches loads a program and sets catchpoints before it runs.
func loadCatches(t *testing.T, exe string, kinds ...session.CatchKind) (*session.Session, <-chan session.Event) {
	t.Helper()
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Stdin: null(t), Stdout: null(t), Stderr: null(t)}); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		setCatch(t, s, session.CatchSpec{Kind: k})
	}
	return s, events
}

func setCatch(t *testing.T, s *session.Session, spec session.CatchSpec) session.Breakpoint {
	t.Helper()
	b, err := s.SetBreakpoint(session.BreakpointSpec{Catch: &spec}, true)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// allCaught runs the program to its end, and describes what was caught.
func allCaught(t *testing.T, s *session.Session, events <-chan session.Event) (list []string) {
	t.Helper()
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	for {
		switch ev := next(t, events).(type) {
		case session.Ended:
			return list
		case session.Stopped:
			if ev.Reason != session.StopCatch || ev.Caught == nil || len(ev.Breakpoints) == 0 {
				f, err := s.Frame(ev.Thread, 0)
				t.Fatalf("%+v in %s, %v", ev.Stop, f.FunctionName, err)
			}
			c := ev.Caught
			text := fmt.Sprintf("%d %s", c.Kind, c.Type)
			switch {
			case c.HasMessage:
				text += ": " + c.Message
			case c.Silent:
				text += ": unknown"
			}
			if c.File != "" {
				text += fmt.Sprintf(" at %s:%d in %s", c.File[strings.LastIndexByte(c.File, '/')+1:], c.Line, c.Function)
			}
			list = append(list, text)
			if err := s.Continue(0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func sameList(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// TestCatchExceptions: the type and the message of each exception, with the library shared (loaded
// after the catchpoint was set) and static.
func TestCatchExceptions(t *testing.T) {
	t.Parallel()
	var want []string
	for _, x := range []string{"std::runtime_error: boom \x1b[31m", "mine: mine", "other: unknown", "multi: two bases", "int", "char const*", "std::bad_alloc: std::bad_alloc"} {
		want = append(want, "0 "+x, "1 "+x)
	}
	want = append(want, "0 mine: again", "1 mine: again", "2 mine: again", "1 mine: again", "1 mine: again")
	for _, flags := range [][]string{{"-g", "-O0"}, {"-O2", "-static"}, {"-O2", "-static", "-s"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			exe := fixture.Build(t, "c/exceptions.cc", flags...)
			s, events := loadCatches(t, exe, session.CatchThrow, session.CatchCatch, session.CatchRethrow)
			want := slices.Clone(want)
			if slices.Contains(flags, "-s") {
				// The probes' notes lead to the functions. Nothing names the classes' functions.
				for i := range want {
					kind, typ, _ := strings.Cut(want[i], " ")
					typ, _, _ = strings.Cut(typ, ": ")
					want[i] = kind + " " + typ
				}
			}
			sameList(t, allCaught(t, s, events), want)
		})
	}
}

// TestCatchFilter: a regular expression, a condition, an ignore count and a temporary catchpoint.
func TestCatchFilter(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/exceptions.cc", "-g", "-O0")
	s, events := loadCatches(t, exe)
	set := func(spec session.BreakpointSpec) int {
		b, err := s.SetBreakpoint(spec, true)
		if err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	match := set(session.BreakpointSpec{Catch: &session.CatchSpec{Kind: session.CatchThrow, Match: "^mine$|^std::"}, Ignore: 1})
	set(session.BreakpointSpec{Catch: &session.CatchSpec{Kind: session.CatchThrow, Match: "^int$"}, Temporary: true})
	set(session.BreakpointSpec{Catch: &session.CatchSpec{Kind: session.CatchCatch}, Condition: "0"})
	if _, err := s.SetBreakpoint(session.BreakpointSpec{Catch: &session.CatchSpec{Kind: session.CatchThrow, Match: "("}}, true); err == nil {
		t.Error("a bad regular expression was taken")
	}
	sameList(t, allCaught(t, s, events), []string{"0 mine: mine", "0 int", "0 std::bad_alloc: std::bad_alloc", "0 mine: again"})
	list := s.Breakpoints()
	if len(list) != 2 || list[0].ID != match || list[0].Hits != 4 {
		t.Errorf("%+v", list)
	}
}

func TestCatchAssert(t *testing.T) {
	t.Parallel()
	s, events := loadCatches(t, fixture.Build(t, "c/asserts.c", "-g", "-O0"), session.CatchAssert, session.CatchAbort)
	if err := s.SetSignal(6, session.SignalSetting{}); err != nil { // the handler gets it all the same
		t.Fatal(err)
	}
	set := s.Signal(6)
	set.Pass = true
	if err := s.SetSignal(6, set); err != nil {
		t.Fatal(err)
	}
	sameList(t, allCaught(t, s, events), []string{`5 : x > 0 && "x" at asserts.c:10 in positive`, "4 "})
}

func TestCatchGoPanic(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"-gcflags=-N -l"}, nil} {
		s, events := loadCatches(t, fixture.Build(t, "c/panics.go", flags...), session.CatchPanic)
		if err := s.SetSignal(6, session.SignalSetting{}); err != nil {
			t.Fatal(err)
		}
		got := allCaught(t, s, events)
		want := []string{`3 string: "text"`, "3 int: 42", `3 main.failure: {code = 7, text = "seven"}`, "3 *errors.errorString: ", "3 runtime.boundsError: ", `3 string: "the last"`, "3 "}
		if len(got) != len(want) {
			t.Fatalf("%q", got)
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%q, want %q", got[i], want[i])
			}
		}
	}
}

func TestCatchRustPanic(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "rustc")
	s, events := loadCatches(t, fixture.Build(t, "c/panics.rs", "-g"), session.CatchPanic)
	sameList(t, allCaught(t, s, events), []string{"3 ", "3 "})
}
