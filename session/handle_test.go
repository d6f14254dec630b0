package session

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"dbg/eval"
	"dbg/symbols/names"
)

// TestCancelledIndex: a query that needs an index of names ends with its context, leaves no state, and is answered
// when it is asked again.
func TestCancelledIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.c": "struct elsewhere;\nint use(struct elsewhere *p) { return !p; }\n",
		"b.c": "struct elsewhere { int one, two; } thing;\nint use(void *);\nint main(void) { return use(&thing); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(dir, "prog")
	if out, err := exec.Command("gcc", "-g", "-O0", "-o", exe, filepath.Join(dir, "a.c"), filepath.Join(dir, "b.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var during func()
	begun := 0
	s := New(Config{DebugDirs: []string{dir}, Indexing: func(p names.Progress) {
		if p.Done == 0 && !p.End {
			begun++
			during()
		}
	}})
	defer s.Close()
	if err := s.Load(Program{Path: exe}); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	thread, _ := s.Selected()
	cancelled := func(what string, ask func(*Session) error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		before := begun
		during = cancel
		if err := ask(s.Under(ctx)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
		if begun != before+1 {
			t.Errorf("%s: %d indexes were begun", what, begun-before)
		}
	}
	cancelled("a breakpoint", func(s *Session) error {
		_, err := s.SetBreakpoint(BreakpointSpec{LocationSpec: LocationSpec{Function: "int"}}, true)
		return err
	})
	cancelled("a breakpoint of a set", func(s *Session) error {
		out := s.ReplaceBreakpoints("x", []BreakpointWish{{Spec: BreakpointSpec{LocationSpec: LocationSpec{Function: "int"}}}})
		return out[0].Err
	})
	if list := s.Breakpoints(); len(list) != 0 {
		t.Errorf("%d breakpoints", len(list))
	}
	// In a frame from which a pointer leads to a structure that is only declared there.
	during = func() {}
	if _, err := s.SetBreakpoint(BreakpointSpec{LocationSpec: LocationSpec{File: "a.c", Line: 2}}, false); err != nil {
		t.Fatal(err)
	}
	events, unsubscribe := s.Subscribe()
	defer unsubscribe()
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	for ev := range events {
		if _, ok := ev.(Stopped); ok {
			break
		}
	}
	size := func(s *Session) error {
		v, err := s.Evaluate(thread, 0, "sizeof(*p)")
		if err == nil {
			if text := s.Format(v, eval.DefaultOptions()); text != "8" {
				t.Errorf("the size is %q", text)
			}
		}
		return err
	}
	cancelled("a type", size)
	during = func() {}
	if err := size(s); err != nil {
		t.Errorf("asked again: %v", err)
	}
}

// TestAt: a question about a stop is refused once the process has moved.
func TestAt(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	defer s.Close()
	path, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(Program{Path: path}); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	first := s.LastStop().Number
	thread, _ := s.Selected()
	at := s.At(first)
	if _, err := at.Frame(thread, 0); err != nil {
		t.Errorf("at the stop: %v", err)
	}
	events, unsubscribe := s.Subscribe()
	defer unsubscribe()
	if err := s.Step(StepInstruction, 1); err != nil {
		t.Fatal(err)
	}
	for ev := range events {
		if st, ok := ev.(Stopped); ok {
			if st.Number <= first {
				t.Errorf("stop %d after stop %d", st.Number, first)
			}
			if _, err := s.At(st.Number).Frame(thread, 0); err != nil {
				t.Errorf("at the new stop: %v", err)
			}
			break
		}
	}
	if _, err := at.Frame(thread, 0); !errors.Is(err, ErrStale) {
		t.Errorf("after it: %v", err)
	}
	if err := at.Continue(0); !errors.Is(err, ErrStale) {
		t.Errorf("a verb: %v", err)
	}
}

// TestCursors: each client looks where it likes, until the next stop.
func TestCursors(t *testing.T) {
	t.Parallel()
	s := New(Config{})
	defer s.Close()
	other, leave := s.NewClient()
	err := s.try(func() error {
		s.point(7)
		other.selected, other.level = 9, 2
		other.vars["x"] = Value{}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if thread, level := s.Under(context.Background()).Selected(); thread != 7 || level != 0 || len(s.vars) != 0 {
		t.Errorf("the first client looks at thread %d, frame %d", thread, level)
	}
	if thread, level := other.Selected(); thread != 9 || level != 2 {
		t.Errorf("the other one looks at thread %d, frame %d", thread, level)
	}
	s.do(func() { s.point(3) })
	if thread, level := other.Selected(); thread != 3 || level != 0 {
		t.Errorf("after a stop the other one looks at thread %d, frame %d", thread, level)
	}
	leave()
	s.do(func() { s.point(4) })
	if thread, _ := other.Selected(); thread != 3 {
		t.Errorf("it has left, and looks at thread %d", thread)
	}
}
