package session_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestDeadlocks: each kind of deadlock is found, with all its threads and no other, in the process
// and in a core of it.
func TestDeadlocks(t *testing.T) {
	for _, c := range []struct {
		args    []string
		threads int // in the cycle; 0: there is none
		kinds   string
		live    bool // a core does not show it
	}{
		{[]string{"ring", "2"}, 2, "mutex", false},
		{[]string{"ring", "10"}, 10, "mutex", false},
		{[]string{"ring", "50"}, 50, "mutex", false},
		{[]string{"recursive", "3"}, 3, "mutex", false},
		{[]string{"robust", "3"}, 3, "mutex", false},
		{[]string{"rwlock"}, 2, "write lock, read lock", false},
		{[]string{"self"}, 1, "mutex", false},
		{[]string{"join"}, 2, "thread, mutex", false},
		{[]string{"child"}, 1, "child", true},
		{[]string{"cond"}, 0, "", false},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			exe := fixture.Build(t, "process/deadlock.c", "-g", "-O1")
			s, core := untilBlocked(t, exe, c.args...)
			for name, s := range map[string]*session.Session{"live": s, "core": core} {
				l, err := s.Locks()
				if err != nil {
					t.Fatal(err)
				}
				if c.threads == 0 || name == "core" && c.live {
					if len(l.Deadlocks) != 0 {
						t.Errorf("%s: a deadlock that is not one: %+v", name, l.Deadlocks)
					}
					continue
				}
				if len(l.Deadlocks) != 1 || len(l.Deadlocks[0]) != c.threads {
					t.Fatalf("%s: deadlocks %+v, want one of %d threads; waits: %+v", name, l.Deadlocks, c.threads, l.Waits)
				}
				for _, w := range l.Deadlocks[0] {
					if !strings.Contains(c.kinds, w.Kind.Name()) {
						t.Errorf("%s: thread %d waits for a %s, want %s", name, w.Thread.Number, w.Kind.Name(), c.kinds)
					}
				}
			}
		})
	}
}

// TestDeadlocksOfStrippedLibrary: the C library's debug information is not needed.
func TestDeadlocksOfStrippedLibrary(t *testing.T) {
	for _, mode := range []string{"ring", "rwlock", "join"} {
		exe := fixture.Build(t, "process/deadlock.c", "-g", "-O1")
		s := session.New(session.Config{DebugDirs: []string{t.TempDir()}})
		events, cancel := s.Subscribe()
		t.Cleanup(func() { s.Close(); cancel() })
		dev := null(t)
		if err := s.Load(session.Program{Path: exe, Args: []string{mode}, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if _, ok := next(t, events).(session.Stopped); !ok {
			t.Fatal("no stop")
		}
		if l, err := s.Locks(); err != nil || len(l.Deadlocks) != 1 || len(l.Deadlocks[0]) != 2 {
			t.Errorf("%s: deadlocks %+v of %+v, %v", mode, l.Deadlocks, l.Waits, err)
		}
	}
}

// TestLocksWithoutHolder: a Mutex of Rust and one of Go do not record which thread holds them. The threads
// are listed, and no holder is named.
func TestLocksWithoutHolder(t *testing.T) {
	t.Run("rust", func(t *testing.T) {
		exe := fixture.Build(t, "process/deadlock.rs", "-g")
		s, core := untilBlocked(t, exe)
		for name, s := range map[string]*session.Session{"live": s, "core": core} {
			l, err := s.Locks()
			if err != nil || len(l.Deadlocks) != 0 {
				t.Fatalf("%s: %+v, %v", name, l.Deadlocks, err)
			}
			n := 0
			for _, w := range l.Waits {
				if w.Kind == session.WaitRustMutex && w.Holder == 0 && w.Object != 0 {
					n++
				}
			}
			if n != 2 {
				t.Errorf("%s: %d threads wait for a Mutex, want 2: %+v", name, n, l.Waits)
			}
		}
	})
	t.Run("go", func(t *testing.T) {
		exe := fixture.Build(t, "process/deadlock.go")
		s, core := untilBlocked(t, exe)
		for name, s := range map[string]*session.Session{"live": s, "core": core} {
			if l, err := s.Locks(); err != nil || len(l.Deadlocks) != 0 {
				t.Errorf("%s: %+v, %v", name, l.Deadlocks, err)
			}
		}
	})
}

// untilBlocked runs a program until it raises SIGUSR2, and opens a core that it writes of it.
func untilBlocked(t *testing.T, exe string, args ...string) (live, core *session.Session) {
	t.Helper()
	live, _ = ranIntoSignal(t, exe, args...)
	path := filepath.Join(t.TempDir(), "core")
	if _, err := live.GenerateCore(path, session.CoreOptions{}); err != nil {
		t.Fatal(err)
	}
	core, _ = newSession(t)
	if err := core.OpenCore(path, ""); err != nil {
		t.Fatal(err)
	}
	return live, core
}

// TestNoFalseDeadlock stops a program whose threads contend for locks, again and again: none of its
// waits is a deadlock.
func TestNoFalseDeadlock(t *testing.T) {
	exe := fixture.Build(t, "process/contention.c", "-g", "-O1")
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "checkpoint"}}, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	stops := 1000
	if testing.Short() {
		stops = 60
	}
	kinds := map[string]int{}
	held := 0
	for range stops {
		if _, ok := next(t, events).(session.Stopped); !ok {
			t.Fatal("the program ended")
		}
		l, err := s.Locks()
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Deadlocks) != 0 {
			t.Fatalf("a deadlock that is not one: %s", describeWaits(l.Deadlocks[0]))
		}
		for _, w := range l.Waits {
			kinds[w.Kind.Name()]++
			if w.Holder != 0 {
				held++
			}
		}
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d stops, waits %v, %d with a holder", stops, kinds, held)
	if kinds["mutex"] == 0 || held == 0 {
		t.Error("no thread ever waited for a mutex")
	}
}

func describeWaits(list []session.Wait) (out string) {
	for _, w := range list {
		out += fmt.Sprintf("thread %d waits for %s %s, held by %d; ", w.Thread.ID, w.Kind, w.Object, w.Holder)
	}
	return out
}

// TestDeadlockOfMusl: musl's recursive mutexes record their owner, its normal ones do not.
func TestDeadlockOfMusl(t *testing.T) {
	fixture.Need(t, "musl-gcc")
	exe := fixture.Build(t, "process/deadlock.c", "cc=musl-gcc", "-g", "-O1")
	for mode, want := range map[string]int{"recursive": 1, "ring": 0} {
		s, core := untilBlocked(t, exe, mode, "3")
		for name, s := range map[string]*session.Session{"live": s, "core": core} {
			l, err := s.Locks()
			if err != nil || len(l.Deadlocks) != want || want > 0 && len(l.Deadlocks[0]) != 3 {
				t.Errorf("%s, %s: deadlocks %+v of %+v, %v", mode, name, l.Deadlocks, l.Waits, err)
			}
			mutexes := 0
			for _, w := range l.Waits {
				if w.Kind == session.WaitMutex {
					mutexes++
				}
			}
			if mutexes != 3 {
				t.Errorf("%s, %s: %d threads wait for a mutex, want 3", mode, name, mutexes)
			}
		}
	}
}
