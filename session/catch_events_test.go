package session_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/session"
)

// TestCatchEvents: children, libraries, a signal, threads and another program are caught, in order,
// and the program's own checks hold.
func TestCatchEvents(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/catches.c", "-g", "-O0", "-pthread", "-ldl")
	s, events := loadCatches(t, exe, session.CatchFork, session.CatchVfork, session.CatchThreadStart, session.CatchExec, session.CatchUnload)
	exit := setCatch(t, s, session.CatchSpec{Kind: session.CatchThreadExit})
	exits := 0
	setCatch(t, s, session.CatchSpec{Kind: session.CatchLoad, Match: "libm"})
	setCatch(t, s, session.CatchSpec{Kind: session.CatchSignal, Signals: []int{10}})
	if err := s.SetSignal(10, session.SignalSetting{}); err != nil { // caught in spite of that, and then discarded
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		ev, ok := next(t, events).(session.Stopped)
		if !ok {
			break
		}
		c := ev.Caught
		if ev.Reason != session.StopCatch || c == nil {
			t.Fatalf("%+v", ev.Stop)
		}
		text := fmt.Sprint(c.Kind)
		switch c.Kind {
		case session.CatchThreadExit:
			// The kernel may report the end of the thread only after another stop, which then has both.
			text = ""
		case session.CatchFork:
			v, err := s.Evaluate(ev.Thread, 0, "$rax")
			if err != nil || s.Format(v, session.DefaultFormat()) != fmt.Sprint(c.Child) {
				t.Errorf("fork has not returned %d, %v", c.Child, err)
			}
		case session.CatchLoad, session.CatchUnload:
			text += " " + strings.SplitN(filepath.Base(c.Paths[0]), ".", 2)[0]
		case session.CatchExec:
			text += fmt.Sprint(c.Path == exe)
		case session.CatchSignal:
			text += fmt.Sprint(" ", c.Signal)
		case session.CatchThreadStart:
			if c.Thread != ev.Thread {
				t.Errorf("thread %d started, thread %d stopped", c.Thread, ev.Thread)
			}
		}
		if text != "" {
			got = append(got, text)
		}
		if slices.Contains(ev.Breakpoints, exit.ID) {
			exits++
		}
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
	}
	if exits != 1 {
		t.Errorf("%d ends of threads", exits)
	}
	k := func(kind session.CatchKind, rest string) string { return fmt.Sprint(kind) + rest }
	sameList(t, got, []string{k(session.CatchFork, ""), k(session.CatchVfork, ""), k(session.CatchSignal, " 10"), k(session.CatchThreadStart, ""),
		k(session.CatchLoad, " libm"), k(session.CatchUnload, " libm"), k(session.CatchExec, "true")})
}

// TestCatchSyscall: the stops of a catchpoint for system calls, with a call that never returns, one
// that executes another program, and one that creates a child. A disabled catchpoint costs nothing.
func TestCatchSyscall(t *testing.T) {
	t.Parallel()
	exe := fixture.Build(t, "c/catches.c", "-g", "-O0", "-pthread", "-ldl")
	s, events := loadCatches(t, exe, session.CatchFork)
	numbers, err := session.ParseSyscalls([]string{"clone", "wait4", "59", "exit_group"})
	if err != nil {
		t.Fatal(err)
	}
	setCatch(t, s, session.CatchSpec{Kind: session.CatchSyscall, Syscalls: numbers})
	off := setCatch(t, s, session.CatchSpec{Kind: session.CatchSyscall})
	if err := s.EnableBreakpoint(off.ID, false); err != nil {
		t.Fatal(err)
	}
	set := s.Signal(10)
	set.Stop = false
	if err := s.SetSignal(10, set); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		ev, ok := next(t, events).(session.Stopped)
		if !ok {
			break
		}
		c := ev.Caught
		if ev.Reason != session.StopCatch || c == nil {
			t.Fatalf("%+v", ev.Stop)
		}
		name, _ := session.SyscallName(c.Syscall)
		if c.Kind == session.CatchFork {
			name = "fork"
		}
		text := fmt.Sprint(name, " ", c.Returned, " ", len(ev.Breakpoints))
		got = append(got, text)
		if err := s.Continue(0); err != nil {
			t.Fatal(err)
		}
	}
	sameList(t, got, []string{"clone false 1", "fork false 2", "wait4 false 1", "wait4 true 1", "wait4 false 1", "wait4 true 1",
		"execve false 1", "execve true 1", "exit_group false 1"})
}

// TestCatchSyscallHits: an ignore count counts the calls of four threads. Each is counted at its
// entry and at its return.
func TestCatchSyscallHits(t *testing.T) {
	t.Parallel()
	const rounds = 250
	exe := fixture.Build(t, "c/calls.c", "-g", "-O1", "-pthread")
	s, events := newSession(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := s.Load(session.Program{Path: exe, Args: []string{fmt.Sprint(rounds)}, Stdin: null(t), Stdout: w, Stderr: w}); err != nil {
		t.Fatal(err)
	}
	numbers, err := session.ParseSyscalls([]string{"getppid"})
	if err != nil {
		t.Fatal(err)
	}
	spec := session.BreakpointSpec{Catch: &session.CatchSpec{Kind: session.CatchSyscall, Syscalls: numbers}, Ignore: 8*rounds - 1}
	b, err := s.SetBreakpoint(spec, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	st := until[session.Stopped](t, events)
	if st.Caught == nil || !st.Caught.Returned {
		t.Errorf("%+v", st.Stop)
	}
	if list := s.Breakpoints(); len(list) != 1 || list[0].ID != b.ID || list[0].Hits != 8*rounds {
		t.Errorf("%+v", list)
	}
	if _, ended := goOn(t, s, events); !ended {
		t.Error("it has not ended")
	}
	text, _ := io.ReadAll(r)
	if !strings.HasPrefix(string(text), fmt.Sprint(4*rounds, " ")) {
		t.Errorf("%q", text)
	}
}

// TestCatchAgainstGDB: gdb stops in the same functions, with the same words before.
func TestCatchAgainstGDB(t *testing.T) {
	t.Parallel()
	for source, catches := range map[string][]string{
		"c/exceptions.cc": {"throw", "catch", "rethrow"},
		"c/catches.c":     {"fork", "vfork", "exec"},
	} {
		flags := []string{"-g", "-O0"}
		if strings.HasSuffix(source, ".c") {
			flags = append(flags, "-pthread", "-ldl")
		}
		exe := fixture.Build(t, source, flags...)
		args := []string{exe}
		kinds := map[string]session.CatchKind{"throw": session.CatchThrow, "catch": session.CatchCatch, "rethrow": session.CatchRethrow,
			"fork": session.CatchFork, "vfork": session.CatchVfork, "exec": session.CatchExec}
		var list []session.CatchKind
		for _, c := range catches {
			args = append(args, "-ex", "catch "+c)
			list = append(list, kinds[c])
		}
		args = append(args, "-ex", "handle SIGUSR1 nostop noprint", "-ex", "run")
		for range 25 {
			args = append(args, "-ex", gdbpeer.Stack, "-ex", "continue")
		}
		want := gdbpeer.Frames(gdbpeer.Run(t, args...))
		s, events := loadCatches(t, exe, list...)
		set := s.Signal(10)
		set.Stop = false
		if err := s.SetSignal(10, set); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if len(want[i]) == 0 {
				break
			}
			st, ok := next(t, events).(session.Stopped)
			if !ok {
				t.Fatalf("%s: dbg has stopped %d times, gdb is at %s", source, i, describeGDB(want[i][0]))
			}
			f, err := s.Frame(st.Thread, 0)
			if err != nil {
				t.Fatal(err)
			}
			if g, w := describe(f), describeGDB(want[i][0]); g != w && !aliases(t, f, want[i][0]) {
				t.Errorf("%s, stop %d\n  dbg: %s\n  gdb: %s", source, i, g, w)
			}
			if err := s.Continue(0); err != nil {
				t.Fatal(err)
			}
		}
		if _, ok := next(t, events).(session.Ended); !ok {
			t.Errorf("%s: dbg stops more often than gdb", source)
		}
	}
}

// TestSyscallGroups: groups are sets of known calls.
func TestSyscallGroups(t *testing.T) {
	for group, member := range map[string]string{"file": "openat", "descriptor": "read", "network": "socket", "ipc": "shmat", "memory": "mmap", "process": "execve", "signal": "tgkill"} {
		list, err := session.ParseSyscalls([]string{"g:" + group})
		one, err2 := session.ParseSyscalls([]string{member})
		if err != nil || err2 != nil || !slices.Contains(list, one[0]) {
			t.Errorf("%s: %v, %v, %v", group, list, err, err2)
		}
	}
}
