package session_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbg/eval"
	"dbg/internal/fault"
	"dbg/internal/fixture"
	"dbg/session"
)

// passingCore is the program "passing" of its own folder, with a library, and a core of it.
func passingCore(t *testing.T) (exe, core string) {
	t.Helper()
	fixture.Need(t, "gdb")
	dir := t.TempDir()
	source := filepath.Join(dir, "passing.c")
	exe = filepath.Join(dir, "passing")
	if err := os.WriteFile(source, []byte(passing), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-g", "-O2", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe, fixture.Core(t, exe)
}

// TestPipesAreNotWaitedFor: a FIFO in the place of a program, a core, or a file that a core names, is refused or left out; nobody waits for
// its writer.
func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	exe, core := passingCore(t)
	if err := os.Remove(exe); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(exe, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := session.New(session.Config{})
		defer s.Close()
		for what, err := range map[string]error{
			"a core": s.OpenCore(exe, ""), "a core's program": s.OpenCore(core, exe), "a program": s.Load(session.Program{Path: exe}),
		} {
			if err == nil {
				t.Errorf("%s may be a FIFO", what)
			}
		}
		if err := s.OpenCore(core, ""); err != nil {
			t.Errorf("a core whose program is a FIFO now: %v", err)
			return
		}
		if thread, _ := s.Selected(); thread != 0 {
			if bt, err := s.Backtrace(thread, 0, 0); err != nil || len(bt.Frames) == 0 {
				t.Errorf("%d frames, %v", len(bt.Frames), err)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("somebody waits")
	}
}

// TestFilesCutShortInUse: files that are mapped and are cut short meanwhile make queries fail, and nothing else.
func TestFilesCutShortInUse(t *testing.T) {
	t.Parallel()
	cut, rounds := 0, 8
	if fixture.All() {
		rounds = 1000
	}
	exe, core := passingCore(t)
	for i := range rounds {
		dir := t.TempDir()
		copied := map[string]string{}
		for _, path := range []string{exe, core} {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			copied[path] = filepath.Join(dir, filepath.Base(path))
			if err := os.WriteFile(copied[path], data, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		s := session.New(session.Config{})
		if err := s.OpenCore(copied[core], copied[exe]); err != nil {
			t.Fatal(err)
		}
		thread, _ := s.Selected()
		victim := copied[exe]
		if i%3 == 0 {
			victim = copied[core]
		}
		st, err := os.Stat(victim)
		if err != nil {
			t.Fatal(err)
		}
		ask := func() (errs []error) {
			bt, err := s.Backtrace(thread, 0, 0)
			errs = append(errs, err)
			for _, f := range bt.Frames {
				v, err := s.Evaluate(thread, f.Level, "p->b")
				if err == nil {
					s.Format(v, eval.DefaultOptions())
				}
				errs = append(errs, err)
			}
			_, err = s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{File: "passing.c", Line: 9}}, false)
			_, e2 := s.Evaluate(thread, 0, "sizeof(struct box)")
			return append(errs, err, e2)
		}
		if i%2 == 0 {
			ask()
		}
		if err := os.Truncate(victim, st.Size()*int64(i)/int64(rounds)/4096*4096); err != nil {
			t.Fatal(err)
		}
		for _, err := range ask() {
			var file *fault.FileError
			var mine *fault.PanicError
			switch {
			case errors.As(err, &file):
				cut++
				if !strings.Contains(err.Error(), victim) {
					t.Errorf("%v, and it was %s", err, victim)
				}
			case errors.As(err, &mine):
				t.Errorf("%v\n%s", err, mine.Stack)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if cut == 0 {
		t.Error("nothing was read of what was cut off")
	}
}
