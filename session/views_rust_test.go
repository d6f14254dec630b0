package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// saidView is an expression and the text that the program wants to see for it.
type saidView struct{ expr, want string }

// saidViews parses the output of a program: an expression, a tab and a text on each line.
func saidViews(t *testing.T, output string) (list []saidView) {
	t.Helper()
	text, ready, ok := strings.Cut(output, "ready\n")
	if !ok {
		t.Fatalf("the program has not come to its stop: %q", ready)
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		expr, want, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("the program says %q", line)
		}
		list = append(list, saidView{expr, want})
	}
	return list
}

// frameOf returns the level of the frame of a function.
func frameOf(t *testing.T, s *session.Session, thread target.ThreadID, function string) int {
	t.Helper()
	bt, err := s.Backtrace(thread, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range bt.Frames {
		if f.FunctionName == function {
			return i
		}
	}
	t.Fatalf("no frame of %s", function)
	return 0
}

// lostView reports whether a text tells that a value is not known, in optimised code.
func lostView(text string) bool {
	// Go's compiler tells of many interfaces that both words are where only the second is:
	// docs/variables.md.
	if strings.HasPrefix(text, "{tab = 0x") {
		return true
	}
	for _, words := range []string{"<optimized out>", "<not saved>", "<synthetic pointer>", "optimized out", "not available", "No symbol", "has no address"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// checkViews compares what dbg shows with what the program says.
func checkViews(t *testing.T, s *session.Session, thread target.ThreadID, level int, list []saidView, optimised bool) {
	t.Helper()
	shown, wrong := 0, 0
	for _, x := range list {
		got := ""
		v, err := s.Evaluate(thread, level, x.expr)
		if err != nil {
			got = err.Error()
		} else {
			got = s.Format(v, eval.DefaultOptions())
		}
		switch {
		case got == x.want:
			shown++
		case optimised && (err != nil || lostView(got)): // an error is not a wrong value
		default:
			wrong++
			t.Errorf("%s\n shows %.300s\n  want %.300s", x.expr, got, x.want)
		}
	}
	t.Logf("%d of %d are shown, %d are wrong", shown, len(list), wrong)
	if !optimised && shown < len(list) {
		t.Errorf("%d of %d are shown", shown, len(list))
	}
}

// viewsLive runs a program until it aborts.
func viewsLive(t *testing.T, exe, function string) (s *session.Session, thread target.ThreadID, level int, said []saidView) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "said")
	dev := null(t)
	s, events := newSession(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{name}, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	thread = until[session.Stopped](t, events).Thread
	return s, thread, frameOf(t, s, thread, function), saidViewsIn(t, name)
}

// TestRustViews compares the views of Rust's standard library with what the program itself says: in
// a process and in a core, without optimisation and with it.
func TestRustViews(t *testing.T) {
	for _, x := range []struct {
		name      string
		flags     []string
		optimised bool
	}{
		{"debug", []string{"-g", "--edition=2021"}, false},
		{"release", []string{"-g", "--edition=2021", "-O"}, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			exe := fixture.Build(t, "view/rust.rs", x.flags...)
			t.Run("live", func(t *testing.T) {
				s, thread, level, said := viewsLive(t, exe, "rust::main")
				checkViews(t, s, thread, level, said, x.optimised)
			})
			t.Run("core", func(t *testing.T) {
				core, said := viewsCore(t, exe)
				s := openCore(t, core, "")
				thread := s.LastStop().Thread
				checkViews(t, s, thread, frameOf(t, s, thread, "rust::main"), said, x.optimised)
			})
		})
	}
}

// TestRustViewsOfPrograms does the same for programs that other versions of rustc have made of
// testdata/view/rust.rs: DBG_RUST_VIEWS is their paths, divided by colons. Versions without
// OnceCell need --cfg old.
func TestRustViewsOfPrograms(t *testing.T) {
	for _, exe := range strings.FieldsFunc(os.Getenv("DBG_RUST_VIEWS"), func(c rune) bool { return c == ':' }) {
		t.Run(filepath.Base(exe), func(t *testing.T) {
			s, thread, level, said := viewsLive(t, exe, "rust::main")
			checkViews(t, s, thread, level, said, strings.HasSuffix(exe, "-O"))
		})
	}
}

// viewsCore makes a core at the stop, and returns what the program has said.
func viewsCore(t *testing.T, exe string) (string, []saidView) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "said")
	core := fixture.Core(t, exe, name)
	return core, saidViewsIn(t, name)
}

func saidViewsIn(t *testing.T, name string) []saidView {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return saidViews(t, string(text))
}
