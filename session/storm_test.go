package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
	"dbg/session"
)

// storm is a session with testdata/c/storm of target/ptrace, which counts what it does in memory that the test shares.
type storm struct {
	*session.Session
	t        *testing.T
	events   <-chan session.Event
	counters *[512]int64
	file     string
	logs     atomic.Int64 // log points' messages
}

// The counters of the program.
const (
	stormHits = iota
	stormHarm
	stormDone
)

func newStorm(t *testing.T) *storm {
	t.Helper()
	s := &storm{t: t, Session: session.New(session.Config{}), file: filepath.Join(t.TempDir(), "counters")}
	if err := os.WriteFile(s.file, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(s.file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); _ = unix.Munmap(m) })
	s.counters = (*[512]int64)(unsafe.Pointer(&m[0]))
	events, cancel := s.Subscribe()
	t.Cleanup(cancel)
	s.events = events
	return s
}

func (s *storm) count(i int) int64 { return atomic.LoadInt64(&s.counters[i]) }

func stormProgram(t testing.TB) string {
	return fixture.Build(t, "../target/ptrace/testdata/storm.c", "-g", "-O0")
}

func (s *storm) load(mode string, numbers ...int) {
	s.t.Helper()
	args := []string{mode, s.file}
	for _, n := range numbers {
		args = append(args, strconv.Itoa(n))
	}
	if err := s.Load(session.Program{Path: stormProgram(s.t), Args: args}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *storm) breakAt(text string, change func(*session.BreakpointSpec)) session.Breakpoint {
	s.t.Helper()
	spec, err := s.ParseBreakpoint(text)
	if err != nil {
		s.t.Fatal(err)
	}
	if change != nil {
		change(&spec)
	}
	b, err := s.SetBreakpoint(spec, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// wait returns the next stop or end.
func (s *storm) wait() session.Event {
	s.t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case ev, ok := <-s.events:
			switch ev := ev.(type) {
			case nil:
				if !ok {
					s.t.Fatal("the events have ended")
				}
			case session.Stopped, session.Ended:
				return ev
			case session.LogMessage:
				if !ev.Warning && strings.HasPrefix(ev.Text, "log ") {
					s.logs.Add(1)
				}
				if ev.Warning {
					s.t.Errorf("warning: %s", ev.Text)
				}
			}
		case <-deadline:
			buf := make([]byte, 1<<16)
			s.t.Fatalf("nothing happens\n%s", buf[:runtime.Stack(buf, true)])
		}
	}
}

func (s *storm) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func amount(full, sample int) int {
	if fixture.All() {
		return full
	}
	return sample
}

// A pause is never lost under a condition that is false each time, however many threads meet it.
func TestPauseUnderHotCondition(t *testing.T) {
	for _, threads := range []int{1, 4, 16, 64} {
		for _, condition := range []string{"n == -5", "n == $never"} { // the second one needs the full evaluator
			t.Run(fmt.Sprintf("%d threads, %s", threads, condition), func(t *testing.T) {
				s := newStorm(t)
				s.load("threads", -1, threads)
				if _, _, err := s.Print("$never = -5"); err != nil {
					t.Fatal(err)
				}
				s.breakAt("place if "+condition, nil)
				s.must(s.Run())
				for i := range amount(50, 8) {
					for before := s.count(stormHits); s.count(stormHits) < before+3; runtime.Gosched() {
					}
					cpu := processorTime()
					s.must(s.Pause())
					ev, ok := s.wait().(session.Stopped)
					if !ok || ev.Reason != session.StopPause {
						t.Fatalf("pause %d: %+v", i, ev)
					}
					if d := processorTime() - cpu; d > 100*time.Millisecond {
						t.Errorf("pause %d took %v of processor time", i, d)
					}
					if n, err := s.Threads(); err != nil || len(n) < 1 {
						t.Errorf("threads: %d, %v", len(n), err)
					}
					s.must(s.Continue(0))
				}
				s.must(s.Kill())
			})
		}
	}
}

// processorTime is how long this process has had a processor.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Every hit of a log point, and of an ignored breakpoint, is counted, with many threads at it.
func TestStormLogPoints(t *testing.T) {
	threads, calls := amount(200, 40), 20
	stormLogPoints(t, int64(threads*calls), "threads", calls, threads)
}

// The same with threads that come and go.
func TestStormLogPointsOfShortThreads(t *testing.T) {
	n := amount(10000, 600)
	stormLogPoints(t, int64(n), "churn", n)
}

func stormLogPoints(t *testing.T, want int64, mode string, numbers ...int) {
	s := newStorm(t)
	s.load(mode, numbers...)
	s.breakAt("place", func(b *session.BreakpointSpec) { b.LogMessage = "log {n}" })
	ignored := s.breakAt("place", func(b *session.BreakpointSpec) { b.Ignore = 1 << 30 })
	s.must(s.Run())
	if ev, ok := s.wait().(session.Ended); !ok || ev.ExitCode != 5 {
		t.Fatalf("%+v", ev)
	}
	hits := 0
	for _, b := range s.Breakpoints() {
		if b.ID == ignored.ID {
			hits = b.Hits
			if left := 1<<30 - b.Spec.Ignore; int64(left) != want {
				t.Errorf("ignored %d times, want %d", left, want)
			}
		}
	}
	if s.logs.Load() != want || int64(hits) != want || s.count(stormHits) != want {
		t.Errorf("%d messages, %d hits, %d counted; want %d", s.logs.Load(), hits, s.count(stormHits), want)
	}
}

// Lines are stepped over in their order, whatever other threads meet.
func TestStormNext(t *testing.T) {
	lines := func(noise bool) []string {
		s := newStorm(t)
		exe := fixture.Build(t, "c/stepnoise.c", "-g", "-O0")
		args := []string{s.file, "0"}
		if noise {
			args[1] = "4"
		}
		s.must(s.Load(session.Program{Path: exe, Args: args}))
		s.breakAt("begin", nil)
		if noise {
			s.breakAt("noise1 if n == -5", nil)
			s.breakAt("noise2", func(b *session.BreakpointSpec) { b.LogMessage = "log {n}" })
			s.breakAt("noise3", func(b *session.BreakpointSpec) { b.Ignore = 1 << 30 })
		}
		s.must(s.Run())
		if ev, ok := s.wait().(session.Stopped); !ok || ev.Reason != session.StopBreakpoint {
			t.Fatalf("%+v", ev)
		}
		var out []string
		for range amount(2000, 150) {
			s.must(s.Step(session.StepOver, 1))
			ev, ok := s.wait().(session.Stopped)
			if !ok || ev.Reason != session.StopStep {
				t.Fatalf("after %d steps: %+v", len(out), ev)
			}
			f, err := s.Frame(ev.Thread, 0)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%s:%d", f.FunctionName, f.Position.Line))
		}
		s.must(s.Kill())
		return out
	}
	quiet, noisy := lines(false), lines(true)
	for i := range quiet {
		if quiet[i] != noisy[i] {
			t.Fatalf("step %d: %s beside other threads, %s without", i, noisy[i], quiet[i])
		}
	}
	if len(quiet) > 20 && quiet[3] == quiet[4] {
		t.Errorf("the steps stay at %s", quiet[3])
	}
}

// A session ends in each way at a random moment. An attached program is unharmed.
func TestStormEnds(t *testing.T) {
	for i, end := range []func(*session.Session) error{(*session.Session).Close, (*session.Session).Detach} {
		for range amount(50, 5) {
			s := newStorm(t)
			cmd := exec.Command(stormProgram(t), "threads", s.file, "-1", "8")
			s.must(cmd.Start())
			for s.count(stormHits) == 0 {
				runtime.Gosched()
			}
			s.must(s.Attach(cmd.Process.Pid))
			s.breakAt("place if n == -5", nil)
			s.breakAt("place", func(b *session.BreakpointSpec) { b.LogMessage = "log {n}" })
			s.must(s.Continue(0))
			for before := s.count(stormHits); s.count(stormHits) < before+20; runtime.Gosched() {
			}
			s.must(end(s.Session))
			for before := s.count(stormHits); s.count(stormHits) < before+20; runtime.Gosched() {
				if err := unix.Kill(cmd.Process.Pid, 0); err != nil {
					t.Fatalf("way %d: the program has ended", i)
				}
				var ws unix.WaitStatus
				if pid, _ := unix.Wait4(cmd.Process.Pid, &ws, unix.WNOHANG, nil); pid != 0 {
					t.Fatalf("way %d: the program has ended: %v", i, ws)
				}
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			s.Close()
		}
	}
}

// The program is killed from outside while a thread steps: the end is told, with its signal.
func TestStormKilledWhileStepping(t *testing.T) {
	for range amount(50, 5) {
		s := newStorm(t)
		s.load("idle", -1, 20)
		s.breakAt("place", nil)
		s.must(s.Run())
		if ev, ok := s.wait().(session.Stopped); !ok {
			t.Fatalf("%+v", ev)
		}
		info, _ := s.Target()
		go func() {
			for before := s.count(stormHits); s.count(stormHits) < before+2; runtime.Gosched() {
			}
			_ = unix.Kill(info.PID, unix.SIGKILL)
		}()
		var last session.Event
		for {
			if err := s.Step(session.StepInto, 1); err != nil {
				// It was killed at a stop: its end is told without our doing.
				last = s.wait()
				break
			}
			last = s.wait()
			if _, stopped := last.(session.Stopped); !stopped {
				break
			}
		}
		if _, stopped := last.(session.Stopped); stopped {
			last = s.wait()
		}
		if ev, ok := last.(session.Ended); !ok || ev.Signal == nil || ev.Signal.Number != int(unix.SIGKILL) {
			t.Fatalf("%+v", last)
		}
		s.Close()
	}
}
