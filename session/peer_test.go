package session_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/session"
	"dbg/target"
)

// The tests of this file hold dbg's backtraces against gdb's at the same stop,
// frame for frame: function, file and line, PC.

// expectSame compares one thread's backtrace with gdb's.
func expectSame(t *testing.T, what string, got []session.Frame, want []gdbpeer.Frame) {
	t.Helper()
	if len(want) == 0 {
		t.Fatalf("%s: gdb gave no frames", what)
	}
	got, want = sameTailCalls(got, want)
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = describe(got[i])
		}
		if i < len(want) {
			w = describeGDB(want[i])
		}
		if g != w && !(i < len(got) && i < len(want) && aliases(t, got[i], want[i])) {
			t.Errorf("%s: frame %d\n  dbg: %s\n  gdb: %s", what, i, g, w)
		}
	}
}

// sameTailCalls leaves out the functions gone by tail calls that only one of the two shows: gdb does not
// follow all kinds of call sites, dbg shows none where there may have been others.
func sameTailCalls(got []session.Frame, want []gdbpeer.Frame) ([]session.Frame, []gdbpeer.Frame) {
	have := map[string]int{}
	for _, f := range want {
		if f.TailCall {
			have[describeGDB(f)]++
		}
	}
	got = slices.DeleteFunc(slices.Clone(got), func(f session.Frame) bool {
		if !f.TailCall {
			return false
		}
		have[describe(f)]--
		return have[describe(f)] < 0
	})
	have = map[string]int{}
	for _, f := range got {
		if f.TailCall {
			have[describe(f)]++
		}
	}
	return got, slices.DeleteFunc(slices.Clone(want), func(f gdbpeer.Frame) bool {
		if !f.TailCall {
			return false
		}
		have[describeGDB(f)]--
		return have[describeGDB(f)] < 0
	})
}

// aliases reports whether two frames differ only in which of several symbols of
// one address they name: gdb takes the one that its sort happens to put last.
func aliases(t *testing.T, a session.Frame, b gdbpeer.Frame) bool {
	same := b
	same.Func = a.FunctionName
	if a.Module == nil || a.Module.Symbols == nil || describe(a) != describeGDB(same) {
		return false
	}
	path := a.Module.Path
	if d := a.Module.Symbols.DebugFile(); d != nil {
		path = d.Path()
	}
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := map[image.Addr]int{}
	for _, sym := range f.Symbols() {
		if sym.Name == a.FunctionName || sym.Name == b.Func {
			at[sym.Addr]++
		}
	}
	for _, n := range at {
		if n >= 2 {
			return true
		}
	}
	return false
}

func describe(f session.Frame) string {
	name := f.FunctionName
	if f.Machine.Signal {
		name = "<signal handler called>"
	}
	file := ""
	if f.HasSource() && !f.Machine.Signal {
		file = fmt.Sprintf(" at %s:%d", filepath.Base(f.Position.File), f.Position.Line)
	}
	return fmt.Sprintf("%#x %s%s", uint64(f.PC), orUnknown(name), file)
}

func describeGDB(f gdbpeer.Frame) string {
	name, file := f.Func, ""
	if f.Signal {
		name = "<signal handler called>"
	} else if f.File != "" {
		file = fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
	}
	return fmt.Sprintf("%#x %s%s", f.PC, orUnknown(name), file)
}

func orUnknown(name string) string {
	if name == "" {
		return "??"
	}
	return name
}

// newSession makes a session that ends with the test.
func newSession(t testing.TB) (*session.Session, <-chan session.Event) {
	t.Helper()
	s := session.New(session.Config{})
	events, cancel := s.Subscribe()
	t.Cleanup(func() { s.Close(); cancel() })
	return s, events
}

// until takes events until one of type E comes.
func until[E session.Event](t testing.TB, events <-chan session.Event) E {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		select {
		case ev, ok := <-events:
			if !ok {
				t.Fatal("the session ended")
			}
			if e, ok := ev.(E); ok {
				return e
			}
			if e, ok := ev.(session.Ended); ok {
				t.Fatalf("the program ended: %+v", e)
			}
		case <-deadline:
			t.Fatal("no event in 60 s")
		}
	}
}

func backtrace(t *testing.T, s *session.Session, id target.ThreadID) []session.Frame {
	t.Helper()
	bt, err := s.Backtrace(id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return bt.Frames
}

// null is where a test's program may write.
func null(t testing.TB) *os.File {
	t.Helper()
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// build is a way to compile and to spoil a fixture.
type build struct {
	name  string
	flags []string
	strip bool
}

var builds = []build{
	{name: "O0-pie", flags: []string{"-g", "-O0"}},
	{name: "O2-no-frame-pointer", flags: []string{"-g", "-O2", "-fomit-frame-pointer"}},
	{name: "no-pie", flags: []string{"-g", "-O1", "-no-pie"}},
	{name: "static", flags: []string{"-g", "-O1", "-static"}},
	{name: "static-pie", flags: []string{"-g", "-O1", "-static-pie"}},
	{name: "stripped", flags: []string{"-O1"}, strip: true},
	{name: "dwarf4", flags: []string{"-gdwarf-4", "-O1"}},
	{name: "clang", flags: []string{"cc=clang-19", "-g", "-O1"}},
}

func (b build) make(t *testing.T, source string) string {
	t.Helper()
	flags := b.flags
	if b.strip {
		flags = append(append([]string{}, flags...), "-s")
	}
	return fixture.Build(t, source, flags...)
}

// TestCoreAgainstGDB opens the core of a program that died.
func TestCoreAgainstGDB(t *testing.T) {
	for _, source := range []string{"c/abort3.c", "c/handler.c", "c/threads8.c"} {
		for _, b := range builds {
			for _, args := range variants(source) {
				t.Run(source+"/"+b.name+strings.Join(args, " "), func(t *testing.T) {
					t.Parallel()
					fixture.Need(t, "gdb")
					exe := b.make(t, source)
					core := fixture.Core(t, exe, append([]string{}, args...)...)
					compareCore(t, core, exe)
				})
			}
		}
	}
}

// variants are the arguments with which a fixture is run until it dies.
func variants(source string) [][]string {
	switch source {
	case "c/abort3.c":
		return [][]string{{}}
	case "c/handler.c":
		return [][]string{{}, {"altstack"}}
	}
	return [][]string{{}}
}

func compareCore(t *testing.T, core, exe string) {
	out := gdbpeer.Run(t, exe, core, "-ex", "info threads", "-ex", "thread apply all -ascending "+gdbpeer.Stack)
	want := gdbpeer.Frames(out)
	ids := gdbpeer.Threads(out)
	if len(want) == 0 || len(want) != len(ids) {
		t.Fatalf("gdb gave %d stacks of %d threads:\n%s", len(want), len(ids), out)
	}
	s, _ := newSession(t)
	if err := s.OpenCore(core, ""); err != nil {
		t.Fatal(err)
	}
	if w := s.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %q", w)
	}
	threads, err := s.Threads()
	if err != nil {
		t.Fatal(err)
	}
	if len(threads) != len(ids) {
		t.Errorf("dbg has %d threads, gdb %d", len(threads), len(ids))
	}
	for i, id := range ids {
		expectSame(t, fmt.Sprintf("thread %d", id), backtrace(t, s, target.ThreadID(id)), want[i])
	}
}

// TestLiveAgainstGDB runs a program until it dies, in both.
func TestLiveAgainstGDB(t *testing.T) {
	for _, source := range []string{"c/abort3.c", "c/handler.c"} {
		for _, b := range builds {
			t.Run(source+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				fixture.Need(t, "gdb")
				exe := b.make(t, source)
				gdbArgs := []string{exe, "-ex", "handle SIGSEGV nostop noprint pass", "-ex", "run", "-ex", gdbpeer.Stack, "-ex", "kill"}
				want := gdbpeer.Frames(gdbpeer.Run(t, gdbArgs...))
				s, events := newSession(t)
				s.SetSignal(11, session.SignalSetting{SignalPolicy: target.SignalPolicy{Pass: true}})
				dev := null(t)
				if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
					t.Fatal(err)
				}
				if err := s.Run(); err != nil {
					t.Fatal(err)
				}
				stop := until[session.Stopped](t, events)
				if stop.Reason != session.StopSignal || stop.Signal.Number != 6 {
					t.Fatalf("stopped for %+v", stop.Stop)
				}
				if len(want) != 1 {
					t.Fatalf("gdb gave %d stacks", len(want))
				}
				expectSame(t, "live", backtrace(t, s, stop.Thread), want[0])
			})
		}
	}
}

// TestPLTAgainstGDB stops in a PLT stub, at each of its instructions.
func TestPLTAgainstGDB(t *testing.T) {
	for _, b := range []build{builds[0], builds[1], builds[2],
		{name: "lazy", flags: []string{"-g", "-O1", "-Wl,-z,lazy"}}, {name: "ibt", flags: []string{"-g", "-O1", "-fcf-protection", "-Wl,-z,ibtplt"}}} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			fixture.Need(t, "gdb", "objdump")
			exe := b.make(t, "c/plt.c")
			at := "*'puts@plt'"
			want := gdbpeer.Frames(gdbpeer.Run(t, exe, "-ex", "break caller", "-ex", "run", "-ex", "break "+at, "-ex", "continue",
				"-ex", gdbpeer.Stack, "-ex", "stepi", "-ex", gdbpeer.Stack, "-ex", "stepi", "-ex", gdbpeer.Stack, "-ex", "kill"))
			if len(want) != 3 {
				t.Fatalf("gdb gave %d stacks", len(want))
			}
			s, events := newSession(t)
			dev := null(t)
			if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "caller"}}, false); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			until[session.Stopped](t, events)
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Addr: target.Addr(want[0][0].PC), HasAddr: true}}, false); err != nil {
				t.Fatal(err)
			}
			if err := s.Continue(0); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				stop := until[session.Stopped](t, events)
				expectSame(t, fmt.Sprintf("instruction %d", i), backtrace(t, s, stop.Thread), want[i])
				if err := s.Step(session.StepInstruction, 1); err != nil {
					t.Fatal(err)
				}
			}
			until[session.Stopped](t, events)
		})
	}
}

// start runs a fixture that says when it is ready.
func start(t *testing.T, exe string, args ...string) (*exec.Cmd, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(exe, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, in, r
}

// settled waits until all threads of a process are blocked in the kernel, so that
// two looks at it see the same. The kernel has no event for that: the files that
// say it are read again until they do.
func settled(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		calm := true
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		for _, f := range tasks {
			text, err := os.ReadFile(f)
			// read, pause and futex are where the fixtures end up
			call, _, _ := strings.Cut(string(text), " ")
			calm = calm && err == nil && (call == "0" || call == "34" || call == "202")
		}
		if calm && len(tasks) > 0 {
			return
		}
		runtime.Gosched()
	}
	t.Fatal("the program did not come to rest in 60 s")
}

// TestAttachAgainstGDB attaches to a program that waits, first with gdb, then
// with dbg.
func TestAttachAgainstGDB(t *testing.T) {
	for _, b := range builds {
		for _, fix := range [][]string{{"c/waiter.c"}, {"c/threads8.c", "wait"}} {
			t.Run(fix[0]+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				fixture.Need(t, "gdb")
				exe := b.make(t, fix[0])
				cmd, in, r := start(t, exe, fix[1:]...)
				settled(t, cmd.Process.Pid)
				out := gdbpeer.Run(t, "-p", fmt.Sprint(cmd.Process.Pid), "-ex", "info threads", "-ex", "thread apply all -ascending "+gdbpeer.Stack, "-ex", "detach")
				want, ids := gdbpeer.Frames(out), gdbpeer.Threads(out)
				if len(ids) == 0 && len(want) == 1 { // without libthread_db a lone thread is a "process"
					ids = []int{cmd.Process.Pid}
				}
				if len(want) == 0 || len(want) != len(ids) {
					t.Fatalf("gdb gave %d stacks of %d threads:\n%s", len(want), len(ids), out)
				}
				s, _ := newSession(t)
				if err := s.Attach(cmd.Process.Pid); err != nil {
					t.Fatal(err)
				}
				threads, err := s.Threads()
				if err != nil {
					t.Fatal(err)
				}
				if len(threads) != len(ids) {
					t.Errorf("dbg has %d threads, gdb %d", len(threads), len(ids))
				}
				for i, id := range ids {
					expectSame(t, fmt.Sprintf("thread %d", id), backtrace(t, s, target.ThreadID(id)), want[i])
				}
				if err := s.Detach(); err != nil {
					t.Fatal(err)
				}
				if fix[0] == "c/waiter.c" {
					fmt.Fprintln(in, "x")
					if line, err := r.ReadString('\n'); err != nil || line != "result 9\n" {
						t.Errorf("after the detach the program said %q, %v", line, err)
					}
				}
			})
		}
	}
}

// TestPLTCoreAgainstGDB opens a core that gdb made in a PLT stub.
func TestPLTCoreAgainstGDB(t *testing.T) {
	for _, b := range []build{builds[0], builds[2], {name: "ibt", flags: []string{"-g", "-O1", "-fcf-protection", "-Wl,-z,ibtplt"}}} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			fixture.Need(t, "gdb")
			exe := b.make(t, "c/plt.c")
			core := filepath.Join(t.TempDir(), "core")
			gdbpeer.Run(t, exe, "-ex", "break caller", "-ex", "run", "-ex", "break *'puts@plt'", "-ex", "continue", "-ex", "stepi", "-ex", "generate-core-file "+core, "-ex", "kill")
			compareCore(t, core, exe)
		})
	}
}

// TestThreadsAgainstGDB launches a program with eight threads, each in a function
// of its own, stops it with all of them, lets it go, and asks gdb about the same
// process.
func TestThreadsAgainstGDB(t *testing.T) {
	for _, b := range builds {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			fixture.Need(t, "gdb")
			exe := b.make(t, "c/threads8.c")
			s, events := newSession(t)
			if err := s.Load(session.Program{Path: exe, Args: []string{"wait"}, Capture: true}); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			if out := until[session.Output](t, events); string(out.Data) != "ready\n" {
				t.Fatalf("%q", out.Data)
			}
			info, _ := s.Target()
			settled(t, info.PID)
			if err := s.Pause(); err != nil {
				t.Fatal(err)
			}
			until[session.Stopped](t, events)
			got := map[int][]session.Frame{}
			threads, err := s.Threads()
			if err != nil || len(threads) != 9 {
				t.Fatalf("%d threads, %v", len(threads), err)
			}
			for _, th := range threads {
				got[int(th.ID)] = backtrace(t, s, th.ID)
			}
			if err := s.Detach(); err != nil {
				t.Fatal(err)
			}
			p, err := os.FindProcess(info.PID)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { p.Kill(); p.Wait() }()
			out := gdbpeer.Run(t, "-p", fmt.Sprint(info.PID), "-ex", "info threads", "-ex", "thread apply all -ascending "+gdbpeer.Stack, "-ex", "detach")
			want, ids := gdbpeer.Frames(out), gdbpeer.Threads(out)
			if len(want) != 9 || len(ids) != 9 {
				t.Fatalf("gdb gave %d stacks of %d threads:\n%s", len(want), len(ids), out)
			}
			for i, id := range ids {
				expectSame(t, fmt.Sprintf("thread %d", id), got[id], want[i])
			}
		})
	}
}

// TestStoppedAttachAgainstGDB brings programs to places that they do not wait
// at, leaves them there stopped by SIGSTOP, and attaches to them with dbg and with gdb.
func TestStoppedAttachAgainstGDB(t *testing.T) {
	for source, at := range map[string]string{"c/abort3.c": "abort", "c/handler.c": "abort", "c/plt.c": "puts@plt"} {
		for _, b := range builds {
			if at == "puts@plt" && (strings.HasPrefix(b.name, "static") || b.strip) {
				continue // no PLT, no name for its caller
			}
			t.Run(source+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				fixture.Need(t, "gdb")
				pid := leaveAt(t, b.make(t, source), at)
				s, _ := newSession(t)
				if err := s.Attach(pid); err != nil {
					t.Fatal(err)
				}
				got := backtrace(t, s, target.ThreadID(pid))
				if err := s.Detach(); err != nil {
					t.Fatal(err)
				}
				want := gdbpeer.Frames(gdbpeer.Run(t, "-p", fmt.Sprint(pid), "-ex", gdbpeer.Stack, "-ex", "kill"))
				if len(want) != 1 {
					t.Fatalf("gdb gave %d stacks", len(want))
				}
				if got[0].FunctionName == "" || !strings.Contains(got[0].FunctionName, at) {
					t.Errorf("it was left in %s, not in %s", got[0].FunctionName, at)
				}
				expectSame(t, "attached", got, want[0])
			})
		}
	}
}

// leaveAt runs a program up to a function and leaves it there, stopped.
func leaveAt(t *testing.T, exe, at string) int {
	t.Helper()
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	s.SetSignal(11, session.SignalSetting{SignalPolicy: target.SignalPolicy{Pass: true}})
	to := at
	if at == "puts@plt" {
		to = "caller"
	}
	if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: to}}, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	stop := until[session.Stopped](t, events)
	for range 10 {
		if f, err := s.Frame(stop.Thread, 0); err != nil || strings.Contains(f.FunctionName, at) {
			break
		}
		if err := s.Step(session.StepInstruction, 1); err != nil {
			t.Fatal(err)
		}
		stop = until[session.Stopped](t, events)
	}
	info, _ := s.Target()
	p, err := os.FindProcess(info.PID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill(); p.Wait() })
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := s.Detach(); err != nil {
		t.Fatal(err)
	}
	return info.PID
}
