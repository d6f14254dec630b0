//go:build linux && amd64

package frames_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/internal/fixture"
)

// TestTortureEveryPC is "every PC of prologue and epilogue", "realigned stacks with alloca" and "cold splits,
// basic-block sections", each instruction of it: the shadow call stack of TestShadowStack over a program that has such frames.
func TestTortureEveryPC(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for i, flags := range [][]string{
		{"-O2", "-static", "-fomit-frame-pointer"},
		{"-O2", "-static", "-fsplit-stack"},
		{"cc=clang-19", "-O2", "-static", "-fbasic-block-sections=all"},
		{"cc=clang-19", "-O1", "-static", "-mstackrealign"},
		{"-O0", "-static"},
		{"-O2", "-static", "-fno-omit-frame-pointer", "-mno-red-zone"},
		{"-Os", "-static", "-maccumulate-outgoing-args"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			if i >= 4 {
				fixture.Sweep(t)
			}
			if flags[0] == "cc=clang-19" {
				fixture.Need(t, "clang-19")
			}
			shadow(t, fixture.Build(t, "torture/chain.c", flags...), 40_000, 0, 1)
		})
	}
}

// TestQuickIsSlow holds the quick way to a caller against the slow one, which recording takes: in a
// program stepped through its start, its calls and its death, every frame of every walk has the same registers,
// places, trust and attempts.
func TestQuickIsSlow(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	for _, c := range []struct {
		source string
		flags  []string
	}{
		{"torture/chain.c", []string{"-O0"}},
		{"torture/chain.c", []string{"-O2", "-fomit-frame-pointer", "-static"}},
		{"torture/chain.c", []string{"-O2", "-fno-asynchronous-unwind-tables", "-fno-omit-frame-pointer", "-static"}},
		{"c/handler.c", []string{"-O1", "-static"}},
	} {
		t.Run(c.source+" "+strings.Join(c.flags, " "), func(t *testing.T) {
			walks, all := 0, 0
			var u, slow *frames.Unwinder
			stepped(t, fixture.Build(t, c.source, c.flags...), 150_000, func(i int, l *live, r *syscall.PtraceRegs) {
				if u == nil || i%10_000 == 0 {
					u, slow = frames.New(arch.AMD64, l), frames.New(arch.AMD64, l)
				}
				if i%20 != 0 && (i < 14_000 || i > 15_000) {
					return
				}
				regs := toRegisters(r)
				a, b := u.Walk(regs), slow.Walk(regs)
				b.Record = true
				x, y := follow(a, nil, nil), follow(b, nil, nil)
				if diff := x.differ(&y, a, b); diff != "" {
					t.Errorf("step %d, pc 0x%x (%s): %s", i, r.Rip, where(l, r.Rip), diff)
				}
				walks++
				all += len(x.frames)
			})
			t.Logf("%d walks, %d frames", walks, all)
			if walks < 500 {
				t.Errorf("only %d walks", walks)
			}
		})
	}
}

// TestQuickIsSlowInCores does the same for all threads of cores, whose tables are compiled in one case and interpreted in
// the other.
func TestQuickIsSlowInCores(t *testing.T) {
	for _, c := range corruptible {
		t.Run(strings.Join(append(append([]string{c.source}, c.flags...), c.args...), " "), func(t *testing.T) {
			s := openSnapshot(t, fixture.Core(t, fixture.Build(t, c.source, c.flags...), c.args...))
			compiled := openSnapshot(t, s.path)
			for _, m := range compiled.modules {
				m.Compile(arch.AMD64)
			}
			for i := range s.threads {
				a := frames.New(arch.AMD64, s).Walk(&s.threads[i])
				first := follow(a, nil, nil)
				b := frames.New(arch.AMD64, s).Walk(&s.threads[i])
				b.Record = true
				d := frames.New(arch.AMD64, compiled).Walk(&s.threads[i])
				for how, w := range map[string]*frames.Walk{"warm": a, "recording": b, "compiled": d} {
					tr := follow(w, nil, nil)
					if diff := first.differ(&tr, a, w); diff != "" {
						t.Errorf("thread %d, %s: %s", i, how, diff)
					}
				}
			}
		})
	}
}

// stepped runs a program instruction by instruction.
func stepped(t *testing.T, bin string, steps int, visit func(i int, l *live, regs *syscall.PtraceRegs)) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(bin)
	cmd.Env = []string{"LD_BIND_NOW="}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		fixture.Missing(t, err)
	}
	pid := cmd.Process.Pid
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || !ws.Stopped() {
		t.Fatalf("no stop: %v", err)
	}
	defer func() {
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, &ws, 0, nil)
	}()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	l := &live{pid: pid, mem: mem, modules: map[string]*frames.Module{}}
	l.readMaps()
	var regs syscall.PtraceRegs
	var code [2]byte
	for i := range steps {
		if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
			return
		}
		if code == [2]byte{0x0f, 0x05} {
			l.readMaps()
		}
		mem.ReadAt(code[:], int64(regs.Rip))
		visit(i, l, &regs)
		sig := 0
		if s := ws.StopSignal(); s != syscall.SIGTRAP {
			sig = int(s)
		}
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, syscall.PTRACE_SINGLESTEP, uintptr(pid), 0, uintptr(sig), 0, 0); e != 0 {
			t.Fatal(e)
		}
		if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || !ws.Stopped() {
			return
		}
	}
}
