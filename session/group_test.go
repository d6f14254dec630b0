package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbg/internal/fixture"
	"dbg/session"
)

// loadTree loads the test runner of 210 children with a filter of the events of all its processes.
func loadTree(t *testing.T, args string, f session.FollowSettings) (*session.Session, <-chan session.Event) {
	t.Helper()
	exe := fixture.Build(t, "c/forktree.c", "-g", "-O0")
	s := session.New(session.Config{})
	t.Cleanup(func() { s.CloseGroup() })
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	if err := s.Load(session.Program{Path: exe, Args: strings.Fields(args), Stdin: null, Stdout: null, Stderr: null}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetFollowing(f); err != nil {
		t.Fatal(err)
	}
	events, cancel := s.SubscribeGroup()
	t.Cleanup(cancel)
	return s, events
}

// nextOf returns the next event of a group that a user sees.
func nextOf(t testing.TB, events <-chan session.Event) (*session.Session, session.Event) {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case ev, ok := <-events:
			if !ok {
				t.Fatal("the channel was closed")
			}
			from := ev.(session.From)
			switch from.Event.(type) {
			case session.Stopped, session.Ended, session.Forked:
				return from.Session, from.Event
			}
		case <-limit:
			t.Fatal("no event in a minute")
		}
	}
}

// TestGroupCrash: with all 210 children kept and running together, the one that crashes stops all,
// with its stack. No process ends, and none starts, while they are stopped. Then all end.
func TestGroupCrash(t *testing.T) {
	t.Parallel()
	s, events := loadTree(t, "10 4 4 crash 77", session.FollowSettings{KeepBoth: true, Together: true})
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	children, ended, killed, failed := 0, 0, 0, 0
	var crashed *session.Session
	count := func(from *session.Session, ev session.Event) {
		switch ev := ev.(type) {
		case session.Forked:
			children++
		case session.Ended:
			ended++
			switch {
			case ev.Signal != nil:
				killed++
			case ev.ExitCode != 0:
				failed++
			}
		}
	}
	for crashed == nil {
		from, ev := nextOf(t, events)
		count(from, ev)
		if st, ok := ev.(session.Stopped); ok {
			if st.Reason != session.StopSignal || st.Signal == nil || st.Signal.Number != 11 {
				t.Fatalf("%+v", st.Stop)
			}
			crashed = from
		}
	}
	bt, err := crashed.Backtrace(crashed.LastStop().Thread, 0, 20)
	if err != nil || len(bt.Frames) < 2 || bt.Frames[0].FunctionName != "work" {
		t.Fatalf("%+v, %v", bt, err)
	}
	v, err := crashed.Evaluate(crashed.LastStop().Thread, 0, "number")
	if text := crashed.Format(v, session.DefaultFormat()); err != nil || text != "77" {
		t.Errorf("number %s, %v", text, err)
	}
	for _, o := range s.Group() {
		deadline := time.Now().Add(time.Minute)
		for o.State() == session.IsRunning && time.Now().Before(deadline) {
			from, ev := nextOf(t, events)
			count(from, ev)
		}
	}
	if err := crashed.Continue(0); err != nil {
		t.Fatal(err)
	}
	for ended < 211 {
		from, ev := nextOf(t, events)
		count(from, ev)
		if st, ok := ev.(session.Stopped); ok && st.Reason != session.StopTogether {
			t.Fatalf("%+v", st.Stop)
		}
	}
	if children != 210 || killed != 1 || failed != 3 {
		t.Errorf("%d children, %d killed, %d failed", children, killed, failed)
	}
}

// TestGroupBreakpoint: a breakpoint has sites in every process, and one count of hits.
func TestGroupBreakpoint(t *testing.T) {
	t.Parallel()
	s, events := loadTree(t, "3 3 3", session.FollowSettings{KeepBoth: true, Together: true})
	b, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "work"}, Condition: "level == 3"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	stops, ended := 0, 0
	seen := map[int]bool{}
	for ended < 40 {
		from, ev := nextOf(t, events)
		switch ev := ev.(type) {
		case session.Ended:
			ended++
		case session.Stopped:
			if ev.Reason == session.StopTogether {
				continue
			}
			if ev.Reason != session.StopBreakpoint || len(ev.Breakpoints) != 1 || ev.Breakpoints[0] != b.ID {
				t.Fatalf("%+v", ev.Stop)
			}
			stops++
			seen[from.Number()] = true
			if err := from.Continue(0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if stops != 27 || len(seen) != 27 {
		t.Errorf("%d stops in %d processes", stops, len(seen))
	}
	for _, have := range s.Breakpoints() {
		if have.ID == b.ID && have.Hits != 27 {
			t.Errorf("%d hits", have.Hits)
		}
	}
}

// TestFollowChild: the session goes with the child of each fork, and a step over a fork ends in the
// child, in the frame where it began. The parent is detached, or stays where it is.
func TestFollowChild(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			s, events := loadTree(t, "1 1 1", session.FollowSettings{Child: true, KeepBoth: keep})
			line := lineWith(t, "c/forktree.c", "if ((pid = fork()) == 0)")
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{File: "forktree.c", Line: line}, Temporary: true}, false); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			if _, ev := nextOf(t, events); !isStop(ev, session.StopBreakpoint) {
				t.Fatalf("%+v", ev)
			}
			if err := s.Step(session.StepOver, 1); err != nil {
				t.Fatal(err)
			}
			_, ev := nextOf(t, events)
			f, ok := ev.(session.Forked)
			if !ok || !f.Followed || f.Detached == keep || f.Session == nil {
				t.Fatalf("%+v", ev)
			}
			for range 2 {
				from, ev := nextOf(t, events)
				switch {
				case from == s && keep && isStop(ev, session.StopFork):
				case from == s && !keep && ev.(session.Ended).Detached:
				case from == f.Session && isStop(ev, session.StopStep):
				default:
					t.Fatalf("%d: %+v", from.Number(), ev)
				}
			}
			child := f.Session
			bt, err := child.Backtrace(child.LastStop().Thread, 0, 1)
			if err != nil || bt.Frames[0].FunctionName != "start" || bt.Frames[0].Position.Line != line+1 {
				t.Fatalf("%+v, %v", bt, err)
			}
			if v, err := child.Evaluate(child.LastStop().Thread, 0, "pid"); err != nil || child.Format(v, session.DefaultFormat()) != "0" {
				t.Errorf("pid is not 0, %v", err)
			}
			if keep {
				if st := s.State(); st != session.IsStopped {
					t.Errorf("the parent's state is %v", st)
				}
			}
		})
	}
}

func isStop(ev session.Event, r session.StopReason) bool {
	st, ok := ev.(session.Stopped)
	return ok && st.Reason == r
}

// lineWith returns the number of the first line of a source in testdata that contains a text.
func lineWith(t *testing.T, source, text string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range strings.Split(string(b), "\n") {
		if strings.Contains(l, text) {
			return i + 1
		}
	}
	t.Fatalf("%s has no %q", source, text)
	return 0
}
