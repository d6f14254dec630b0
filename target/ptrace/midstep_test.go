package ptrace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/elfcore"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// An instruction under a breakpoint is emulated, or executed out of line. These tests disturb a thread in the middle of that, and
// look at the PC that the program, the user and a core get to see.

// The counters of testdata/midstep.c that testdata/storm.c does not have.
const (
	midReady = iota + 5
	midGo
	midCrash
	midPC
	midAddress
	midError
	midLow   = 16 // where on_signal must not find the PC
	midHigh  = 17
	midStray = 18 // a PC there
)

func midstepProgram(t testing.TB) string {
	return fixture.Build(t, "../target/ptrace/testdata/midstep.c", "-g", "-O1", "-no-pie")
}

// midstep is a run of testdata/midstep.c with a site whose hits are counted and passed.
type midstep struct {
	*storm
	site target.Addr
	hits atomic.Int64
}

func newMidstep(t *testing.T, site, mode string, number int) *midstep {
	t.Helper()
	m := &midstep{storm: newStorm(t), site: symbolIn(t, midstepProgram(t), site)}
	p, err := Launch(LaunchOptions{Path: midstepProgram(t), Args: m.args(mode, []int{number}), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	m.Process = p
	t.Cleanup(func() { _ = p.Close() })
	m.SetJudge(func(h *target.Hit) target.Verdict { m.hits.Add(1); return target.Pass })
	if err := m.InsertBreakpoint(m.site); err != nil {
		t.Fatal(err)
	}
	return m
}

// until waits for what another process does.
func (m *midstep) until(what string, is func() bool) {
	m.t.Helper()
	for late := time.Now().Add(20 * time.Second); !is(); runtime.Gosched() {
		if m.count(midError) != 0 {
			fixture.Missing(m.t, "userfaultfd(2) is not permitted")
		}
		if time.Now().After(late) {
			m.t.Fatalf("%s: not in time\n%s", what, tasksOf(m.PID()))
		}
	}
}

// block runs until a thread waits in the page fault of the instruction at the site, out of line, and returns the thread.
func (m *midstep) block() target.ThreadID {
	m.t.Helper()
	if err := m.Resume(target.Resume{}); err != nil {
		m.t.Fatal(err)
	}
	var tid int
	m.until("the page fault", func() bool {
		list, _ := procfs.Tasks(m.PID())
		for _, tid = range list {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", m.PID(), tid))
			if m.hits.Load() == 1 && strings.HasPrefix(string(stat), "-1 ") && procfs.StatusField(tid, "State")[0] == 'S' {
				return true // it sleeps, and in no system call
			}
		}
		return false
	})
	return target.ThreadID(tid)
}

func (m *midstep) pc(id target.ThreadID) target.Addr {
	m.t.Helper()
	r, err := m.Registers(id)
	if err != nil {
		m.t.Fatal(err)
	}
	pc, _ := r.PC()
	return target.Addr(pc)
}

// kernelPC returns the PC that a thread goes on with by itself.
func (m *midstep) kernelPC(id target.ThreadID) (pc target.Addr) {
	m.t.Helper()
	var r kernel.Regs
	if err := m.do(func() error { return kernel.GetRegs(int(id), &r) }); err != nil {
		m.t.Fatal(err)
	}
	return target.Addr(r.Get(kernel.RIP))
}

// clean checks that nothing is left in the scratch page of a stopped process.
func (m *midstep) clean() {
	m.t.Helper()
	var b [instruction.ScratchSize]byte
	if n, _ := m.mem.Read(m.scratch.Addr(), b[:]); m.scratch.Addr() == 0 || n != len(b) || b != [instruction.ScratchSize]byte{} {
		m.t.Errorf("% x is left in the vDSO at %v", b, m.scratch.Addr())
	}
}

// A pause finds a thread that waits in an instruction out of line at its own PC. The hit is not counted again.
func TestPauseMidStep(t *testing.T) {
	t.Parallel()
	m := newMidstep(t, "load", "blocked", 0)
	tid := m.block()
	for i := range 4 {
		if err := m.Interrupt(); err != nil {
			t.Fatal(err)
		}
		if e, _ := m.wait(); e.Kind != target.Stopped || e.Reason != target.Interrupted {
			t.Fatalf("%+v", e)
		}
		if pc := m.pc(tid); pc != m.site {
			t.Fatalf("PC %v, want %v", pc, m.site)
		}
		if pc := m.kernelPC(tid); pc != m.site { // with which it would go on if the debugger were killed
			t.Fatalf("the kernel has PC %v, want %v", pc, m.site)
		}
		m.clean()
		if i == 3 {
			atomic.StoreInt64(&m.counters[midGo], 1) // it has the page as soon as the main thread runs
		}
		if err := m.Resume(target.Resume{}); err != nil {
			t.Fatal(err)
		}
	}
	e, _ := m.wait()
	m.wantExit(e)
	if m.hits.Load() != 1 || m.count(stormHits) != 1 {
		t.Errorf("%d hits, %d counted; want 1", m.hits.Load(), m.count(stormHits))
	}
}

// A debugger that lets go of a thread in the middle of an instruction out of line leaves it at its own.
func TestDetachMidStep(t *testing.T) {
	t.Parallel()
	m := newMidstep(t, "load", "blocked", 0)
	m.block()
	pid := m.PID()
	if err := m.Detach(); err != nil {
		t.Fatal(err)
	}
	// It is this process's child: its end is awaited by reap, which tells nothing.
	atomic.StoreInt64(&m.counters[midGo], 1)
	m.until("the program's end", func() bool { return m.count(stormDone) == 1 || procfs.StatusField(pid, "State") == "" })
	if m.count(stormHits) != 1 || m.count(stormDone) != 1 {
		t.Errorf("the program did not come to its end")
	}
}

// The handler of a signal that comes in the middle of an instruction out of line sees the program's own PC.
func TestSignalMidStep(t *testing.T) {
	t.Parallel()
	for _, policy := range []target.SignalPolicy{{Pass: true}, {Stop: true, Pass: true}} {
		m := newMidstep(t, "load", "blocked", 0)
		m.SetSignalPolicy(int(unix.SIGUSR1), policy)
		tid := m.block()
		if err := unix.Tgkill(m.PID(), int(tid), unix.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		if policy.Stop {
			if e, _ := m.wait(); e.Kind != target.Stopped || e.Reason != target.Signalled || e.Thread != tid {
				t.Fatalf("%+v", e)
			}
			if pc := m.pc(tid); pc != m.site {
				t.Fatalf("PC %v, want %v", pc, m.site)
			}
			m.clean()
			if err := m.Resume(target.Resume{}); err != nil {
				t.Fatal(err)
			}
		}
		// The signal is given when the instruction has been executed.
		atomic.StoreInt64(&m.counters[midGo], 1)
		e, _ := m.wait()
		m.wantExit(e)
		const length = 3 // of movups
		if pc := target.Addr(m.count(midPC)); m.count(stormSignals) != 1 || pc != m.site+length {
			t.Errorf("the handler was called %d times and sees %v, want %v", m.count(stormSignals), pc, m.site+length)
		}
		if m.count(stormHits) != 1 || m.hits.Load() != 1 {
			t.Errorf("%d hits, %d counted; want 1", m.hits.Load(), m.count(stormHits))
		}
	}
}

// The handler of a fault sees the program's own PC, however the instruction under the breakpoint was tried.
func TestFaultMidStep(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		site    string
		signal  unix.Signal
		atFault bool // si_addr is the address of the instruction, not of the data
	}{
		{"load", unix.SIGSEGV, false}, {"store", unix.SIGSEGV, false}, {"divide", unix.SIGFPE, true},
		{"read_word", unix.SIGSEGV, false}, {"write_word", unix.SIGSEGV, false}, {"add_word", unix.SIGSEGV, false},
		{"push_here", unix.SIGSEGV, false}, {"call_word", unix.SIGSEGV, false}, {"illegal", unix.SIGILL, true},
		{"halt", unix.SIGSEGV, false},
	} {
		for _, policy := range []target.SignalPolicy{{Pass: true}, {Stop: true, Pass: true}} {
			t.Run(fmt.Sprintf("%s/%v", c.site, policy.Stop), func(t *testing.T) {
				t.Parallel()
				m := newMidstep(t, c.site, "fault", i)
				m.SetSignalPolicy(int(c.signal), policy)
				e, _ := m.run(target.Resume{})
				if policy.Stop {
					if e.Kind != target.Stopped || e.Signal == nil || e.Signal.Number != int(c.signal) {
						t.Fatalf("%+v", e)
					}
					if pc := m.pc(e.Thread); pc != m.site {
						t.Fatalf("PC %v, want %v", pc, m.site)
					}
					e, _ = m.run(target.Resume{})
				}
				m.wantExit(e)
				if pc := target.Addr(m.count(midPC)); pc != m.site || m.count(stormSignals) != 1 {
					t.Errorf("the handler was called %d times and sees %v, want %v", m.count(stormSignals), pc, m.site)
				}
				if at := target.Addr(m.count(midAddress)); c.atFault && at != m.site {
					t.Errorf("si_addr is %v, want %v", at, m.site)
				}
				if m.hits.Load() != 1 {
					t.Errorf("%d hits, want 1", m.hits.Load())
				}
			})
		}
	}
}

// A core that the kernel writes has the program's own PC for a thread that was in the middle of an instruction out of line when
// another thread died.
func TestCoreMidStep(t *testing.T) {
	t.Parallel()
	if pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern"); err != nil || strings.ContainsAny(string(pattern), "|/%") {
		fixture.Missing(t, fmt.Sprintf("cores go to %q", pattern))
	}
	for _, policy := range []target.SignalPolicy{{Pass: true}, {Stop: true, Pass: true}} {
		m := newMidstep(t, "load", "blocked", int(unix.SIGABRT))
		m.SetSignalPolicy(int(unix.SIGABRT), policy)
		dir, err := os.Readlink(procfs.Path(m.PID(), "cwd"))
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Prlimit(m.PID(), unix.RLIMIT_CORE, &unix.Rlimit{Cur: 1 << 30, Max: 1 << 30}, nil); err != nil {
			t.Fatal(err)
		}
		tid := m.block()
		atomic.StoreInt64(&m.counters[midCrash], 1)
		e, _ := m.wait()
		if policy.Stop {
			if pc := m.pc(tid); e.Kind != target.Stopped || pc != m.site {
				t.Fatalf("%+v, PC %v, want %v", e, pc, m.site)
			}
			e, _ = m.run(target.Resume{})
		}
		if e.Kind != target.Killed || e.Signal.Number != int(unix.SIGABRT) {
			t.Fatalf("%+v", e)
		}
		found, _ := filepath.Glob(filepath.Join(dir, "core*"))
		if len(found) != 1 {
			t.Fatalf("cores: %q", found)
		}
		core, err := elfcore.Open(found[0], elfcore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := core.Registers(tid)
		if pc, _ := r.PC(); err != nil || target.Addr(pc) != m.site {
			t.Errorf("the core has %#x (%v), want %v", pc, err, m.site)
		}
		core.Close()
	}
}

// A step out of line has been executed when the thread is interrupted, and its SIGTRAP is still pending: the kernel reports the
// interruption first.
func TestTrapPendingMidStep(t *testing.T) {
	t.Parallel()
	m := newMidstep(t, "vector", "vector", 1)
	m.SetJudge(func(*target.Hit) target.Verdict { return target.Halt })
	e, _ := m.run(target.Resume{})
	if e.Kind != target.Stopped || e.Reason != target.Breakpoint {
		t.Fatalf("%+v", e)
	}
	const length = 4 // of pxor
	err := m.do(func() error {
		th := m.threads[int(e.Thread)]
		th.skip, th.skipping = m.site, true
		m.mem.Raise()
		defer m.mem.Lower()
		if !m.displace(th, m.site) {
			return fmt.Errorf("the instruction can't be displaced")
		}
		if ws, ok := kernel.WaitFor(th.tid); !ok || ws.StopSignal() != unix.SIGTRAP {
			return fmt.Errorf("the step: %#x", ws)
		}
		// The SIGTRAP is put into the queue again, by being blocked, and an interruption comes before it.
		var before, blocked uint64
		if err := signalMask(unix.PTRACE_GETSIGMASK, th.tid, &before); err != nil {
			return err
		}
		blocked = before | 1<<(unix.SIGTRAP-1)
		if err := signalMask(unix.PTRACE_SETSIGMASK, th.tid, &blocked); err != nil {
			return err
		}
		_ = kernel.Ptrace(unix.PTRACE_INTERRUPT, th.tid, 0, 0)
		_ = kernel.Ptrace(unix.PTRACE_CONT, th.tid, 0, uintptr(unix.SIGTRAP))
		ws, ok := kernel.WaitFor(th.tid)
		if !ok || kernel.StopEvent(ws) != unix.PTRACE_EVENT_STOP || !kernel.TrapPending(th.tid) {
			return fmt.Errorf("the interruption: %#x", ws)
		}
		if err := signalMask(unix.PTRACE_SETSIGMASK, th.tid, &before); err != nil {
			return err
		}
		m.note(th.tid, ws)
		for th.running {
			if ws, ok = kernel.WaitFor(th.tid); !ok {
				return fmt.Errorf("the thread is gone")
			}
			m.note(th.tid, ws)
		}
		if pc := th.regs.PC(); pc != m.site+length {
			t.Errorf("PC %v, want %v", pc, m.site+length)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m.SetJudge(nil)
	if err := m.RemoveBreakpoint(m.site); err != nil {
		t.Fatal(err)
	}
	e, _ = m.run(target.Resume{})
	m.wantExit(e)
	if m.count(stormHits) != 4 {
		t.Errorf("%d calls, want 4", m.count(stormHits))
	}
}

func signalMask(request, tid int, mask *uint64) error {
	return kernel.Ptrace(request, tid, 8, uintptr(unsafe.Pointer(mask)))
}

// A repeated instruction of many rounds keeps no pause waiting, and is one hit.
func TestPauseRepeatedInstruction(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	m := newMidstep(t, "copy_here", "copy", size)
	if err := m.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	m.until("the hit", func() bool { return m.hits.Load() == 1 })
	paused := make(chan error, 1)
	go func() { paused <- m.Interrupt() }()
	select {
	case err := <-paused:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		_ = m.Kill()
		t.Fatal("the pause waits for the instruction")
	}
	if e, _ := m.wait(); e.Kind == target.Stopped {
		if e.Reason != target.Interrupted {
			t.Fatalf("%+v", e)
		}
		e, _ = m.run(target.Resume{})
		m.wantExit(e)
	} else {
		m.wantExit(e)
	}
	if m.hits.Load() != 1 || m.count(stormHits) != 1 || m.count(stormHarm) != 0 {
		t.Errorf("%d hits, %d counted, harm %d; want 1, 1, 0", m.hits.Load(), m.count(stormHits), m.count(stormHarm))
	}
}

// A system call under a breakpoint sleeps in place: others run, a pause is answered, and a signal's handler sees the PC after it.
func TestPauseSystemCallAtSite(t *testing.T) {
	t.Parallel()
	m := newMidstep(t, "sleeps_here", "sleep", 2)
	m.SetSignalPolicy(int(unix.SIGUSR1), target.SignalPolicy{Pass: true})
	if err := m.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	m.until("the sleep", func() bool {
		nr, _ := os.ReadFile(procfs.Path(m.PID(), "syscall"))
		inside := strings.HasPrefix(string(nr), strconv.Itoa(unix.SYS_NANOSLEEP)+" ")
		return m.hits.Load() == 1 && inside && procfs.StatusField(m.PID(), "State")[0] == 'S'
	})
	if err := m.Interrupt(); err != nil {
		t.Fatal(err)
	}
	if e, _ := m.wait(); e.Kind != target.Stopped || e.Reason != target.Interrupted {
		t.Fatalf("%+v", e)
	}
	const length = 2 // of syscall
	if pc := m.pc(target.ThreadID(m.PID())); pc != m.site+length {
		t.Errorf("PC %v, want %v", pc, m.site+length)
	}
	if err := m.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	m.until("the sleep again", func() bool { return procfs.StatusField(m.PID(), "State")[0] == 'S' })
	if err := unix.Tgkill(m.PID(), m.PID(), unix.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	e, _ := m.wait()
	m.wantExit(e)
	if pc := target.Addr(m.count(midPC)); pc != m.site+length {
		t.Errorf("the handler sees %v, want %v", pc, m.site+length)
	}
	if got := syscall.Errno(-m.count(midAddress)); got != syscall.EINTR || m.hits.Load() != 1 {
		t.Errorf("the call ended with %v after %d hits, want %v after 1", got, m.hits.Load(), syscall.EINTR)
	}
}

// Signals and pauses come at any moment of instructions that are executed out of line: nobody sees a PC in the scratch page, and
// no hit is lost.
func TestStormMidStep(t *testing.T) {
	t.Parallel()
	calls := amount(20000, 1500)
	m := newMidstep(t, "vector", "vector", calls)
	m.SetSignalPolicy(int(unix.SIGUSR1), target.SignalPolicy{Pass: true})
	if err := m.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	base := func() (lo, hi target.Addr) {
		maps, err := m.Mappings()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range maps {
			if r.Path == "[vdso]" {
				return r.Lo, r.Hi
			}
		}
		return 0, 0
	}
	lo, hi := base()
	m.until("the first hit", func() bool { return m.hits.Load() > 0 })
	atomic.StoreInt64(&m.counters[midLow], int64(hi-instruction.ScratchSize))
	atomic.StoreInt64(&m.counters[midHigh], int64(hi))
	stop := make(chan struct{})
	signalled := make(chan struct{})
	go func() {
		defer close(signalled)
		for {
			select {
			case <-stop:
				return
			default:
			}
			list, _ := procfs.Tasks(m.PID())
			for _, tid := range list {
				_ = unix.Tgkill(m.PID(), tid, unix.SIGUSR1)
			}
			time.Sleep(200 * time.Microsecond) // the moment is what is tested
		}
	}()
	pauses := 0
	var e target.Event
	for {
		randomMoment()
		if err := m.Interrupt(); err != nil {
			e, _ = m.wait()
			break
		}
		if e, _ = m.wait(); e.Kind != target.Stopped {
			break
		}
		pauses++
		for _, th := range m.Threads() {
			if pc, own := m.pc(th.ID), m.kernelPC(th.ID); pc != own || pc >= hi-instruction.ScratchSize && pc < hi {
				t.Errorf("after %d pauses thread %d is at %v, the kernel has %v; the vDSO ends at %v", pauses, th.ID, pc, own, hi)
			}
		}
		m.clean()
		if err := m.Resume(target.Resume{}); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	<-signalled
	m.wantExit(e)
	if want := int64(4 * calls); m.count(stormHits) != want || m.hits.Load() < want {
		t.Errorf("%d calls, %d hits; want %d", m.count(stormHits), m.hits.Load(), want)
	}
	if stray := target.Addr(m.count(midStray)); stray != 0 {
		t.Errorf("a handler saw %v; the vDSO is %v to %v", stray, lo, hi)
	}
	t.Logf("%d pauses, %d signals, %d hits of %d", pauses, m.count(stormSignals), m.hits.Load(), 4*calls)
}
