package session_test

import (
	"bytes"
	"os/exec"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestAttachHundredTimes attaches to a program under load and lets it go again,
// a hundred times, with a breakpoint in its hottest function each time: it
// computes what it computes when nobody looks.
func TestAttachHundredTimes(t *testing.T) {
	exe := fixture.Build(t, "c/compute.c", "-g", "-O1")
	alone, err := exec.Command(exe, "3").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := bytes.Cut(alone, []byte("\n"))

	cmd, in, out := start(t, exe)
	before := hotCode(t, exe, cmd.Process.Pid)
	hits := 0
	for n := range 100 {
		s, events := newSession(t)
		if err := s.Attach(cmd.Process.Pid); err != nil {
			t.Fatalf("attach %d: %v", n, err)
		}
		threads, err := s.Threads()
		if err != nil || len(threads) != 5 {
			t.Fatalf("attach %d: %d threads, %v", n, len(threads), err)
		}
		for _, th := range threads {
			bt := backtrace(t, s, th.ID)
			if last := bt[len(bt)-1].FunctionName; last != "_start" && last != "clone3" && last != "__clone3" && last != "__GI___clone3" {
				t.Errorf("attach %d: the backtrace of %d ends at %q", n, th.ID, last)
			}
		}
		if n%2 == 0 {
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "mix"}}, false); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := s.Continue(0); err != nil {
					t.Fatal(err)
				}
				if stop := until[session.Stopped](t, events); stop.Reason != session.StopBreakpoint {
					t.Fatalf("attach %d: stopped for %+v", n, stop.Stop)
				}
				hits++
			}
		}
		if n%4 == 1 {
			err = s.Close() // leaving does what detaching does
		} else {
			err = s.Detach()
		}
		if err != nil {
			t.Fatalf("detach %d: %v", n, err)
		}
		s.Close()
	}
	if after := hotCode(t, exe, cmd.Process.Pid); !bytes.Equal(before, after) {
		t.Errorf("the code of mix is % x, was % x", after, before)
	}
	in.Close()
	got, err := out.ReadString('\n')
	if err != nil || got != string(want) {
		t.Errorf("after %d stops the program says %q (%v), alone it says %q", hits, got, err, want)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// hotCode reads the bytes of the function mix as the process has them, with
// nobody attached.
func hotCode(t *testing.T, exe string, pid int) []byte {
	t.Helper()
	s, _ := newSession(t)
	if err := s.Attach(pid); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := s.ParseAddress("mix")
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 32)
	if _, err := s.ReadMemory(a, buf); err != nil {
		t.Fatal(err)
	}
	return buf
}

// TestAttachBriefly sees the same backtrace in the short look as in the long one.
func TestAttachBriefly(t *testing.T) {
	exe := fixture.Build(t, "c/waiter.c", "-g", "-O1")
	cmd, in, out := start(t, exe)
	settled(t, cmd.Process.Pid)
	var seen [2][]session.Frame
	for i := range seen {
		s, _ := newSession(t)
		attach := s.Attach
		if i == 1 {
			attach = s.AttachBriefly
		}
		if err := attach(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		seen[i] = backtrace(t, s, target.ThreadID(cmd.Process.Pid))
		if err := s.Detach(); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen[0]) != len(seen[1]) || len(seen[0]) < 5 {
		t.Fatalf("%d frames, %d in the short look", len(seen[0]), len(seen[1]))
	}
	for i := range seen[0] {
		if a, b := describe(seen[0][i]), describe(seen[1][i]); a != b {
			t.Errorf("frame %d: %s, in the short look %s", i, a, b)
		}
	}
	in.Close()
	if line, err := out.ReadString('\n'); err != nil || line != "result 7\n" {
		t.Errorf("%q, %v", line, err)
	}
}
