package session_test

import (
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/session"
)

// TestSkipAgainstGDB steps through a program with functions to skip, and expects to be where gdb is
// after each step.
func TestSkipAgainstGDB(t *testing.T) {
	exe := fixture.Build(t, "c/steps.c", "-g", "-O0")
	for command, spec := range map[string]session.SkipSpec{
		"skip factorial":             {Function: "factorial"},
		"skip function half":         {Function: "half"},
		"skip function apply(int)":   {Function: "apply(int)"},
		"skip -rfu ^(half|shift)$":   {Function: "^(half|shift)$", FunctionRegex: true},
		"skip -fi steps.c":           {File: "steps.c"},
		"skip -gfi *.c":              {File: "*.c", FileGlob: true},
		"skip -gfi /nowhere/*.c":     {File: "/nowhere/*.c", FileGlob: true},
		"skip -fi steps.c -fu shift": {File: "steps.c", Function: "shift"},
		"skip -fi other.c -fu shift": {File: "other.c", Function: "shift"},
		"skip twice":                 {Function: "twice"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			const n = 40
			args := []string{exe, "-ex", command, "-ex", "break main", "-ex", "run"}
			for range n {
				args = append(args, "-ex", gdbpeer.Stack, "-ex", "step")
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
			if _, err := s.AddSkip(spec); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if len(want[i]) == 0 {
					return // gdb's program has ended
				}
				if !strings.Contains(describeGDB(want[i][0]), "steps.c") {
					return // in the optimised C library, where the skips say nothing
				}
				stop, ok := next(t, events).(session.Stopped)
				if !ok {
					t.Fatalf("step %d: dbg's program has ended, gdb is at %s", i, describeGDB(want[i][0]))
				}
				f, err := s.Frame(stop.Thread, 0)
				if err != nil {
					t.Fatal(err)
				}
				if g, w := describe(f), describeGDB(want[i][0]); g != w && !aliases(t, f, want[i][0]) {
					t.Fatalf("after %d steps\n  dbg: %s\n  gdb: %s", i, g, w)
				}
				if err := s.Step(session.StepInto, 1); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestSkipList: entries are numbered, disabled and deleted; what can't be compiled is refused.
func TestSkipList(t *testing.T) {
	t.Parallel()
	s, _ := newSession(t)
	for i, spec := range []session.SkipSpec{{Function: "f"}, {File: "a.c"}, {Function: "^g", FunctionRegex: true}} {
		if n, err := s.AddSkip(spec); err != nil || n != i+1 {
			t.Fatal(n, err)
		}
	}
	if _, err := s.AddSkip(session.SkipSpec{Function: "(", FunctionRegex: true}); err == nil {
		t.Error("a bad regular expression was taken")
	}
	if _, err := s.AddSkip(session.SkipSpec{File: "[", FileGlob: true}); err == nil {
		t.Error("a bad pattern was taken")
	}
	if !s.EnableSkip(2, false) || s.EnableSkip(9, false) || !s.DeleteSkip(1) || s.DeleteSkip(1) {
		t.Error("wrong entries were changed")
	}
	list := s.Skips()
	if len(list) != 2 || list[0].Number != 2 || list[0].Enabled || !list[1].Enabled {
		t.Errorf("%+v", list)
	}
}
