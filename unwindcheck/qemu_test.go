package unwindcheck

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"dbg/arch"
	"dbg/code"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
)

// guest is a machine whose programs qemu runs.
type guest struct {
	arch     *arch.Arch
	compiler string
	emulator string
	regs     []arch.Reg // in the order of the stub's "g" packet, each of a word
	flags    []string

	// The shares that must be right: with tables, and without any.
	table, code float64
}

var guests = map[string]guest{
	"arm64": {arch.ARM64, "aarch64-linux-gnu-gcc", "qemu-aarch64", registersOf(0, 33), nil, 1, 0.999},
	"riscv64": {arch.RISCV64, "riscv64-linux-gnu-gcc", "qemu-riscv64", append(registersOf(0, 32), arch.RISCV64.PC),
		nil, 1, 0.999},
	"386":   {arch.I386, "i686-linux-gnu-gcc", "qemu-i386", registersOf(0, 10), nil, 1, 0.999},
	"arm":   {arch.ARM, "arm-linux-gnueabihf-gcc", "qemu-arm", registersOf(0, 16), []string{"-marm"}, 1, 0.998},
	"thumb": {arch.ARM, "arm-linux-gnueabihf-gcc", "qemu-arm", registersOf(0, 16), []string{"-mthumb"}, 1, 0.998},
}

func registersOf(first arch.Reg, n int) (list []arch.Reg) {
	for i := range n {
		list = append(list, first+arch.Reg(i))
	}
	return list
}

// guestRun is a program that is stepped.
type guestRun struct {
	t       *testing.T
	g       guest
	stub    *stub
	file    *image.File
	regs    arch.Registers
	calls   []guestCall
	thrown  int  // calls that an exception has ended
	landing bool // an exception is about to land
	thumb   bool // the instruction to be executed is of Thumb

	symbols []image.Symbol // of functions
}

// guestCall is a call that has not returned.
type guestCall struct {
	ra, cfa uint64
	saved   []uint64 // of the general registers that a function must preserve
}

// guestScore is what an unwinder has got right.
type guestScore struct {
	judged, right, silent int
	by                    map[frames.Strategy]int
	wrong                 map[string]int
	searched              map[string]int // instructions of functions whose callers were found by a search
}

func (s *guestScore) String() string {
	n := float64(max(s.judged, 1))
	return fmt.Sprintf("%d judged, %.3f %% right, %.3f %% wrong, %.3f %% without an answer", s.judged, 100*float64(s.right)/n,
		100*float64(s.judged-s.right-s.silent)/n, 100*float64(s.silent)/n)
}

// worst lists the places where most is wrong.
func (s *guestScore) worst() string {
	type place struct {
		name string
		n    int
	}
	var list []place
	for name, n := range s.wrong {
		list = append(list, place{name, n})
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].n > list[j].n || list[i].n == list[j].n && list[i].name < list[j].name
	})
	var out strings.Builder
	for _, p := range list[:min(len(list), 25)] {
		fmt.Fprintf(&out, "\n%6d %s", p.n, p.name)
	}
	return out.String()
}

// ReadMemory implements frames.Space. Requests are kept short: the stub's answers are twice as long in hexadecimal.
func (r *guestRun) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	const most = 512
	if b := r.file; b != nil {
		if n, err := b.ReadAt(image.Addr(addr), buf); err == nil && n == len(buf) && r.Executable(addr) {
			return n, nil
		}
	}
	want := min(len(buf), most)
	for ; want > 0; want /= 2 {
		if b, err := r.stub.memory(uint64(addr), want); err == nil {
			return copy(buf, b), nil
		}
	}
	return 0, &target.MemoryError{Addr: addr, Why: "the stub does not have it"}
}

func (r *guestRun) Executable(addr target.Addr) bool {
	for _, s := range r.file.Segments() {
		if s.Exec && image.Addr(addr) >= s.Lo && image.Addr(addr) < s.Hi {
			return true
		}
	}
	return false
}

// guestSpace is the space with one of the modules.
type guestSpace struct {
	*guestRun
	module *frames.Module
}

func (s guestSpace) FindModule(addr target.Addr) *frames.Module {
	for _, p := range s.file.Segments() {
		if target.Addr(p.Lo) <= addr && addr < target.Addr(p.Hi) {
			return s.module
		}
	}
	return nil
}
func (s guestSpace) Version() uint64 { return 1 }

func (r *guestRun) reg(n arch.Reg) uint64 {
	v, _ := r.regs.Get(n)
	return v
}

func (r *guestRun) read() {
	b, err := r.stub.registers()
	size := r.g.arch.PtrSize
	if err != nil || len(b) < len(r.g.regs)*size {
		r.t.Fatalf("%d bytes of registers, %v", len(b), err)
	}
	r.regs = arch.Registers{Arch: r.g.arch}
	if cpsr := 16*4 + 8*12 + 4; r.g.arch == arch.ARM { // after what were the registers of another floating point unit
		if len(b) < cpsr+4 {
			r.t.Fatalf("%d bytes of registers", len(b))
		}
		r.thumb = b[cpsr]&0x20 != 0
	}
	for i, reg := range r.g.regs {
		v := uint64(binary.LittleEndian.Uint32(b[size*i:]))
		if size == 8 {
			v = binary.LittleEndian.Uint64(b[size*i:])
		}
		r.regs.Set(reg, v)
	}
}

// preserved are the general registers that a function must preserve.
func (r *guestRun) preserved() (list []arch.Reg) {
	for _, reg := range r.g.arch.CalleeSaved {
		if slices.Contains(r.g.regs, reg) {
			list = append(list, reg)
		}
	}
	return list
}

// enter notes a call: the thread is at a function's first instruction.
func (r *guestRun) enter() {
	a := r.g.arch
	c := guestCall{ra: r.codeAddr(r.reg(a.LR)), cfa: r.reg(a.SP)}
	if a.LR == arch.NoReg {
		c.ra = r.word(c.cfa)
		c.cfa += uint64(a.PtrSize)
	}
	for _, reg := range r.preserved() {
		c.saved = append(c.saved, r.reg(reg))
	}
	r.calls = append(r.calls, c)
}

func (r *guestRun) word(addr uint64) uint64 {
	b, err := r.stub.memory(addr, r.g.arch.PtrSize)
	if err != nil {
		r.t.Fatal(err)
	}
	if len(b) == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// called reports whether the last instruction, at pc, was a call.
func (r *guestRun) called(pc, sp uint64, thumb bool) bool {
	a, now := r.g.arch, r.reg(r.g.arch.PC)
	if a.LR == arch.NoReg {
		back := r.reg(a.SP)
		ra := uint64(0)
		if back == sp-uint64(a.PtrSize) {
			ra = r.word(back)
		}
		return ra > pc && ra-pc <= 7 && (now < pc || now > ra)
	}
	var b [4]byte
	if n, _ := r.ReadMemory(target.Addr(pc), b[:]); code.Supported(a) {
		in := code.Decode(a, b[:n])
		if thumb {
			in = code.DecodeThumb(b[:n])
		}
		return in.Next == code.Call || in.Next == code.CallFar
	}
	back := r.reg(a.LR) &^ 1
	return (back == pc+4 || back == pc+2) && now != back
}

// compare judges the caller of the thread's frame.
func (r *guestRun) compare(u *frames.Unwinder, s *guestScore, name func(uint64) string) {
	top := &r.calls[len(r.calls)-1]
	s.judged++
	walk := u.Walk(&r.regs)
	n := 0
	for f := range walk.Frames(context.Background()) {
		if n++; n < 2 {
			continue
		}
		a := r.g.arch
		what := ""
		switch sp, known := f.Regs.SP(); {
		case uint64(f.PC) != top.ra:
			what = fmt.Sprintf("PC by %s", f.Strategy)
		case known && sp != top.cfa:
			what = fmt.Sprintf("SP by %s", f.Strategy)
		default:
			for i, reg := range r.preserved() {
				if v, known := f.Regs.Get(reg); known && v != top.saved[i] {
					what = fmt.Sprintf("%s by %s", a.RegName(reg), f.Strategy)
					break
				}
			}
		}
		s.by[f.Strategy]++
		if f.Strategy == frames.Scan {
			where, _, _ := strings.Cut(name(r.reg(a.PC)), "+")
			s.searched[where]++
		}
		if what == "" {
			s.right++
		} else {
			s.wrong[name(r.reg(a.PC))+": "+what]++
		}
		return
	}
	s.silent++
	s.wrong[name(r.reg(r.g.arch.PC))+": no answer"]++
}

// startGuest runs a program under its emulator up to main.
func startGuest(t *testing.T, g guest, exe string) *guestRun {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	t.Cleanup(cancel)
	dir, err := os.MkdirTemp("", "rsp") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, g.emulator, "-g", socket, exe)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	c, err := dialStub(ctx, "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	f, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r := &guestRun{t: t, g: g, stub: c, file: f}
	var main uint64
	for _, s := range f.Symbols() {
		if s.Kind == image.Func {
			r.symbols = append(r.symbols, s)
		}
		if s.Name == "main" {
			main = r.codeAddr(uint64(s.Addr))
		}
	}
	size := 4
	if g.arch.LR == arch.NoReg {
		size = 1
	} else if slices.Contains(g.flags, "-mthumb") {
		size = 2
	}
	if err := c.insert(main, size); err != nil {
		t.Fatal(err)
	}
	if stop, err := c.cont(); err != nil || stop.exited {
		t.Fatalf("%+v, %v", stop, err)
	}
	if err := c.ok(fmt.Sprintf("z0,%x,%x", main, size)); err != nil {
		t.Fatal(err)
	}
	r.read()
	r.enter()
	return r
}

// codeAddr is an address without ARM's bit for Thumb code.
func (r *guestRun) codeAddr(v uint64) uint64 {
	if r.g.arch == arch.ARM {
		v &^= 1
	}
	return v
}

// name is the function that an address is in.
func (r *guestRun) name(pc uint64) string {
	for _, s := range r.symbols {
		if lo := r.codeAddr(uint64(s.Addr)); lo <= pc && pc < lo+s.Size {
			return fmt.Sprintf("%s+0x%x", s.Name, pc-lo)
		}
	}
	best := image.Symbol{Name: "?"}
	for _, s := range r.symbols { // assembly without sizes
		if lo := r.codeAddr(uint64(s.Addr)); lo <= pc && s.Addr >= best.Addr {
			best = s
		}
	}
	return fmt.Sprintf("%s+0x%x", best.Name, pc-r.codeAddr(uint64(best.Addr)))
}

// module is the program, with its tables or without any.
func (r *guestRun) module(tables bool) *frames.Module {
	c := frames.ModuleOf(r.file, nil).Contents()
	if !tables {
		c.EHFrame, c.EHFrameHdr, c.DebugFrame, c.ExIdx = frames.Section{}, frames.Section{}, frames.Section{}, frames.Section{}
	}
	return frames.NewModule(c)
}

// each steps until main returns, at most so many times, and calls visit at each instruction. It reports whether main has returned.
func (r *guestRun) each(most int, visit func()) (returned bool) {
	for range most {
		visit()
		pc, sp := r.reg(r.g.arch.PC), r.reg(r.g.arch.SP)
		was := r.thumb
		stop, err := r.stub.step()
		if err != nil || stop.exited {
			return false
		}
		r.read()
		now, nowSP := r.reg(r.g.arch.PC), r.reg(r.g.arch.SP)
		for n := len(r.calls); n > 0 && now == r.calls[n-1].ra && nowSP == r.calls[n-1].cfa; n = len(r.calls) {
			r.calls = r.calls[:n-1]
		}
		r.land(pc, now, nowSP)
		if len(r.calls) == 0 {
			return true
		}
		if r.called(pc, sp, was) {
			r.enter()
		}
	}
	return false
}

// land ends the calls that an exception has ended: those whose frames are below the stack pointer. The unwinder has some
// instructions to go then. When it jumps to the landing pad, the call in the function that catches ends, too.
func (r *guestRun) land(pc, now, sp uint64) {
	n := len(r.calls)
	below := func(top uint64) {
		for n > 0 && r.calls[n-1].cfa <= top {
			n--
			r.thrown++
		}
		r.calls = r.calls[:n]
	}
	if n > 0 && r.calls[n-1].cfa < sp {
		r.landing = true
		below(sp - 1)
	}
	if r.landing && now-pc > 4 {
		r.landing = false
		below(sp)
	}
}

// guestCheck steps a program from main on and judges every instruction: with its tables, and without any. It fails if the program ends
// before main has returned and so many instructions were executed.
func guestCheck(t *testing.T, g guest, exe string, most int) (table, code *guestScore) {
	r := startGuest(t, g, exe)
	withTables, without := frames.New(g.arch, guestSpace{r, r.module(true)}), frames.New(g.arch, guestSpace{r, r.module(false)})
	table = &guestScore{by: map[frames.Strategy]int{}, wrong: map[string]int{}, searched: map[string]int{}}
	code = &guestScore{by: map[frames.Strategy]int{}, wrong: map[string]int{}, searched: map[string]int{}}
	returned := r.each(most, func() {
		r.compare(withTables, table, r.name)
		r.compare(without, code, r.name)
	})
	if !returned && table.judged < most {
		t.Errorf("the program ended after %d instructions, and main had not returned", table.judged)
	}
	return table, code
}

// TestGuests steps programs of other machines. With tables each caller must be right. Without tables no more may be wrong than is
// noted here; what is right without them is the code's doing.
func TestGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	most := 1200
	levels := []string{"-O2"}
	if fixture.All() {
		most, levels = 60_000, []string{"-O0", "-O1", "-O2", "-O3", "-Os"}
	}
	for _, m := range []string{"arm64", "riscv64", "386", "arm", "thumb"} {
		for _, level := range levels {
			t.Run(m+" "+level, func(t *testing.T) {
				t.Parallel()
				g := guests[m]
				fixture.Need(t, g.compiler, g.emulator)
				exe := fixture.Build(t, "check/plain.c", append([]string{"cc=" + g.compiler, level, "-g", "-static",
					"-fasynchronous-unwind-tables"}, g.flags...)...)
				most := most
				if g.arch == arch.ARM && !fixture.All() { // an emulator that steps slowly
					most = 250
				}
				table, code := guestCheck(t, g, exe, most)
				t.Logf("with tables: %s, by %v%s", table, table.by, table.worst())
				t.Logf("without:     %s, by %v, searched for in %v%s", code, code.by, code.searched, code.worst())
				if float64(table.right) < g.table*float64(table.judged) {
					t.Errorf("with tables: %s, at least %.2f %% were expected", table, 100*g.table)
				}
				if float64(code.right) < g.code*float64(code.judged) {
					t.Errorf("without tables: %s, at least %.2f %% were expected", code, 100*g.code)
				}
			})
		}
	}
}
