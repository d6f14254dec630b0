package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
	"dbg/target/elfcore"
)

// TestGenerateCore: a core that dbg writes has the backtraces of all threads, the registers and the
// memory of the live process, for dbg, gdb, lldb and elfutils.
func TestGenerateCore(t *testing.T) {
	exe := fixture.Build(t, "process/snapshot.c", "-g", "-O1")
	dir := t.TempDir()
	s, live := ranIntoSignal(t, exe, filepath.Join(dir, "mapped"))
	path := filepath.Join(dir, "core")
	w, err := s.GenerateCore(path, session.CoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Unreadable != 0 {
		t.Errorf("%d bytes were not readable", w.Unreadable)
	}
	if w.Stored > 16<<20 || w.Size < 64<<20 {
		t.Errorf("the core has %d bytes, of which %d are stored; 64 MB are zeros", w.Size, w.Stored)
	}
	regs := vector(t, s, live.thread)
	c, _ := newSession(t)
	if err := c.OpenCore(path, ""); err != nil {
		t.Fatal(err)
	}
	if warnings := c.Warnings(); len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
	if got := allStacks(t, c); !slices.Equal(got, live.stacks) {
		t.Errorf("backtraces of the core:\n%s\nof the process:\n%s", strings.Join(got, "\n"), strings.Join(live.stacks, "\n"))
	}
	threads, _ := c.Threads()
	if first := threads[0]; first.ID != live.thread || first.Signal == nil || first.Signal.Number != 11 || first.Signal.Addr != 0x28 {
		t.Errorf("the first thread is %+v", threads[0])
	}
	if got := vector(t, c, live.thread); got != regs {
		t.Errorf("vector register %s, in the process %s", got, regs)
	}
	wideVector(t, path, live.thread)
	for _, th := range threads[1:] {
		if th.Signal != nil {
			t.Errorf("thread %d had no signal, and has %v in the core", th.ID, th.Signal)
		}
	}
	for expr, want := range map[string]string{
		"(char*)(private_map + 4096)": `"changed"`, "private_map[0]": "102 'f'", "(char*)(anonymous + (17 << 20))": `"an island"`,
		"anonymous[5]": `0 '\000'`, "excluded[0]": "Cannot access", "shared_map[0]": "102 'f'", "vectors[1]": "2459565876494606882",
	} {
		v, err := c.Evaluate(threads[0].ID, 0, expr)
		text := c.FormatIn(threads[0].ID, 0, v, session.DefaultFormat())
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) && !(strings.HasPrefix(want, "Cannot") && strings.Contains(strings.ToLower(text), "cannot")) {
			t.Errorf("%s is %s in the core, want %s", expr, text, want)
		}
	}
	peers(t, exe, path, live)

	// What the program excluded is there if the user wants it.
	all := filepath.Join(dir, "all")
	if _, err := s.GenerateCore(all, session.CoreOptions{Excluded: true}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(all); err != nil || !strings.Contains(string(b), "secret") {
		t.Errorf("the excluded memory is not in the core: %v", err)
	}
}

// peers holds what other programs see in a core against the live process.
func peers(t *testing.T, exe, path string, live liveView) {
	if fixture.Has(t, "gdb") {
		out, err := exec.Command("gdb", "-nx", "-batch", "-ex", "info threads", "-ex", "thread apply all bt", "-ex", "p/x $xmm5.uint128",
			"-ex", "p (char*)anonymous + (17<<20)", "-ex", "p $_siginfo.si_signo", "-ex", "p $rax", exe, path).CombinedOutput()
		text := string(out)
		for _, want := range []string{"SIGSEGV", "in dies (", "in worker (", `"an island"`, "= 11", "= 4660", "= 0x22222222222222221111111111111111"} {
			if err != nil || !strings.Contains(text, want) {
				t.Errorf("gdb shows no %q: %v\n%s", want, err, text)
			}
		}
		if n := strings.Count(text, "\nThread "); n != len(live.stacks) {
			t.Errorf("gdb shows %d threads, want %d", n, len(live.stacks))
		}
	}
	if fixture.Has(t, "lldb-19") {
		out, err := exec.Command("lldb-19", "--no-lldbinit", "-b", "-o", "bt all", "-c", path, exe).CombinedOutput()
		if text := string(out); err != nil || strings.Count(text, "thread #") != len(live.stacks) || !strings.Contains(text, "dies(depth=3)") || !strings.Contains(text, "SIGSEGV") {
			t.Errorf("lldb: %v\n%s", err, text)
		}
	}
	if fixture.Has(t, "eu-stack") {
		out, err := exec.Command("eu-stack", "--core="+path, "-e", exe).CombinedOutput()
		if text := string(out); strings.Count(text, "TID ") != len(live.stacks) || strings.Count(text, " dies") != 4 || !strings.Contains(text, "main") {
			t.Errorf("eu-stack: %v\n%s", err, text)
		}
	}
}

// liveView is what was seen of a live process.
type liveView struct {
	thread target.ThreadID
	stacks []string
}

// ranIntoSignal runs a program until it gets a signal.
func ranIntoSignal(t *testing.T, exe string, args ...string) (*session.Session, liveView) {
	s, events := newSession(t)
	dev := null(t)
	if err := s.Load(session.Program{Path: exe, Args: args, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	st, ok := next(t, events).(session.Stopped)
	if !ok || st.Signal == nil {
		t.Fatalf("the program did not die: %+v", st)
	}
	return s, liveView{st.Thread, allStacks(t, s)}
}

// allStacks lists the backtraces of all threads, a text for each, in the order of their ids.
func allStacks(t *testing.T, s *session.Session) []string {
	t.Helper()
	threads, err := s.Threads()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, th := range threads {
		text := fmt.Sprintf("%d:", th.ID)
		for _, f := range backtrace(t, s, th.ID) {
			text += fmt.Sprintf("\n  %v %s %s:%d %s", f.PC, f.FunctionName, f.Position.File, f.Position.Line, f.Trust)
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func vector(t *testing.T, s *session.Session, id target.ThreadID) string {
	t.Helper()
	v, err := s.Evaluate(id, 0, "$xmm5.v2_int64")
	if err != nil {
		t.Fatal(err)
	}
	opt := session.DefaultFormat()
	opt.Format = 'x'
	return s.FormatIn(id, 0, v, opt)
}

// wideVector checks the upper half of a vector register of 32 bytes.
func wideVector(t *testing.T, path string, id target.ThreadID) {
	t.Helper()
	if b, _ := os.ReadFile("/proc/cpuinfo"); !strings.Contains(string(b), " avx ") {
		return
	}
	core, err := elfcore.Open(path, elfcore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	want := strings.Repeat("\x11", 8) + strings.Repeat("\x22", 8) + strings.Repeat("\x33", 8) + strings.Repeat("\x44", 8)
	if b, err := core.WideRegister(id, arch.XMM0+5); err != nil || string(b) != want {
		t.Errorf("ymm5 is %x, %v; want %x", b, err, want)
	}
}

// TestGenerateCoreLeavesNothing: if a core can't be written, or the query is cancelled, no file is
// left and an older one is unchanged.
func TestGenerateCoreLeavesNothing(t *testing.T) {
	exe := fixture.Build(t, "process/snapshot.c", "-g", "-O1")
	s, _ := ranIntoSignal(t, exe, filepath.Join(t.TempDir(), "mapped"))
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Under(ctx).GenerateCore(old, session.CoreOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	for _, path := range []string{"/dev/null", dir, filepath.Join(dir, "missing", "core")} {
		if _, err := s.GenerateCore(path, session.CoreOptions{}); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if st, err := os.Stat("/dev/null"); err != nil || st.Mode().IsRegular() {
		t.Fatal("/dev/null was replaced")
	}
	list, _ := os.ReadDir(dir)
	if b, _ := os.ReadFile(old); len(list) != 1 || string(b) != "old" {
		t.Errorf("left: %v", list)
	}
}

// TestGenerateCoreHasNoBreakpoints: the bytes of breakpoints are not in a core.
func TestGenerateCoreHasNoBreakpoints(t *testing.T) {
	exe := fixture.Build(t, "process/snapshot.c", "-g", "-O1")
	s, events := newSession(t)
	dev := null(t)
	dir := t.TempDir()
	if err := s.Load(session.Program{Path: exe, Args: []string{filepath.Join(dir, "mapped")}, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"main", "worker", "dies"} {
		if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: f}}, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	if _, ok := next(t, events).(session.Stopped); !ok {
		t.Fatal("no stop")
	}
	if err := s.Continue(0); err != nil { // a second stop: the bytes have been in memory
		t.Fatal(err)
	}
	if _, ok := next(t, events).(session.Stopped); !ok {
		t.Fatal("no second stop")
	}
	path := filepath.Join(dir, "core")
	if _, err := s.GenerateCore(path, session.CoreOptions{}); err != nil {
		t.Fatal(err)
	}
	c, _ := newSession(t)
	if err := c.OpenCore(path, ""); err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Breakpoints() {
		for _, p := range b.Places {
			var buf [1]byte
			if _, err := c.ReadMemory(p.Addr, buf[:]); err != nil || buf[0] == arch.AMD64.Breakpoint[0] {
				t.Errorf("at %s, breakpoint %d: %x %v", p.Addr, b.ID, buf, err)
			}
		}
	}
}
