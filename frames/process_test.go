//go:build linux && amd64

package frames_test

import (
	"bufio"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/internal/fixture"
	"dbg/target"
)

// TestShadowStack runs a real program instruction by instruction. Each call and
// return that it makes is seen, so the caller of every frame is known, with the values that its
// callee-saved registers must have: at every PC, in prologues, epilogues, PLT
// stubs, the dynamic linker and signal handlers.
func TestShadowStack(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	fixture.Need(t, "gcc")
	for _, c := range []struct {
		flags string
		steps int // a dynamically linked program is at main after some 100,000
		wrong int // how many PCs may be wrong: only where nothing at all helps
		every int // of so many instructions one is judged, without DBG_ALL
	}{
		{"-O0 -static", 60_000, 0, 1},
		{"-O2 -static", 60_000, 0, 1},
		{"-O2 -static-pie -fno-omit-frame-pointer", 60_000, 0, 1},
		{"-O2 -static -fno-asynchronous-unwind-tables -fno-omit-frame-pointer", 60_000, 0, 1},
		{"-O2 -static -fno-asynchronous-unwind-tables -fomit-frame-pointer", 60_000, 10, 1},
		{"-O2 -static -Wl,--no-eh-frame-hdr", 60_000, 0, 1},
		{"-O2 -Wl,-z,lazy -fcf-protection=full -Wl,-z,ibtplt", 250_000, 0, 5},
	} {
		flags := c.flags
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			src, bin := filepath.Join(dir, "a.c"), filepath.Join(dir, "a")
			if err := os.WriteFile(src, []byte(shadowProgram), 0o644); err != nil {
				t.Fatal(err)
			}
			args := append(strings.Fields(flags), "-o", bin, src)
			if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
				t.Fatalf("gcc %s: %v\n%s", flags, err, out)
			}
			if fixture.All() {
				c.every = 1
			}
			shadow(t, bin, c.steps, c.wrong, c.every)
		})
	}
}

const shadowProgram = `
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <unistd.h>
static char alt[1 << 16];
static volatile int n;
static jmp_buf jb;
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static int deep(int k) { volatile char pad[40]; pad[0] = k; return k ? deep(k - 1) + pad[0] : 0; }
__attribute__((noinline)) static int vla(int k) { volatile char a[k]; memset((char *)a, 1, k); return a[k - 1] + deep(2); }
static void handler(int s) { n += deep(3); if (n < 0) abort(); }
int main(void) {
	int v[20];
	for (int i = 0; i < 20; i++) v[i] = (i * 7) % 20;
	stack_t ss = { .ss_sp = alt, .ss_size = sizeof alt };
	sigaltstack(&ss, 0);
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	sigaction(SIGUSR1, &sa, 0);
	raise(SIGUSR1);
	n += vla(50) + vla(3000);
	qsort(v, 20, sizeof *v, cmp);
	if (!setjmp(jb)) longjmp(jb, 1);
	char *p = malloc(100);
	snprintf(p, 100, "%d %s %f\n", n, "x", 1.5);
	write(1, p, strlen(p));
	free(p);
	return 0;
}
`

// live is a traced process as a Space.
type live struct {
	pid     int
	mem     *os.File
	maps    []mapping
	modules map[string]*frames.Module
}

type mapping struct {
	lo, hi uint64
	off    uint64
	exec   bool
	path   string
}

func (l *live) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	n, err := l.mem.ReadAt(buf, int64(addr))
	if n < len(buf) {
		return n, &target.MemoryError{Addr: addr + target.Addr(n), Why: fmt.Sprint(err)}
	}
	return n, nil
}

func (l *live) find(pc target.Addr) *mapping {
	for i := range l.maps {
		if m := &l.maps[i]; m.lo <= uint64(pc) && uint64(pc) < m.hi {
			return m
		}
	}
	return nil
}

func (l *live) Executable(pc target.Addr) bool { m := l.find(pc); return m != nil && m.exec }

func (l *live) FindModule(pc target.Addr) *frames.Module {
	m := l.find(pc)
	if m == nil || m.path == "" {
		return nil
	}
	if mod, ok := l.modules[m.path]; ok {
		return mod
	}
	l.modules[m.path] = nil
	var f *elf.File
	var err error
	if m.path == "[vdso]" {
		data := make([]byte, m.hi-m.lo)
		l.ReadMemory(target.Addr(m.lo), data)
		f, err = elf.NewFile(strings.NewReader(string(data)))
	} else {
		f, err = elf.Open(m.path)
	}
	if err != nil {
		return nil
	}
	defer f.Close()
	mod := frames.NewModule(frames.Contents{Name: m.path, Lo: 1<<64 - 1})
	base, first := uint64(0), uint64(0)
	for i := len(l.maps) - 1; i >= 0; i-- {
		if l.maps[i].path == m.path {
			base = l.maps[i].lo
			frames.Edit(mod).Lo, frames.Edit(mod).Hi = min(frames.Edit(mod).Lo, target.Addr(l.maps[i].lo)), max(frames.Edit(mod).Hi, target.Addr(l.maps[i].hi))
		}
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			first = p.Vaddr &^ 4095
			break
		}
	}
	frames.Edit(mod).Bias = base - first
	frames.Edit(mod).Entry = f.Entry
	for name, s := range map[string]*frames.Section{".eh_frame": &frames.Edit(mod).EHFrame, ".eh_frame_hdr": &frames.Edit(mod).EHFrameHdr, ".debug_frame": &frames.Edit(mod).DebugFrame} {
		if e := f.Section(name); e != nil {
			s.Data, _ = e.Data()
			s.Addr = e.Addr
		}
	}
	for _, name := range []string{".plt", ".plt.sec", ".plt.got"} {
		if e := f.Section(name); e != nil {
			frames.Edit(mod).PLT = append(frames.Edit(mod).PLT, frames.Range{Lo: e.Addr, Hi: e.Addr + e.Size})
		}
	}
	l.modules[m.path] = mod
	return mod
}

func (l *live) readMaps() {
	l.maps = l.maps[:0]
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", l.pid))
	in := bufio.NewScanner(strings.NewReader(string(data)))
	for in.Scan() {
		var m mapping
		var perm, dev string
		var ino uint64
		fmt.Sscanf(in.Text(), "%x-%x %s %x %s %d %s", &m.lo, &m.hi, &perm, &m.off, &dev, &ino, &m.path)
		m.exec = strings.Contains(perm, "x")
		l.maps = append(l.maps, m)
	}
}

// called is an activation that we saw begin.
type called struct {
	ra, cfa uint64
	saved   [6]uint64 // the caller's callee-saved registers
	signal  bool      // it is a signal handler
}

func saved(r *syscall.PtraceRegs) [6]uint64 {
	return [6]uint64{r.Rbx, r.Rbp, r.R12, r.R13, r.R14, r.R15}
}

// shadow steps a program and holds the unwinder against what happens, at one of so many instructions.
func shadow(t *testing.T, bin string, steps, allowed, every int) {
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
	u := frames.New(arch.AMD64, l)
	var stack []called
	var regs, prev syscall.PtraceRegs
	var prevCode, code [16]byte
	checked, wrong, full := 0, 0, 0
	byStrategy := map[string]int{}
	for i := range steps {
		if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
			break
		}
		if i > 0 {
			stack = observe(l, stack, &prev, &regs, prevCode[:])
		}
		mem.ReadAt(code[:], int64(regs.Rip))
		if prevCode[0] == 0x0f && prevCode[1] == 0x05 {
			l.readMaps() // a system call may have mapped something
		}
		var msg, how string
		if i%every == 0 {
			msg, how = compare(u, &regs, stack)
			checked++
			byStrategy[how]++
		}
		if msg != "" {
			if wrong++; wrong > allowed && wrong <= allowed+8 {
				t.Errorf("step %d: pc 0x%x (%s), code % x: %s", i, regs.Rip, where(l, regs.Rip), code[:8], msg)
			}
		}
		// In longjmp compare does not judge either: glibc's table there describes the frame that is jumped to.
		if i%(101*every) == 0 && how != "longjmp" {
			full++
			stack := stack
			if how == "trampoline" {
				stack = stack[:len(stack)-1] // the handler has returned
			}
			if msg := whole(u, &regs, stack); msg != "" && allowed == 0 {
				t.Errorf("step %d: pc 0x%x (%s): %s", i, regs.Rip, where(l, regs.Rip), msg)
			}
		}
		prev, prevCode = regs, code
		sig := 0
		if ws.StopSignal() != syscall.SIGTRAP {
			sig = int(ws.StopSignal())
		}
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, syscall.PTRACE_SINGLESTEP, uintptr(pid), 0, uintptr(sig), 0, 0); e != 0 {
			t.Fatal(e)
		}
		if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil || !ws.Stopped() {
			break
		}
	}
	t.Logf("%d instructions, %d wrong, %d whole backtraces, frame 1 by %v", checked, wrong, full, byStrategy)
}

// observe updates the shadow stack for the instruction that led from prev to now.
func observe(l *live, stack []called, prev, now *syscall.PtraceRegs, code []byte) []called {
	isSyscall := code[0] == 0x0f && code[1] == 0x05
	switch {
	case isSyscall && prev.Rax == 15: // rt_sigreturn: the interrupted code goes on
		for len(stack) > 0 && !stack[len(stack)-1].signal {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			stack = stack[:len(stack)-1]
		}
		return stack
	}
	var b [8]byte
	top := uint64(0)
	if n, _ := l.mem.ReadAt(b[:], int64(now.Rsp)); n == 8 {
		top = binary.LittleEndian.Uint64(b[:])
	}
	if sigHandlerEntered(l, prev, now, top) {
		return append(stack, called{ra: top, cfa: now.Rsp + 8, signal: true})
	}
	// Returns, longjmp: whatever is below the stack pointer is gone, as far as the
	// alternate stack's boundary.
	for len(stack) > 0 && !stack[len(stack)-1].signal && now.Rsp >= stack[len(stack)-1].cfa {
		stack = stack[:len(stack)-1]
	}
	if len(stack) > 0 && stack[len(stack)-1].signal && now.Rip == stack[len(stack)-1].ra {
		return stack // in the trampoline: the mark stays until sigreturn
	}
	if now.Rsp == prev.Rsp-8 && top > prev.Rip && top-prev.Rip <= 8 && isCall(code) {
		stack = append(stack, called{ra: top, cfa: now.Rsp + 8, saved: saved(prev)})
	}
	return stack
}

func isCall(b []byte) bool {
	for len(b) > 2 && (b[0] == 0x67 || b[0] == 0x3e || b[0] == 0xf2 || b[0]&0xf0 == 0x40) {
		b = b[1:]
	}
	return b[0] == 0xe8 || b[0] == 0xff && b[1]>>3&7 == 2
}

// sigHandlerEntered recognises the kernel's delivery of a signal: the word on top of
// the stack is a trampoline.
func sigHandlerEntered(l *live, prev, now *syscall.PtraceRegs, top uint64) bool {
	if now.Rip-prev.Rip < 16 || !l.Executable(target.Addr(top)) || now.Rsp == prev.Rsp+8 {
		return false
	}
	var c [9]byte
	l.mem.ReadAt(c[:], int64(top))
	return string(c[:]) == "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05" && (now.Rsp < prev.Rsp-128 || now.Rsp > prev.Rsp)
}

func toRegisters(r *syscall.PtraceRegs) *arch.Registers {
	out := &arch.Registers{Arch: arch.AMD64}
	for reg, v := range map[arch.Reg]uint64{arch.RAX: r.Rax, arch.RBX: r.Rbx, arch.RCX: r.Rcx, arch.RDX: r.Rdx, arch.RSI: r.Rsi, arch.RDI: r.Rdi,
		arch.RBP: r.Rbp, arch.RSP: r.Rsp, arch.R8: r.R8, arch.R9: r.R9, arch.R10: r.R10, arch.R11: r.R11, arch.R12: r.R12, arch.R13: r.R13,
		arch.R14: r.R14, arch.R15: r.R15, arch.RIP: r.Rip} {
		out.Set(reg, v)
	}
	return out
}

var calleeSaved = [6]arch.Reg{arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15}

// compare checks the caller of frame 0.
func compare(u *frames.Unwinder, regs *syscall.PtraceRegs, stack []called) (msg, how string) {
	w := u.Walk(toRegisters(regs))
	for f := range w.Frames(context.Background()) {
		if f.Index == 0 {
			if f.Signal {
				return "", "trampoline"
			}
			if len(stack) == 0 {
				return "", "outermost"
			}
			if f.HasCFA && uint64(f.CFA) == regs.Rdi && regs.Rdi != 0 {
				return "", "longjmp" // glibc's __longjmp: its table describes where it will go
			}
			if top := stack[len(stack)-1]; !f.HasCFA || uint64(f.CFA) != top.cfa {
				return fmt.Sprintf("CFA 0x%x, in truth 0x%x; end %+v", uint64(f.CFA), top.cfa, w.End()), "wrong"
			}
			continue
		}
		top := stack[len(stack)-1]
		if uint64(f.PC) == regs.Rdx && uint64(f.PC) != top.ra {
			return "", "longjmp"
		}
		if uint64(f.PC) != top.ra {
			return fmt.Sprintf("caller's PC 0x%x by %v, in truth 0x%x; attempts %+v", uint64(f.PC), f.Strategy, top.ra, f.Attempts), "wrong"
		}
		if !top.signal {
			for i, r := range calleeSaved {
				if v, known := f.Regs.Get(r); known && v != top.saved[i] {
					return fmt.Sprintf("caller's %s is 0x%x, in truth 0x%x", arch.AMD64.RegName(r), v, top.saved[i]), "wrong"
				}
			}
		}
		return "", f.Strategy.String() + "/" + f.Trust.String()
	}
	if len(stack) > 0 {
		return fmt.Sprintf("no caller: %+v", w.End()), "wrong"
	}
	return "", "none"
}

// whole checks the whole backtrace.
func whole(u *frames.Unwinder, regs *syscall.PtraceRegs, stack []called) string {
	w := u.Walk(toRegisters(regs))
	var pcs []uint64
	var places []target.Addr
	for f := range w.Frames(context.Background()) {
		places = append(places, f.LookupPC())
		if f.Index > 0 && f.PCIsReturnAddress {
			pcs = append(pcs, uint64(f.PC))
		}
	}
	all := make([]target.Addr, len(places)+1)
	if n := w.Trace(all); !slices.Equal(all[:n], places) {
		return fmt.Sprintf("Trace gives %v, Frames %v", all[:n], places)
	}
	if len(pcs) < len(stack) {
		return fmt.Sprintf("%d frames, in truth %d: %+v", len(pcs), len(stack), w.End())
	}
	for i, pc := range pcs {
		if i < len(stack) && pc != stack[len(stack)-1-i].ra {
			return fmt.Sprintf("frame %d at 0x%x, in truth 0x%x", i+1, pc, stack[len(stack)-1-i].ra)
		}
	}
	if len(pcs) > len(stack)+1 || !w.End().Outermost {
		return fmt.Sprintf("%d frames, in truth %d: %+v", len(pcs), len(stack), w.End())
	}
	return ""
}

func where(l *live, pc uint64) string {
	if m := l.find(target.Addr(pc)); m != nil {
		if mod := l.FindModule(target.Addr(pc)); mod != nil {
			return fmt.Sprintf("%s+0x%x", filepath.Base(m.path), pc-frames.Edit(mod).Bias)
		}
		return m.path
	}
	return "nowhere"
}
