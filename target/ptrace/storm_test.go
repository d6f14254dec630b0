package ptrace

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
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
	"dbg/target"
	"dbg/target/ptrace/procfs"
	"dbg/target/ptrace/start"
)

// The counters of testdata/storm.c.
const (
	stormHits = iota
	stormHarm
	stormDone
	stormSignals
	stormChildren
)

// storm is a run of testdata/storm.c, under a tracer or not.
type storm struct {
	*Process
	t        *testing.T
	counters *[512]int64
	file     string
	place    target.Addr
	shared   target.Addr
}

func stormProgram(t testing.TB) string {
	return fixture.Build(t, "../target/ptrace/testdata/storm.c", "-g", "-O1", "-no-pie")
}

func newStorm(t *testing.T) *storm {
	t.Helper()
	s := &storm{t: t, file: filepath.Join(t.TempDir(), "counters")}
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
	t.Cleanup(func() { _ = unix.Munmap(m) })
	s.counters = (*[512]int64)(unsafe.Pointer(&m[0]))
	exe := stormProgram(t)
	s.place, s.shared = symbolIn(t, exe, "place"), symbolIn(t, exe, "shared")
	return s
}

// count reads a counter of the program.
func (s *storm) count(i int) int64 { return atomic.LoadInt64(&s.counters[i]) }

// launch starts the program under a tracer.
func (s *storm) launch(mode string, numbers ...int) {
	s.t.Helper()
	p, err := Launch(LaunchOptions{Path: stormProgram(s.t), Args: s.args(mode, numbers)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.Process = p
	s.t.Cleanup(func() { _ = p.Close() })
}

// start starts the program without a tracer and waits until it works.
func (s *storm) start(mode string, numbers ...int) *exec.Cmd {
	s.t.Helper()
	cmd := exec.Command(stormProgram(s.t), s.args(mode, numbers)...)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd
}

func (s *storm) args(mode string, numbers []int) []string {
	args := []string{mode, s.file}
	for _, n := range numbers {
		args = append(args, strconv.Itoa(n))
	}
	return args
}

// sites inserts sites at both places. Hits of place are counted, and decided by verdict.
func (s *storm) sites(verdict target.Verdict) *atomic.Int64 {
	s.t.Helper()
	var hits atomic.Int64
	s.SetJudge(func(h *target.Hit) target.Verdict {
		if h.Addr == s.place {
			hits.Add(1)
			return verdict
		}
		return target.Pass
	})
	for _, a := range []target.Addr{s.place, s.shared} {
		if err := s.InsertBreakpoint(a); err != nil {
			s.t.Fatal(err)
		}
	}
	return &hits
}

// run resumes and serves all parked threads until the process stops or ends.
func (s *storm) run(r target.Resume) (end target.Event, parked int64) {
	s.t.Helper()
	if err := s.Resume(r); err != nil {
		s.t.Fatal(err)
	}
	return s.wait()
}

func (s *storm) wait() (end target.Event, parked int64) {
	s.t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case e, ok := <-s.Events():
			switch {
			case !ok:
				s.t.Fatal("the events have ended")
			case e.Kind == target.Parked:
				parked++
				_ = s.Move(target.Resume{Thread: e.Thread})
			case e.Kind <= target.Killed:
				return e, parked
			}
		case <-deadline:
			s.t.Fatalf("nothing happens: %s", tasksOf(s.PID()))
		}
	}
}

// tasksOf describes the threads of a process for a failure's message.
func tasksOf(pid int) string {
	var b strings.Builder
	list, _ := procfs.Tasks(pid)
	for i, tid := range list {
		if i == 20 {
			break
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/stat", pid, tid))
		wchan, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/wchan", pid, tid))
		fmt.Fprintf(&b, "%.60s %s\n", stat, wchan)
	}
	return b.String()
}

// amount scales a storm: full is what make test-all does.
func amount(full, sample int) int {
	if fixture.All() {
		return full
	}
	return sample
}

func (s *storm) wantExit(e target.Event) {
	s.t.Helper()
	if e.Kind != target.Exited || e.ExitCode != 5 || s.count(stormDone) != 1 {
		s.t.Fatalf("it ended with %+v (signal %+v)", e, e.Signal)
	}
}

// A thousand threads on one site: each hit that the program counts is seen, once.
func TestStormThreads(t *testing.T) {
	for _, verdict := range []target.Verdict{target.Pass, target.Park} {
		s := newStorm(t)
		threads, calls := amount(1000, 200), 10
		s.launch("threads", calls, threads)
		hits := s.sites(verdict)
		e, parked := s.run(target.Resume{})
		s.wantExit(e)
		want := int64(threads * calls)
		if hits.Load() != want || s.count(stormHits) != want || verdict == target.Park && parked != want {
			t.Errorf("verdict %d: %d hits, %d counted, %d parked; want %d", verdict, hits.Load(), s.count(stormHits), parked, want)
		}
	}
}

// Threads come and go faster than any debugger can look.
func TestStormChurn(t *testing.T) {
	s := newStorm(t)
	n := amount(10000, 2000)
	s.launch("churn", n)
	hits := s.sites(target.Pass)
	e, _ := s.run(target.Resume{})
	s.wantExit(e)
	if hits.Load() != int64(n) || s.count(stormHits) != int64(n) {
		t.Errorf("%d hits, %d counted; want %d", hits.Load(), s.count(stormHits), n)
	}
}

// Children of each kind run through code in which there are sites. None is harmed.
func TestStormChildren(t *testing.T) {
	s := newStorm(t)
	n := amount(2000, 300)
	s.launch("children", n)
	hits := s.sites(target.Pass)
	e, _ := s.run(target.Resume{})
	s.wantExit(e)
	if s.count(stormHarm) != 0 || s.count(stormChildren) != int64(n) || hits.Load() != int64(n) {
		t.Errorf("%d of %d children harmed; %d hits of %d", s.count(stormHarm), s.count(stormChildren), hits.Load(), n)
	}
}

// Programs execute programs, with sites and with other threads.
func TestStormExec(t *testing.T) {
	s := newStorm(t)
	n := amount(200, 40)
	s.launch("exec", n)
	s.sites(target.Pass)
	e, _ := s.run(target.Resume{})
	execs := 0
	for ; e.Kind == target.Stopped && e.Reason == target.Execed; e, _ = s.run(target.Resume{}) {
		execs++
		s.sites(target.Pass)
	}
	s.wantExit(e)
	if execs != n || s.count(stormHits) != int64(n+1) {
		t.Errorf("%d execs, %d hits; want %d and one hit more", execs, s.count(stormHits), n)
	}
}

// Signals come at 10,000 a second while a thread steps, and passes sites.
func TestStormSignals(t *testing.T) {
	s := newStorm(t)
	s.launch("signals", amount(20000, 4000), 100)
	hits := s.sites(target.Pass)
	e, _ := s.run(target.Resume{})
	s.wantExit(e)
	if hits.Load() != s.count(stormHits) {
		t.Errorf("%d hits, %d counted", hits.Load(), s.count(stormHits))
	}
	s = newStorm(t)
	s.launch("signals", -1, 100)
	s.sites(target.Halt)
	if e, _ = s.run(target.Resume{}); e.Kind != target.Stopped {
		t.Fatalf("%+v", e)
	}
	s.SetJudge(nil)
	for i := range amount(5000, 1000) {
		if e, _ = s.run(target.Resume{Thread: e.Thread, Step: true}); e.Kind != target.Stopped {
			t.Fatalf("after %d steps: %+v", i, e)
		}
	}
	_ = s.Kill()
	for e = range s.Events() {
		if e.Kind == target.Killed {
			break
		}
	}
}

// stormKinds are kinds of work in whose middle things end.
var stormKinds = []struct {
	mode    string
	numbers []int
}{
	{"tick", []int{0}},
	{"threads", []int{-1, 8}},
	{"churn", []int{-1}},
	{"children", []int{-1}},
	{"signals", []int{-1, 100}},
	{"idle", []int{-1, 50}},
}

// pause waits for a random moment of up to 20 ms. It waits for nothing: the moment is what is tested.
func randomMoment() { time.Sleep(time.Duration(rand.IntN(20000)) * time.Microsecond) }

// The program is killed at a random moment: the tracer says so, and does not hang.
func TestStormKilled(t *testing.T) {
	for _, kind := range stormKinds {
		t.Run(kind.mode, func(t *testing.T) {
			for i := range amount(34, 6) {
				s := newStorm(t)
				s.launch(kind.mode, kind.numbers...)
				s.sites([]target.Verdict{target.Pass, target.Park}[i%2])
				if err := s.Resume(target.Resume{}); err != nil {
					t.Fatal(err)
				}
				go func(pid int) {
					randomMoment()
					_ = unix.Kill(pid, unix.SIGKILL)
				}(s.PID())
				if e, _ := s.wait(); e.Kind != target.Killed || e.Signal.Number != int(unix.SIGKILL) {
					t.Fatalf("%+v", e)
				}
				s.Close()
			}
		})
	}
}

// dbg ends in an orderly way at a random moment: nobody is harmed, and nothing hangs.
func TestStormClose(t *testing.T) {
	for _, kind := range stormKinds {
		t.Run(kind.mode, func(t *testing.T) {
			for i := range amount(34, 6) {
				s := newStorm(t)
				cmd := s.start(kind.mode, kind.numbers...)
				s.attach(cmd.Process.Pid)
				s.sites([]target.Verdict{target.Pass, target.Park}[i%2])
				if err := s.Resume(target.Resume{}); err != nil {
					t.Fatal(err)
				}
				served := make(chan struct{})
				go func() {
					defer close(served)
					for e := range s.Events() {
						if e.Kind == target.Parked {
							_ = s.Move(target.Resume{Thread: e.Thread})
						}
					}
				}()
				randomMoment()
				ended := make(chan struct{})
				go func() { s.Close(); close(ended) }()
				select {
				case <-ended:
				case <-time.After(30 * time.Second):
					buf := make([]byte, 1<<16)
					t.Fatalf("Close hangs\n%s\n%s", tasksOf(cmd.Process.Pid), buf[:runtime.Stack(buf, true)])
				}
				<-served
				s.unharmed(cmd.Process.Pid)
			}
		})
	}
}

func (s *storm) attach(pid int) {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); s.count(stormHits) == 0 && s.count(stormChildren) == 0 && s.count(stormDone) == 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			s.t.Fatal("the program does not begin")
		}
	}
	p, err := Attach(pid)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Process = p
}

// unharmed checks that a program that was let go has its own code, works, and has not lost a child.
func (s *storm) unharmed(pid int) {
	s.t.Helper()
	mem, err := os.Open(procfs.Path(pid, "mem"))
	if err != nil {
		s.t.Fatalf("the program is gone: %v", err)
	}
	defer mem.Close()
	for _, a := range []target.Addr{s.place, s.shared} {
		var b [1]byte
		if _, err := mem.ReadAt(b[:], int64(a)); err != nil || b[0] == 0xcc {
			s.t.Fatalf("the byte at %v is %#x (%v)", a, b, err)
		}
	}
	before := s.count(stormHits)
	for deadline := time.Now().Add(20 * time.Second); s.count(stormHits) < before+3; runtime.Gosched() {
		if st := procfs.StatusField(pid, "State"); st == "" || st[0] == 'Z' {
			s.t.Fatalf("the program has ended: %q", st)
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the program does not go on\n%s", tasksOf(pid))
		}
	}
	if n := s.count(stormHarm); n != 0 {
		s.t.Fatalf("%d children were harmed", n)
	}
}

// A thousand attachments, each with a site that is met, leave a program as it was.
func TestStormAttach(t *testing.T) {
	s := newStorm(t)
	cmd := s.start("threads", -1, 4)
	for i := range amount(1000, 100) {
		s.attach(cmd.Process.Pid)
		hits := s.sites(target.Pass)
		if err := s.Resume(target.Resume{}); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(10 * time.Second); hits.Load() == 0; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatalf("no hit\n%s", tasksOf(cmd.Process.Pid))
			}
		}
		go func(events <-chan target.Event) {
			for range events {
			}
		}(s.Events())
		if i%2 == 0 {
			s.Close()
		} else if err := s.Detach(); err != nil {
			t.Fatal(err)
		}
	}
	s.unharmed(cmd.Process.Pid)
}

// dbg is killed with SIGKILL. At a prompt the program is never harmed. While it runs and meets a site a
// hundred times a second, the guardian puts its code back.
func TestStormDebuggerKilled(t *testing.T) {
	for _, c := range []struct {
		name   string
		prompt bool
		every  int // microseconds from hit to hit
		tries  int
		least  int // unharmed, in percent; of few tries on a busy machine chance may take some
	}{
		{"at a prompt", true, 100, amount(100, 10), 100},
		{"100 hits a second", false, 10000, amount(100, 20), amount(95, 75)},
		{"10000 hits a second", false, 100, amount(100, 3), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			harmed := 0
			for range c.tries {
				s := newStorm(t)
				cmd := s.start("tick", c.every)
				for s.count(stormHits) == 0 {
					runtime.Gosched()
				}
				pid := cmd.Process.Pid
				dbg := role(t, "guarded", "PID="+strconv.Itoa(pid), fmt.Sprintf("PLACE=%d", s.place), fmt.Sprintf("PROMPT=%v", c.prompt))
				out, err := dbg.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := dbg.Start(); err != nil {
					t.Fatal(err)
				}
				var line [64]byte
				for got := ""; !strings.Contains(got, "ready"); {
					n, err := out.Read(line[:])
					if got += string(line[:n]); err != nil {
						t.Fatalf("the debugger has ended: %q", got)
					}
				}
				randomMoment()
				_ = dbg.Process.Kill()
				_ = dbg.Wait()
				if !s.recovers(pid) {
					harmed++
				}
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}
			t.Logf("%d of %d harmed", harmed, c.tries)
			if unharmed := c.tries - harmed; unharmed*100 < c.least*c.tries {
				t.Errorf("only %d of %d are unharmed", unharmed, c.tries)
			}
		})
	}
}

// recovers reports whether a program whose debugger was killed lives, runs and soon has its own code again.
func (s *storm) recovers(pid int) bool {
	before := s.count(stormHits)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		st := procfs.StatusField(pid, "State")
		if st == "" || st[0] == 'Z' || st[0] == 'X' {
			return false
		}
		var b [1]byte
		if mem, err := os.Open(procfs.Path(pid, "mem")); err == nil {
			_, _ = mem.ReadAt(b[:], int64(s.place))
			mem.Close()
			if b[0] != 0xcc && s.count(stormHits) > before+2 {
				return true
			}
		}
	}
	s.t.Fatalf("the program is left stopped: %s", tasksOf(pid))
	return false
}

// guarded is the debugger that TestStormDebuggerKilled kills.
func guarded() {
	pid, _ := strconv.Atoi(os.Getenv("PID"))
	place, _ := strconv.ParseUint(os.Getenv("PLACE"), 10, 64)
	prompt := os.Getenv("PROMPT") == "true"
	p, err := AttachWith(pid, AttachOptions{Guardian: "/proc/self/exe"})
	if err == nil {
		p.SetJudge(func(*target.Hit) target.Verdict {
			if prompt {
				return target.Halt
			}
			return target.Pass
		})
		if err = p.InsertBreakpoint(target.Addr(place)); err == nil {
			err = p.Resume(target.Resume{})
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if prompt {
		<-p.Events()
	}
	fmt.Println("ready")
	select {}
}

// A child of vfork that sleeps keeps nobody waiting: the program is paused, examined, and let go.
func TestVforkSleeper(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	s.launch("vforksleep", 3)
	s.sites(target.Pass)
	if err := s.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	for s.count(stormChildren) == 0 {
		runtime.Gosched()
	}
	before := time.Now()
	if err := s.Interrupt(); err != nil {
		t.Fatal(err)
	}
	e, _ := s.wait()
	if e.Kind != target.Stopped || e.Reason != target.Interrupted {
		t.Fatalf("%+v", e)
	}
	if r, err := s.Registers(target.ThreadID(s.PID())); err != nil {
		t.Errorf("registers: %v", err)
	} else if pc, ok := r.PC(); !ok || pc == 0 {
		t.Errorf("no PC")
	}
	if d := time.Since(before); d > 2*time.Second {
		t.Errorf("it took %v: as long as the child slept", d)
	}
	e, _ = s.run(target.Resume{})
	s.wantExit(e)
	if s.count(stormHarm) != 0 {
		t.Error("the child was harmed")
	}
}

// A program that has a child in its memory when we come is attached to, and the child is not harmed by our bytes.
func TestAttachSharers(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"vforksleep", "clonesleep"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newStorm(t)
			cmd := s.start(mode, 5)
			s.attach(cmd.Process.Pid)
			if s.count(stormChildren) != 1 {
				t.Fatal("the child has ended already: nothing is tested")
			}
			if r, err := s.Registers(target.ThreadID(s.PID())); err != nil {
				t.Errorf("registers: %v", err)
			} else if pc, ok := r.PC(); !ok || pc == 0 {
				t.Error("no PC")
			}
			s.sites(target.Pass)
			if err := s.Resume(target.Resume{}); err != nil {
				t.Fatal(err)
			}
			e, _ := s.wait()
			s.wantExit(e)
			if s.count(stormHarm) != 0 || s.count(stormChildren) != 2 {
				t.Errorf("%d harmed", s.count(stormHarm))
			}
		})
	}
}

// Who is let go while a child of vfork sleeps, lives on: launched or attached to, found there or made under us.
func TestDetachVforkSleeper(t *testing.T) {
	t.Parallel()
	for _, launched := range []bool{true, false} {
		s := newStorm(t)
		if launched {
			s.launch("vforksleep", 1)
		} else {
			s.attach(s.start("vforksleep", 1).Process.Pid)
		}
		s.sites(target.Pass)
		if err := s.Resume(target.Resume{}); err != nil {
			t.Fatal(err)
		}
		for s.count(stormChildren) == 0 {
			runtime.Gosched()
		}
		if err := s.Detach(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(30 * time.Second); s.count(stormDone) == 0; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatalf("launched %v: the program does not end\n%s", launched, tasksOf(s.PID()))
			}
		}
		if s.count(stormHarm) != 0 {
			t.Errorf("launched %v: the child was harmed", launched)
		}
	}
}

// The bytes are in memory only while the process runs, and the program's own when it is over.
func TestBytesOnlyWhileRunning(t *testing.T) {
	t.Parallel()
	s := newStorm(t)
	s.launch("tick", 0)
	s.sites(target.Halt)
	raw := func() []byte {
		b := make([]byte, 16)
		mem, err := os.Open(procfs.Path(s.PID(), "mem"))
		if err != nil {
			t.Fatal(err)
		}
		defer mem.Close()
		if _, err := mem.ReadAt(b, int64(s.place)); err != nil {
			t.Fatal(err)
		}
		return b
	}
	own := raw()
	for range 20 {
		if e, _ := s.run(target.Resume{}); e.Kind != target.Stopped || e.Reason != target.Breakpoint {
			t.Fatalf("%+v", e)
		}
		if now := raw(); !bytes.Equal(now, own) {
			t.Fatalf("% x, want % x", now, own)
		}
	}
}

// A program that the kernel gives up on in the middle of execve is an error, and nobody hangs.
func TestLaunchDiesInExecve(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(fixture.Build(t, "../target/ptrace/testdata/storm.c", "-g", "-O1", "-pie"))
	if err != nil {
		t.Fatal(err)
	}
	// e_phoff of the ELF header: the program headers are taken from the middle of others.
	copy(data[32:], []byte{1, 0, 0, 0, 0, 0, 0, 0})
	path := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(path, data, 0o700); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Launch(LaunchOptions{Path: path})
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, start.ErrEndedEarly) {
			t.Errorf("%v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("Launch hangs")
	}
}
