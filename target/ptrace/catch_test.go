package ptrace

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
	"dbg/target"
)

// callCounts counts system calls: begun and returned, by number.
type callCounts struct {
	mu     sync.Mutex // guards all fields
	begun  map[int]int
	ended  map[int]int
	inside map[target.ThreadID]int // the call that a thread has begun, plus 1
	wrong  []string
}

func (c *callCounts) add(h *target.Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := h.Syscall.Number
	if h.Syscall.Return {
		c.ended[n]++
		if c.inside[h.Thread] != n+1 {
			c.wrong = append(c.wrong, fmt.Sprintf("%d returned in thread %d, which was in %d", n, h.Thread, c.inside[h.Thread]-1))
		}
		c.inside[h.Thread] = 0
		return
	}
	c.begun[n]++
	if c.inside[h.Thread] != 0 {
		c.wrong = append(c.wrong, fmt.Sprintf("%d began in thread %d, which was in %d", n, h.Thread, c.inside[h.Thread]-1))
	}
	c.inside[h.Thread] = n + 1
}

// TestSyscallStorm: four threads make 10,000 system calls and count them, while signals and pauses
// interrupt them. Each call is caught once at its entry and once at its return.
func TestSyscallStorm(t *testing.T) {
	t.Parallel()
	rounds := 2500
	if testing.Short() {
		rounds = 500
	}
	exe := fixture.Build(t, "c/calls.c", "-g", "-O1", "-pthread")
	for name, args := range map[string][]string{"plain": nil, "signals": {"signals"}} {
		for _, pauses := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", name, pauses), func(t *testing.T) {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				p, err := Launch(LaunchOptions{Path: exe, Args: append([]string{fmt.Sprint(rounds)}, args...), Stdout: w})
				w.Close()
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				p.SetSignalPolicy(int(unix.SIGUSR1), target.SignalPolicy{Pass: true})
				c := &callCounts{begun: map[int]int{}, ended: map[int]int{}, inside: map[target.ThreadID]int{}}
				p.SetJudge(func(h *target.Hit) target.Verdict {
					if h.Reason == target.Syscall {
						c.add(h)
					}
					return target.Pass
				})
				var set target.SyscallSet
				set.Add(unix.SYS_GETPPID)
				set.Add(unix.SYS_NANOSLEEP)
				if err := p.CatchSyscalls(set); err != nil {
					t.Fatal(err)
				}
				if err := p.Resume(target.Resume{}); err != nil {
					t.Fatal(err)
				}
				stopped := make(chan struct{}, 1)
				over := make(chan struct{})
				if pauses {
					go func() {
						for {
							select {
							case <-over:
								return
							case <-time.After(time.Millisecond): // a moment of the program's
								if p.Interrupt() != nil {
									return
								}
							}
							select {
							case <-over:
								return
							case <-stopped:
								if p.Resume(target.Resume{}) != nil {
									return
								}
							}
						}
					}()
				}
				n := 0
				for e := range p.Events() {
					if e.Kind == target.Stopped {
						n++
						stopped <- struct{}{}
					}
					if e.Kind == target.Exited && e.ExitCode != 0 || e.Kind == target.Killed {
						t.Errorf("%+v", e)
					}
				}
				close(over)
				text, _ := io.ReadAll(r)
				var calls, sleeps int
				if _, err := fmt.Sscan(string(text), &calls, &sleeps); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				if calls != 4*rounds {
					t.Errorf("the program made %d calls", calls)
				}
				for number, want := range map[int]int{unix.SYS_GETPPID: calls, unix.SYS_NANOSLEEP: sleeps} {
					if c.begun[number] != want || c.ended[number] != want {
						t.Errorf("call %d: %d made, %d begun, %d returned", number, want, c.begun[number], c.ended[number])
					}
				}
				if len(c.wrong) > 0 {
					t.Errorf("%d out of order: %s", len(c.wrong), strings.Join(c.wrong[:min(3, len(c.wrong))], "; "))
				}
				t.Logf("%d calls, %d sleeps, %d pauses", calls, sleeps, n)
			})
		}
	}
}
