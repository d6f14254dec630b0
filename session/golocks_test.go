package session_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// goLocker starts a case of testdata/process/golocks.go with a breakpoint at a function, and runs to
// it.
func goLocker(t *testing.T, flags []string, stopAt, mode string) *caller {
	t.Helper()
	exe := fixture.Build(t, "process/golocks.go", flags...)
	s, events := newSession(t)
	dev := null(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: exe, Args: []string{mode}, Stdin: dev, Stdout: dev, Stderr: dev}))
	c.breakAt(session.LocationSpec{Function: stopAt})
	c.must(s.Run())
	c.thread = until[session.Stopped](t, events).Thread
	return c
}

// TestGoDeadlocks: Go's runtime ends a program whose goroutines all wait. It is stopped there.
func TestGoDeadlocks(t *testing.T) {
	for _, b := range goBuilds {
		for _, x := range []struct {
			mode  string
			cycle int    // the number of goroutines in the cycle; 0: none
			waits string // reason, function and holder of each goroutine
			chans string
		}{
			{"mutexes", 2, "chan receive main.main, sync.Mutex.Lock main.transfer held, sync.Mutex.Lock main.transfer held", "receive bool 0 of 0 s0 r1"},
			{"channel", 0, "sync.Mutex.Lock main.consume held, chan send main.produce", "send int 0 of 0 s1 r0"},
			{"send", 0, "chan send main.main", "send string 1 of 1 s1 r0"},
			{"self", 1, "sync.Mutex.Lock main.again.func1 held", ""},
			{"group", 0, "sync.WaitGroup.Wait main.main", ""},
			{"select", 0, "select main.main", "receive int 0 of 0 s0 r1, send string 0 of 0 s1 r0"},
		} {
			t.Run(b.name+" "+x.mode, func(t *testing.T) {
				c := goLocker(t, b.flags, "runtime.fatal", x.mode)
				path := filepath.Join(t.TempDir(), "core")
				_, err := c.GenerateCore(path, session.CoreOptions{})
				c.must(err)
				core, _ := newSession(t)
				c.must(core.OpenCore(path, ""))
				for name, s := range map[string]*session.Session{"live": c.Session, "core": core} {
					l, err := s.Locks()
					c.must(err)
					if !l.GoStuck {
						t.Errorf("%s: the deadlock of all goroutines was not found", name)
					}
					if n := len(l.GoDeadlocks); x.cycle == 0 && n != 0 || x.cycle > 0 && (n != 1 || len(l.GoDeadlocks[0]) != x.cycle) {
						t.Errorf("%s: cycles %+v, want one of %d", name, l.GoDeadlocks, x.cycle)
					}
					var waits, chans []string
					for _, w := range l.Goroutines {
						text := w.Reason + " " + w.Function
						if w.Holder != 0 {
							text += " held"
						}
						waits = append(waits, text)
						for _, ch := range w.Channels {
							chans = append(chans, describeChannel(&ch))
						}
						if locks := strings.HasPrefix(w.Reason, "sync."); locks && w.Object == 0 {
							t.Errorf("%s: no lock is known of %+v", name, w)
						}
					}
					if got := strings.Join(waits, ", "); got != x.waits {
						t.Errorf("%s: waits\n %s, want\n %s", name, got, x.waits)
					}
					if got := strings.Join(chans, ", "); got != x.chans {
						t.Errorf("%s: channels %s, want %s", name, got, x.chans)
					}
				}
			})
		}
	}
}

func describeChannel(c *session.GoChannel) string {
	word := "receive"
	if c.Send {
		word = "send"
	}
	count := func(n int) string { return string(rune('0' + n)) }
	return word + " " + c.Elem + " " + count(int(c.Len)) + " of " + count(int(c.Cap)) + " s" + count(len(c.Senders)) + " r" + count(len(c.Receivers))
}

// TestGoNoFalseDeadlock: each program waits for a moment, and something will wake it.
func TestGoNoFalseDeadlock(t *testing.T) {
	for _, x := range []struct{ mode, reason string }{ // of the first goroutine
		{"sleep", "sync.Mutex.Lock"}, {"timer", "chan receive"}, {"after", "chan receive"}, {"signal", "chan receive"}, {"pipe", "chan receive"},
	} {
		t.Run(x.mode, func(t *testing.T) {
			c := goLocker(t, goBuilds[0].flags, "main.ready", x.mode)
			for {
				l, err := c.Locks()
				c.must(err)
				if l.GoStuck || len(l.GoDeadlocks) > 0 {
					t.Fatalf("a deadlock that is not one: %+v", l)
				}
				if len(l.Goroutines) > 0 && l.Goroutines[0].ID == 1 && l.Goroutines[0].Reason == x.reason {
					return
				}
				c.pauseLater()
			}
		})
	}
}

// pauseLater continues, and stops at the next breakpoint or soon.
func (c *caller) pauseLater() {
	c.t.Helper()
	c.must(c.Continue(0))
	runtime.Gosched()
	_ = c.Pause()
	until[session.Stopped](c.t, c.events)
}

// TestGoCycle finds a cycle of goroutines in a program whose first goroutine runs.
func TestGoCycle(t *testing.T) {
	for _, b := range goBuilds {
		t.Run(b.name, func(t *testing.T) {
			c := goLocker(t, b.flags, "main.ready", "awake")
			for {
				l, err := c.Locks()
				c.must(err)
				if l.GoStuck {
					t.Fatalf("not all goroutines wait: %+v", l)
				}
				waits := 0
				for _, w := range l.Goroutines {
					if w.Reason == "sync.Mutex.Lock" {
						waits++
					}
				}
				if waits == 2 {
					if len(l.GoDeadlocks) != 1 || len(l.GoDeadlocks[0]) != 2 {
						t.Errorf("cycles %+v", l.GoDeadlocks)
					}
					return
				}
				c.must(c.Continue(0))
				until[session.Stopped](t, c.events)
			}
		})
	}
}

// TestGoContention stops a program whose goroutines want the same locks, again and again.
func TestGoContention(t *testing.T) {
	for _, b := range goBuilds {
		t.Run(b.name, func(t *testing.T) {
			c := goLocker(t, b.flags, "main.both", "contend")
			list := c.Breakpoints()
			c.must(c.DeleteBreakpoint(list[0].ID))
			waits, held := map[string]int{}, 0
			for range 150 {
				c.pauseLater()
				l, err := c.Locks()
				c.must(err)
				if l.GoStuck || len(l.GoDeadlocks) > 0 {
					t.Fatalf("a deadlock that is not one: %+v", l)
				}
				for _, w := range l.Goroutines {
					waits[w.Reason]++
					if w.Holder != 0 {
						held++
					}
				}
			}
			t.Logf("waits %v, %d with a holder", waits, held)
			if waits["sync.Mutex.Lock"] == 0 || waits["sync.Cond.Wait"] == 0 {
				t.Errorf("no contention: %v", waits)
			}
		})
	}
}
