package session_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestEverythingStorm: a program with threads, signals, system calls, children and writes runs under
// a tracepoint, a log point, a watchpoint, a catchpoint, kept children and pauses. Nothing is lost, and
// the program's own counts hold.
func TestEverythingStorm(t *testing.T) {
	t.Parallel()
	const rounds = 256
	exe := fixture.Build(t, "c/busy.c", "-g", "-O0", "-pthread")
	s := session.New(session.Config{})
	t.Cleanup(func() { s.CloseGroup() })
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Args: []string{strconv.Itoa(rounds)}, Stdin: dev, Stdout: dev, Stderr: os.Stderr}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetFollowing(session.FollowSettings{KeepBoth: true, Together: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.HandleSignals("SIGUSR1 nostop noprint pass"); err != nil {
		t.Fatal(err)
	}
	set := func(spec session.BreakpointSpec) int {
		t.Helper()
		b, err := s.SetBreakpoint(spec, false)
		if err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	at := func(name string) session.LocationSpec { return session.LocationSpec{Function: name} }
	trace := set(session.BreakpointSpec{LocationSpec: at("traced"), Trace: &session.TraceSpec{Collect: []string{"who", "i"}}})
	logs := set(session.BreakpointSpec{LocationSpec: at("logged"), LogMessage: "who {who} i {i}"})
	never := set(session.BreakpointSpec{LocationSpec: at("traced"), Condition: "i < 0"})
	calls := set(session.BreakpointSpec{Catch: &session.CatchSpec{Kind: session.CatchSyscall, Syscalls: []int{110}}, Condition: "$rip == 0"})
	events, cancel := s.SubscribeGroup()
	t.Cleanup(cancel)
	main := set(session.BreakpointSpec{LocationSpec: at("main"), Temporary: true})
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if _, ev := nextOf(t, events); !isStop(ev, session.StopBreakpoint) {
		t.Fatalf("%d: %+v", main, ev)
	}
	watch := set(session.BreakpointSpec{Watch: &session.WatchSpec{Expr: "watched"}, Condition: "watched < 0"})
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	resumed := make(chan struct{}, 1000)
	go func() { // the user who presses Ctrl-C
		for {
			select {
			case <-over:
				return
			case <-time.After(time.Duration(1+rand.IntN(20)) * time.Millisecond): // a moment of the program's
				_ = s.Pause()
			}
			select {
			case <-over:
				return
			case <-resumed:
			}
		}
	}()
	messages, children, ended, pauses := 0, 0, 0, 0
	limit := time.After(time.Minute)
	for running := true; running; {
		select {
		case <-limit:
			for _, o := range s.Group() {
				ti, _ := o.Target()
				status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", ti.PID))
				t.Logf("session %d: state %v, last stop %+v, process %d: %.120s", o.Number(), o.State(), o.LastStop().Reason, ti.PID, status)
			}
			t.Fatalf("%d messages, %d children, %d ended, %d pauses", messages, children, ended, pauses)
		case ev, ok := <-events:
			if !ok {
				t.Fatal("the channel was closed")
			}
			from := ev.(session.From)
			switch ev := from.Event.(type) {
			case session.LogMessage:
				var who, i int
				if n, _ := fmt.Sscanf(ev.Text, "who %d i %d", &who, &i); n == 2 {
					messages++
				} else {
					t.Errorf("%+v", ev)
				}
			case session.Forked:
				children++
			case session.Ended:
				if from.Session == s {
					running = false
					if !ev.Exited || ev.ExitCode != 0 {
						t.Errorf("%+v", ev)
					}
				} else {
					ended++
					if ev.ExitCode != 7 {
						t.Errorf("%+v", ev)
					}
				}
			case session.Stopped:
				switch ev.Reason {
				case session.StopPause:
					pauses++
					// The others stop, too. One continue is for all.
					if err := from.Session.Continue(0); err != nil {
						t.Error(err)
					}
					resumed <- struct{}{}
				case session.StopTogether:
				default:
					t.Errorf("%+v", ev)
				}
			}
		}
	}
	close(over)
	if messages != rounds || children != 4*rounds/64 || ended != children {
		t.Errorf("%d log messages, %d children, %d of them ended with 7", messages, children, ended)
	}
	for _, b := range s.Breakpoints() {
		want := map[int]int{trace: 4 * rounds, logs: rounds, never: 0, watch: 0, calls: 0}[b.ID]
		if b.Hits != want {
			t.Errorf("breakpoint %d was hit %d times, not %d", b.ID, b.Hits, want)
		}
	}
	list, lost, err := s.TraceRecords(trace, 1, 10*rounds)
	if err != nil || lost != 0 || len(list) != 4*rounds {
		t.Errorf("%d records, %d lost, %v", len(list), lost, err)
	}
	t.Logf("%d pauses", pauses)
}
