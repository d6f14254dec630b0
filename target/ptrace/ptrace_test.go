package ptrace

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/guardian"
	"dbg/target/ptrace/start"
)

var (
	buildOnce sync.Once
	builtPath string
	buildErr  error
)

func TestMain(m *testing.M) {
	guardian.Main()
	code := m.Run()
	if builtPath != "" {
		_ = os.RemoveAll(filepath.Dir(builtPath))
	}
	os.Exit(code)
}

// program compiles testdata/basic.c, once.
func program(t testing.TB) string {
	t.Helper()
	buildOnce.Do(func() {
		dir, err := os.MkdirTemp("", "ptrace-test")
		if err != nil {
			buildErr = err
			return
		}
		builtPath = filepath.Join(dir, "basic")
		out, err := exec.Command("gcc", "-g", "-O1", "-pthread", "-no-pie", "-o", builtPath, "testdata/basic.c").CombinedOutput()
		if err != nil {
			buildErr = errors.New(string(out))
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return builtPath
}

// symbol returns the address of a symbol of the program, which is not PIE.
func symbol(t *testing.T, name string) target.Addr {
	t.Helper()
	return symbolIn(t, program(t), name)
}

func symbolIn(t testing.TB, path, name string) target.Addr {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == name {
			return target.Addr(s.Value)
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}

// debuggee is a process under test with what it has printed.
type debuggee struct {
	*Process
	t      *testing.T
	output func() string
	counts map[target.EventKind]int
}

func launch(t *testing.T, args ...string) *debuggee {
	t.Helper()
	return launchWith(t, LaunchOptions{Path: program(t), Args: args})
}

func launchWith(t *testing.T, o LaunchOptions) *debuggee {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	o.Stdout = w
	p, err := Launch(o)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, r)
		r.Close()
		text <- b.String()
	}()
	d := &debuggee{Process: p, t: t, counts: map[target.EventKind]int{}}
	d.output = sync.OnceValue(func() string { return <-text })
	t.Cleanup(func() { _ = p.Close() })
	return d
}

// next returns the event that ends a run.
func (d *debuggee) next() target.Event {
	d.t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		select {
		case e, ok := <-d.Events():
			if !ok {
				d.t.Fatal("the events have ended")
			}
			d.counts[e.Kind]++
			if e.Kind <= target.Killed {
				return e
			}
		case <-deadline:
			b, _ := exec.Command("sh", "-c", "grep -H . /proc/"+strconv.Itoa(d.PID())+"/task/*/stat | cut -c1-100 | head -20").Output()
			d.t.Fatalf("nothing happens\n%s", b)
		}
	}
}

func (d *debuggee) resume(r target.Resume) target.Event {
	d.t.Helper()
	if err := d.Resume(r); err != nil {
		d.t.Fatalf("Resume: %v", err)
	}
	return d.next()
}

func (d *debuggee) cont() target.Event { d.t.Helper(); return d.resume(target.Resume{}) }

func (d *debuggee) insert(name string) target.Addr {
	d.t.Helper()
	a := symbol(d.t, name)
	if err := d.InsertBreakpoint(a); err != nil {
		d.t.Fatal(err)
	}
	return a
}

func (d *debuggee) pc(id target.ThreadID) target.Addr {
	d.t.Helper()
	r, err := d.Registers(id)
	if err != nil {
		d.t.Fatal(err)
	}
	pc, _ := r.PC()
	return target.Addr(pc)
}

func (d *debuggee) word(a target.Addr) int64 {
	d.t.Helper()
	var b [8]byte
	if _, err := d.ReadMemory(a, b[:]); err != nil {
		d.t.Fatal(err)
	}
	v := int64(0)
	for i := 7; i >= 0; i-- {
		v = v<<8 | int64(b[i])
	}
	return v
}

func (d *debuggee) wantExit(e target.Event, code int) {
	d.t.Helper()
	if e.Kind != target.Exited || e.ExitCode != code {
		d.t.Fatalf("got %+v (signal %+v), want exit with %d", e, e.Signal, code)
	}
}

func (d *debuggee) wantStop(e target.Event, why target.StopReason) {
	d.t.Helper()
	if e.Kind != target.Stopped || e.Reason != why {
		d.t.Fatalf("got %+v (signal %+v), want a stop for %v", e, e.Signal, why)
	}
}

func main(d *debuggee) target.ThreadID { return target.ThreadID(d.PID()) }

func TestLaunchStopsAtTheEntry(t *testing.T) {
	t.Parallel()
	var sp [2]uint64
	for i := range sp {
		d := launch(t, "address")
		base, _ := d.Auxv(7) // AT_BASE
		f, err := elf.Open("/lib64/ld-linux-x86-64.so.2")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := d.pc(main(d)), target.Addr(base+f.Entry); got != want {
			t.Errorf("PC %v, want %v", got, want)
		}
		f.Close()
		r, _ := d.Registers(main(d))
		sp[i], _ = r.SP()
		d.wantExit(d.cont(), 0)
	}
	if sp[0] != sp[1] {
		t.Errorf("stack at %#x and at %#x", sp[0], sp[1])
	}
}

func TestExitAndSignals(t *testing.T) {
	t.Parallel()
	d := launch(t, "exit", "33")
	d.wantExit(d.cont(), 33)
	if _, ok := <-d.Events(); ok {
		t.Error("an event after the last")
	}
	if err := d.Resume(target.Resume{}); err != target.ErrGone {
		t.Errorf("Resume of what is gone: %v", err)
	}
	d = launch(t, "raise", "15")
	e := d.cont()
	d.wantStop(e, target.Signalled)
	if e.Signal.Number != 15 || !e.Signal.HasSender || e.Signal.SenderPID != d.PID() {
		t.Errorf("signal %+v", e.Signal)
	}
	if e = d.cont(); e.Kind != target.Killed || e.Signal.Number != 15 {
		t.Errorf("got %+v", e)
	}
	// Dropped.
	d = launch(t, "raise", "15")
	d.wantStop(d.cont(), target.Signalled)
	d.wantExit(d.resume(target.Resume{Thread: main(d), Signal: -1}), 3)
	// Replaced.
	d = launch(t, "raise", "15")
	d.wantStop(d.cont(), target.Signalled)
	if e = d.resume(target.Resume{Thread: main(d), Signal: 9}); e.Kind != target.Killed || e.Signal.Number != 9 {
		t.Errorf("got %+v", e)
	}
	// An own int3 of the program.
	d = launch(t, "int3")
	e = d.cont()
	d.wantStop(e, target.Signalled)
	d.wantExit(d.cont(), 4)
}

func TestFault(t *testing.T) {
	t.Parallel()
	d := launch(t, "segv")
	e := d.cont()
	d.wantStop(e, target.Signalled)
	if s := e.Signal; s.Number != 11 || s.Addr != 0x1234 || !s.HasAddr || target.SignalCodeName(s.Number, s.Code) != "SEGV_MAPERR" {
		t.Errorf("signal %+v", s)
	}
	if e := d.cont(); e.Kind != target.Killed || e.Signal.Addr != 0x1234 {
		t.Errorf("got %+v", e)
	}
	d = launch(t, "segvhandled")
	d.wantStop(d.cont(), target.Signalled)
	d.wantExit(d.cont(), 11)
}

func TestBreakpointsAreInvisible(t *testing.T) {
	t.Parallel()
	d := launch(t, "usr1")
	a := symbol(t, "place")
	before, after := make([]byte, 64), make([]byte, 64)
	_, _ = d.ReadMemory(a-16, before)
	d.insert("place")
	d.insert("place")
	if _, err := d.ReadMemory(a-16, after); err != nil || !bytes.Equal(before, after) {
		t.Errorf("% x\n% x\n%v", before, after, err)
	}
	// A write over it stays, under the breakpoint.
	if _, err := d.WriteMemory(a, []byte{0x90, 0x90}); err != nil {
		t.Fatal(err)
	}
	e := d.cont()
	d.wantStop(e, target.Breakpoint)
	if e.Addr != a || d.pc(e.Thread) != a {
		t.Errorf("stopped at %v, PC %v, want %v", e.Addr, d.pc(e.Thread), a)
	}
	if err := d.RemoveBreakpoint(a); err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveBreakpoint(a); err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveBreakpoint(a); !errors.Is(err, ErrNoBreakpoint) {
		t.Errorf("one remove too many: %v", err)
	}
	_, _ = d.ReadMemory(a, after[:2])
	if !bytes.Equal(after[:2], []byte{0x90, 0x90}) {
		t.Errorf("got % x", after[:2])
	}
	if err := d.InsertBreakpoint(16); err == nil {
		t.Error("a breakpoint where nothing is mapped")
	}
	d.wantStop(d.cont(), target.Signalled)
	d.wantExit(d.cont(), 1)
}

func TestEveryHitOfEightThreads(t *testing.T) {
	t.Parallel()
	const rounds = 100
	d := launch(t, "threads", strconv.Itoa(rounds))
	a := d.insert("work")
	hits, steps := 0, 0
	e := d.cont()
	for e.Kind == target.Stopped {
		switch e.Reason {
		case target.Breakpoint:
			if e.Addr != a || d.pc(e.Thread) != a {
				t.Fatalf("hit at %v", e.Addr)
			}
			hits++
		case target.Stepped:
			steps++
		default:
			t.Fatalf("got %+v %+v", e, e.Signal)
		}
		switch hits % 3 {
		case 0:
			e = d.cont()
		case 1:
			e = d.resume(target.Resume{Thread: e.Thread, Step: true})
		case 2:
			e = d.resume(target.Resume{Thread: e.Thread, Step: true, StepLo: a, StepHi: a + 64})
		}
		if e.Kind == target.Stopped && e.Reason == target.Stepped {
			steps++
			e = d.cont()
		}
	}
	d.wantExit(e, 0)
	if want := strconv.Itoa(8 * rounds); strings.TrimSpace(d.output()) != want || strconv.Itoa(hits) != want {
		t.Errorf("the program counted %s, we %d", d.output(), hits)
	}
	if d.counts[target.ThreadStarted] != 8 || d.counts[target.ThreadExited] != 8 {
		t.Errorf("threads: %v", d.counts)
	}
}

func TestAlarmStorm(t *testing.T) {
	t.Parallel()
	d := launch(t, "alarm", "200")
	a := d.insert("work")
	hits := 0
	e := d.cont()
	for range 100 {
		d.wantStop(e, target.Breakpoint)
		hits++
		e = d.resume(target.Resume{Thread: e.Thread, Step: true})
		d.wantStop(e, target.Stepped)
		if pc := d.pc(e.Thread); pc < a || pc > a+32 {
			t.Fatalf("stepped to %v", pc)
		}
		e = d.cont()
	}
	d.wantStop(e, target.Breakpoint)
	_ = d.RemoveBreakpoint(a)
	d.wantExit(d.cont(), 0)
	if !strings.HasPrefix(d.output(), "20") {
		t.Errorf("counted %s", d.output())
	}
}

func TestStepEverything(t *testing.T) {
	t.Parallel()
	for _, mode := range [][]string{{"flags"}, {"usr1"}, {"rep"}, {"exit", "0"}, {"forks", "2"}, {"vforks", "2"}, {"churn", "3"}, {"exec"}} {
		for _, alone := range []bool{true, false} {
			t.Run(strings.Join(mode, " ")+map[bool]string{true: " alone"}[alone], func(t *testing.T) {
				d := launch(t, mode...)
				if alone && mode[0] == "churn" {
					t.Skip("it waits for the other thread")
				}
				d.SetSignalPolicy(10, target.SignalPolicy{Pass: true})
				d.insert("main")
				d.wantStop(d.cont(), target.Breakpoint)
				d.insert("place")
				e := target.Event{}
				for range 300000 {
					e = d.resume(target.Resume{Thread: main(d), Step: true, Alone: alone})
					if e.Kind != target.Stopped {
						break
					}
				}
				want := map[string]int{"usr1": 1, "exec": 9}[mode[0]]
				d.wantExit(e, want)
			})
		}
	}
}

func TestStepOverRep(t *testing.T) {
	t.Parallel()
	d := launch(t, "rep")
	d.insert("rep_here")
	d.wantStop(d.cont(), target.Breakpoint)
	d.wantExit(d.cont(), 0)
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	d := launch(t, "spin")
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	for range 50 {
		if err := d.Resume(target.Resume{}); err != nil {
			t.Fatal(err)
		}
		if err := d.Resume(target.Resume{}); err != target.ErrRunning {
			t.Fatalf("a second Resume: %v", err)
		}
		if err := d.Interrupt(); err != nil {
			t.Fatal(err)
		}
		d.wantStop(d.next(), target.Interrupted)
	}
	if _, err := d.WriteMemory(symbol(t, "stop_now"), []byte{1}); err != nil {
		t.Fatal(err)
	}
	d.wantExit(d.cont(), 7)
}

func TestInterruptInSyscall(t *testing.T) {
	t.Parallel()
	r, w, _ := os.Pipe()
	defer r.Close()
	defer w.Close()
	d := launchWith(t, LaunchOptions{Path: program(t), Args: []string{"read"}, Stdin: r})
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	for range 20 {
		_ = d.Resume(target.Resume{})
		_ = d.Interrupt()
		d.wantStop(d.next(), target.Interrupted)
	}
	_, _ = w.Write([]byte{77})
	d.wantExit(d.cont(), 77)

	// The kernel restarts a sleep with the time that is left. On a slow machine the sleep may end before the interruptions do.
	const interruptions = 20
	for interrupted := 0; interrupted < interruptions; {
		d := launch(t, "sleep", "50")
		d.insert("ready")
		d.wantStop(d.cont(), target.Breakpoint)
		var e target.Event
		for e.Kind != target.Exited {
			_ = d.Resume(target.Resume{})
			if interrupted < interruptions {
				_ = d.Interrupt()
			}
			if e = d.next(); e.Kind != target.Exited {
				d.wantStop(e, target.Interrupted)
				interrupted++
			}
		}
		d.wantExit(e, 5)
	}
}

func TestForksAreUnharmed(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"forks", "vforks"} {
		d := launch(t, mode, "20")
		d.insert("place")
		for range 20 {
			d.wantStop(d.cont(), target.Breakpoint)
		}
		d.wantExit(d.cont(), 0)
		if d.counts[target.Forked] != 20 {
			t.Errorf("%s: %v", mode, d.counts)
		}
	}
}

func TestExec(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"exec", "execthread"} {
		d := launch(t, mode)
		d.insert("place")
		d.wantStop(d.cont(), target.Execed)
		if l := d.Threads(); len(l) != 1 || l[0].ID != main(d) {
			t.Errorf("threads %+v", l)
		}
		d.insert("main")
		d.wantStop(d.cont(), target.Breakpoint)
		d.wantExit(d.cont(), 9)
	}
}

func TestLeaderExitsFirst(t *testing.T) {
	t.Parallel()
	d := launch(t, "leader", "12")
	d.insert("place")
	e := d.cont()
	d.wantStop(e, target.Breakpoint)
	if l := d.Threads(); len(l) != 1 || l[0].ID != e.Thread || e.Thread == main(d) {
		t.Errorf("threads %+v", l)
	}
	if m, err := d.Mappings(); err != nil || len(m) == 0 {
		t.Errorf("mappings: %v", err)
	}
	if d.Exe() != program(t) {
		t.Errorf("exe %q", d.Exe())
	}
	d.wantExit(d.cont(), 12)
}

func TestThousandThreads(t *testing.T) {
	t.Parallel()
	d := launch(t, "many", "1000")
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	l := d.Threads()
	if len(l) != 1001 || l[0].ID != main(d) || l[1].Name != "basic" {
		t.Fatalf("%d threads", len(l))
	}
	for _, th := range l {
		d.pc(th.ID)
	}
	d.resume(target.Resume{Thread: main(d), Step: true})
	d.wantExit(d.cont(), 0)
}

func TestChurn(t *testing.T) {
	t.Parallel()
	d := launch(t, "churn", "500")
	d.wantExit(d.cont(), 0)
	if d.counts[target.ThreadStarted] != 500 || d.counts[target.ThreadExited] != 500 {
		t.Errorf("%v", d.counts)
	}
}

func TestKilledFromOutside(t *testing.T) {
	t.Parallel()
	d := launch(t, "spin")
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	_ = d.Kill()
	if e := d.next(); e.Kind != target.Killed || e.Signal.Number != 9 {
		t.Errorf("stopped: got %+v", e)
	}
	if _, err := d.ReadMemory(symbol(t, "main"), make([]byte, 4)); err == nil {
		t.Error("memory of a process that is gone")
	}
	d = launch(t, "many", "100")
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	_ = d.Resume(target.Resume{})
	_ = d.Kill()
	if e := d.next(); e.Kind != target.Killed && e.Kind != target.Exited {
		t.Errorf("running: got %+v", e)
	}
}

func TestSetRegister(t *testing.T) {
	t.Parallel()
	d := launch(t, "spin")
	d.insert("ready")
	d.wantStop(d.cont(), target.Breakpoint)
	for i, r := range []arch.Reg{arch.RAX, arch.R15, arch.RDI} {
		if err := d.SetRegister(main(d), r, uint64(i)+100); err != nil {
			t.Fatal(err)
		}
		regs, _ := d.Registers(main(d))
		if v, _ := regs.Get(r); v != uint64(i)+100 {
			t.Errorf("register %d is %d", r, v)
		}
	}
	for r, n := range map[arch.Reg]int{arch.ST0: 10, arch.MM0: 8} {
		if b, err := d.WideRegister(main(d), r); err != nil || len(b) != n {
			t.Errorf("register %d: % x, %v", r, b, err)
		}
	}
	if b, err := d.WideRegister(main(d), arch.XMM0); err != nil || len(b) != 16 && len(b) != 32 {
		t.Errorf("xmm0: % x, %v", b, err)
	}
}

func TestReadStopsAtThePageEdge(t *testing.T) {
	d := launch(t, "spin")
	maps, _ := d.Mappings()
	var top target.Addr
	for i, m := range maps {
		if i+1 == len(maps) || maps[i+1].Lo != m.Hi {
			top = m.Hi
			break
		}
	}
	n, err := d.ReadMemory(top-5, make([]byte, 100))
	var me *target.MemoryError
	if n != 5 || !errors.As(err, &me) || me.Addr != top {
		t.Errorf("read %d, %v", n, err)
	}
	if a := testing.AllocsPerRun(100, func() { var b [64]byte; _, _ = d.ReadMemory(top-64, b[:]) }); a > 1 {
		t.Errorf("%v allocations", a)
	}
}

func TestLaunchErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	b, _ := os.ReadFile(program(t))
	change := func(off int, with string) string { return string(b[:off]) + with + string(b[off+len(with):]) }
	interp := bytes.Index(b, []byte("/lib64/ld-linux"))
	for _, c := range []struct {
		path string
		want error
	}{
		{filepath.Join(dir, "none"), start.ErrNotFound},
		{dir, start.ErrDirectory},
		{write("script", "#!/bin/sh -e\n", 0755), start.ErrScript},
		{write("text", "hello, this is not a program\n", 0755), start.ErrNotELF},
		{write("empty", "", 0755), start.ErrNotELF},
		{write("noexec", string(b), 0644), start.ErrPermission},
		{write("arm", change(18, "\xb7\x00"), 0755), start.ErrWrongArch},
		{write("i386", change(18, "\x03\x00"), 0755), start.Err32Bit},
		{write("nointerp", change(interp, "/nib64"), 0755), start.ErrNoInterpreter},
	} {
		p, err := Launch(LaunchOptions{Path: c.path})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.path, err)
		}
		if p != nil {
			p.Close()
		}
		t.Log(err)
	}
}
