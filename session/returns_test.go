package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// TestReturnLines sets breakpoints on lines that return from the middle of functions, and expects a stop each time that a line is
// reached, when all locals before it have been made. The program counts.
func TestReturnLines(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata/c/returns.cc"))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for i, text := range strings.Split(string(source), "\n") {
		if _, mark, ok := strings.Cut(text, "; // "); ok {
			lines[mark] = i + 1
		}
	}
	// What the locals are when a line is reached.
	locals := [4]map[string]string{{"a": "{v = 1}"}, {"a": "{v = 1}", "b": "{v = 2}", "c": "{v = 3}"}, {"a": "{v = 1}", "b": "{v = 2}", "d": "{v = 4}"}, {}}
	for _, tool := range []string{"g++", "clang++-19"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			exe := fixture.Build(t, "c/returns.cc", "cc="+tool, "-g", "-O0")
			s, events := newSession(t)
			dev := null(t)
			if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				spec := session.BreakpointSpec{LocationSpec: session.LocationSpec{File: "returns.cc", Line: line}}
				if _, err := s.SetBreakpoint(spec, false); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			var stops [4]int
			for {
				stop, ok := next(t, events).(session.Stopped)
				if !ok {
					t.Fatal("the program has ended before its last line")
				}
				f, err := s.Frame(stop.Thread, 0)
				if err != nil {
					t.Fatal(err)
				}
				if f.Position.Line == lines["end"] {
					break
				}
				k := -1
				for i := range stops {
					if f.Position.Line == lines[fmt.Sprint("here: ", i)] {
						k = i
					}
				}
				if k < 0 {
					t.Fatalf("a stop on line %d", f.Position.Line)
				}
				stops[k]++
				values, err := s.Variables(stop.Thread, 0, session.ScopeLocals)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range values {
					if want, ok := locals[k][v.Name]; ok && s.Format(v, eval.DefaultOptions()) != want {
						t.Errorf("line %d: %s is %s, want %s", f.Position.Line, v.Name, s.Format(v, eval.DefaultOptions()), want)
					}
				}
				if err := s.Continue(0); err != nil {
					t.Fatal(err)
				}
			}
			thread, _ := s.Selected()
			v, err := s.Evaluate(thread, 0, "reached")
			if err != nil {
				t.Fatal(err)
			}
			if got, want := fmt.Sprintf("{%d, %d, %d, %d}", stops[0], stops[1], stops[2], stops[3]), s.Format(v, eval.DefaultOptions()); got != want {
				t.Errorf("stops %s, the program says %s", got, want)
			}
		})
	}
}
