package ptrace

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/procfs"
	"dbg/target/ptrace/start"
)

// victim is a process that somebody else has started: sh, whose child it
// is, so that this program is not the parent of what it attaches to.
type victim struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Reader
	pid int
}

func startCommand(t *testing.T, args ...string) *victim {
	t.Helper()
	return startProgram(t, program(t), args...)
}

// startProgram is startCommand for another program, which prints its pid first.
func startProgram(t *testing.T, path string, args ...string) *victim {
	t.Helper()
	v := &victim{t: t}
	v.cmd = exec.Command("sh", append([]string{"-c", `"$0" "$@" & wait $!; echo "status $?"`, path}, args...)...)
	v.cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v.out = bufio.NewReader(out)
	t.Cleanup(func() {
		_ = unix.Kill(-v.cmd.Process.Pid, unix.SIGKILL)
		_ = v.cmd.Wait()
	})
	v.pid, err = strconv.Atoi(v.line())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (v *victim) line() string {
	v.t.Helper()
	s, err := v.out.ReadString('\n')
	if err != nil {
		v.t.Fatal(err)
	}
	return strings.TrimSpace(s)
}

// waitStopped waits until job control has stopped the process: after a
// PTRACE_DETACH the kernel has it stop anew by itself, ptrace(2).
func (v *victim) waitStopped() {
	v.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); state(v.pid) != "T"; runtime.Gosched() {
		if time.Now().After(deadline) {
			v.t.Fatalf("state %s, want T", state(v.pid))
		}
	}
}

func attach(t *testing.T, pid int) *debuggee {
	t.Helper()
	p, err := Attach(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return &debuggee{Process: p, t: t, counts: map[target.EventKind]int{}}
}

func state(pid int) string { s := procfs.StatusField(pid, "State"); return s[:min(1, len(s))] }

func TestAttachAndDetachAHundredTimes(t *testing.T) {
	t.Parallel()
	v, undisturbed := startCommand(t, "compute"), startCommand(t, "compute")
	a := symbol(t, "place")
	for i := range 100 {
		p, err := Attach(v.pid)
		if err != nil {
			if i > 10 && errors.Is(err, start.ErrNoProcess) || errors.Is(err, start.ErrZombie) {
				break // it was quick
			}
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := p.InsertBreakpoint(a); err != nil {
				t.Fatal(err)
			}
		}
		if i%3 == 0 {
			if err := p.Resume(target.Resume{}); err != nil {
				t.Fatal(err)
			}
		}
		if i%5 == 0 {
			err = p.Close()
		} else {
			err = p.Detach()
		}
		if err != nil && !errors.Is(err, target.ErrGone) {
			t.Fatal(err)
		}
	}
	if got, want := v.line(), undisturbed.line(); got != want {
		t.Errorf("computed %s, want %s", got, want)
	}
	if got := v.line(); got != "status 0" {
		t.Error(got)
	}
}

func TestDetachRestoresTheCode(t *testing.T) {
	t.Parallel()
	v := startCommand(t, "compute")
	d := attach(t, v.pid)
	for _, s := range []string{"place", "work", "ready", "main"} {
		d.insert(s)
		d.insert(s)
	}
	if err := d.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	if err := d.Detach(); err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(program(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	want, _ := s.Data()
	m, err := os.Open(procfs.Path(v.pid, "mem"))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	got := make([]byte, len(want))
	if _, err := m.ReadAt(got, int64(s.Addr)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the code is not what it was: %v", err)
	}
	for range d.Events() {
	}
	v.line()
	if got := v.line(); got != "status 0" {
		t.Error(got)
	}
}

func TestAttachToAStoppedProcess(t *testing.T) {
	t.Parallel()
	v := startCommand(t, "idle")
	if err := unix.Kill(v.pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	v.waitStopped()
	for i := range 10 {
		d := attach(t, v.pid)
		if i%2 == 1 {
			// It stays stopped while it is resumed, and can be interrupted.
			if err := d.Resume(target.Resume{}); err != nil {
				t.Fatal(err)
			}
			_ = d.Interrupt()
			d.wantStop(d.next(), target.Interrupted)
		}
		if err := d.Detach(); err != nil {
			t.Fatal(err)
		}
		v.waitStopped()
	}
	// SIGCONT wakes it, traced or not.
	d := attach(t, v.pid)
	if err := d.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	_ = unix.Kill(v.pid, unix.SIGCONT)
	_ = unix.Kill(v.pid, unix.SIGTERM)
	e := d.next()
	d.wantStop(e, target.Signalled)
	if e.Signal.Number != 15 {
		t.Fatalf("signal %+v", e.Signal)
	}
	if err := d.Detach(); err != nil { // with the signal
		t.Fatal(err)
	}
	if got := v.line(); got != "status 143" {
		t.Error(got)
	}
}

func TestAttachErrors(t *testing.T) {
	t.Parallel()
	v := startCommand(t, "idle")
	d := attach(t, v.pid)
	_, err := Attach(v.pid)
	if !errors.Is(err, start.ErrTraced) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("traced twice: %v", err)
	}
	_ = d.Detach()
	if _, err := Attach(os.Getpid()); !errors.Is(err, start.ErrSelf) {
		t.Errorf("itself: %v", err)
	}
	if _, err := Attach(1 << 30); !errors.Is(err, start.ErrNoProcess) {
		t.Errorf("none: %v", err)
	}
	if _, err := Attach(2); !errors.Is(err, start.ErrKernelThread) && !errors.Is(err, start.ErrNoProcess) {
		t.Errorf("kernel thread: %v", err)
	}
	z := exec.Command("true")
	if err := z.Start(); err != nil {
		t.Fatal(err)
	}
	for state(z.Process.Pid) != "Z" {
	}
	if _, err := Attach(z.Process.Pid); !errors.Is(err, start.ErrZombie) {
		t.Errorf("zombie: %v", err)
	}
	_ = z.Wait()
}

func TestSignalledWhileAttached(t *testing.T) {
	t.Parallel()
	v := startCommand(t, "idle")
	d := attach(t, v.pid)
	if err := d.Resume(target.Resume{}); err != nil {
		t.Fatal(err)
	}
	_ = unix.Kill(v.pid, unix.SIGKILL)
	if e := d.next(); e.Kind != target.Killed || e.Signal.Number != 9 {
		t.Errorf("got %+v", e)
	}
	if got := v.line(); got != "status 137" {
		t.Error(got)
	}
	// Stopped by SIGSTOP under the debugger: reported, then it stays stopped.
	v = startCommand(t, "idle")
	d = attach(t, v.pid)
	_ = d.Resume(target.Resume{})
	_ = unix.Kill(v.pid, unix.SIGSTOP)
	e := d.next()
	d.wantStop(e, target.Signalled)
	_ = d.Resume(target.Resume{})
	_ = d.Interrupt()
	d.wantStop(d.next(), target.Interrupted)
	_ = d.Detach()
	v.waitStopped()
}

func TestRangeStepIsFast(t *testing.T) {
	d := launch(t, "spin")
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	// The whole loop is the range; it ends with the interruption.
	before := d.word(symbol(t, "counter"))
	main := symbol(t, "main")
	if err := d.Resume(target.Resume{Thread: d.Threads()[0].ID, Step: true, Alone: true, StepLo: symbol(t, "ready"), StepHi: main + 0x4000}); err != nil {
		t.Fatal(err)
	}
	for d.word(symbol(t, "counter")) < before+1000 {
	}
	_ = d.Interrupt()
	d.wantStop(d.next(), target.Interrupted)
}

// BenchmarkStep is one step that the user asks for, with its event.
func BenchmarkStep(b *testing.B) {
	p, err := Launch(LaunchOptions{Path: program(b), Args: []string{"spin"}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for b.Loop() {
		if err := p.Resume(target.Resume{Thread: target.ThreadID(p.pid), Step: true, Alone: true}); err != nil {
			b.Fatal(err)
		}
		<-p.Events()
	}
}

// BenchmarkRangeStep is 1000 rounds of a loop that is stepped as one range, in
// the tracer alone.
func BenchmarkRangeStep(b *testing.B) {
	p, err := Launch(LaunchOptions{Path: program(b), Args: []string{"exit", "0"}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	r, err := p.Registers(target.ThreadID(p.pid))
	if err != nil {
		b.Fatal(err)
	}
	pc, _ := r.PC()
	// dec %rcx; jnz -5; nop
	if _, err := p.WriteMemory(target.Addr(pc), []byte{0x48, 0xff, 0xc9, 0x75, 0xfb, 0x90}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = p.SetRegister(target.ThreadID(p.pid), arch.RCX, 1000)
		_ = p.SetRegister(target.ThreadID(p.pid), arch.RIP, pc)
		if err := p.Resume(target.Resume{Thread: target.ThreadID(p.pid), Step: true, Alone: true,
			StepLo: target.Addr(pc), StepHi: target.Addr(pc) + 5}); err != nil {
			b.Fatal(err)
		}
		<-p.Events()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/instruction")
}
