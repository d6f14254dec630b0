package unwindcheck

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"dbg/arch"
	"dbg/cfi"
	"dbg/compact"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/target"
)

const (
	armSysroot = "/usr/aarch64-linux-gnu"
	// quickSteps is how many instructions of a build are judged without DBG_ALL_FILES.
	quickSteps = 5_000
)

// TestMachOARM64 is TestMachO for arm64, by an emulator that steps: __unwind_info's rows, refined and not, are held against a list of
// activations at every instruction of a file's text.
func TestMachOARM64(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	const compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
	fixture.Need(t, emulator)
	// Without -lstdc++: nothing is thrown here, and compilers for other machines come without it.
	loader := fixture.Build(t, "macho/loader.c", "cc="+compiler, "-O1", "-rdynamic", "-ldl")
	all := os.Getenv("DBG_ALL_FILES") != ""
	t.Logf("%-40s %8s %9s %10s %9s %9s", "build", "judged", "body", "no answer", "by DWARF", "refined")
	for _, s := range machoSources {
		if s.throws {
			continue
		}
		for _, level := range []string{"0", "1", "2", "3", "s"} {
			for _, fp := range []bool{true, false} {
				rust := strings.HasSuffix(s.file, ".rs")
				if rust && !fp || !all && (level != "0" && level != "2" || rust && level == "0" || !fp) {
					continue
				}
				name := filepath.Base(s.file) + " -O" + level + " without frame pointers"
				if fp {
					name = filepath.Base(s.file) + " -O" + level + " with frame pointers"
				}
				t.Run(name, func(t *testing.T) {
					file := ""
					if rust {
						file = rustARM64(t, s.file, level)
					} else {
						file = fixture.MachO(t, s.file, "arm64", "-O"+level, framePointers(fp), "-Wno-infinite-recursion")
					}
					limit := quickSteps
					if all {
						limit = 1 << 30
					}
					e := emulate(t, emulator, loader, file, s, limit)
					body, refined := e.answers[0], e.answers[1]
					t.Logf("%-40s %8d %8.3f%% %9.3f%% %9d %8.3f%%", name, refined.asked, 100*body.share(),
						100*float64(body.silent)/float64(max(body.asked, 1)), refined.byDWARF, 100*refined.share())
					if refined.asked < min(limit, 10_000)*9/10 {
						t.Errorf("%d instructions were judged, at least %d were expected", refined.asked, min(limit, 10_000)*9/10)
					}
					if refined.silent > 0 {
						t.Errorf("%d of %d instructions are without an answer", refined.silent, refined.asked)
					}
					for _, w := range refined.wrong {
						t.Errorf("wrong: %s", w)
					}
				})
			}
		}
	}
}

// emulatedCall is a function that has been called and has not returned: what is true of its caller.
type emulatedCall struct {
	ra, sp uint64
	saved  arch.Registers
}

// landing is where a call returns to, with what stack pointer.
type landing struct{ pc, sp uint64 }

// emulated is a file in an emulated process.
type emulated struct {
	t     *testing.T
	stub  *stub
	file  *image.File
	slide uint64
	lo    uint64 // of the executable segment, in the process
	code  []byte
	text  image.Section // __text
	start map[uint64]bool

	regs  arch.Registers
	cache map[uint64][]byte // the stack, in blocks
	stack []emulatedCall
	seen  map[landing]int // how deep the stack is when a call has returned there
	stops map[uint64]bool // where breakpoints are

	answers [2]*answer // body, refined
}

// answer is what one source of rows has said.
type answer struct {
	rows                          func(pc uint64, r *row.Row) error
	asked, right, silent, byDWARF int
	wrong                         []*wrongRow
}

func (a *answer) share() float64 { return float64(a.right) / float64(max(a.asked, 1)) }

// wrongRow is a row that is wrong in one way.
type wrongRow struct {
	function, row, kind, truth string
	lo, hi                     uint64
	hits                       int
}

func (w *wrongRow) String() string {
	return fmt.Sprintf("0x%x..0x%x %s: %s: %s; the row is %s [%d times]", w.lo, w.hi, w.function, w.kind, w.truth, w.row, w.hits)
}

// emulate runs a file under the emulator and judges its instructions, up to a limit; then it lets it run to its end.
func emulate(t *testing.T, emulator, loader, path string, s machoSource, limit int) *emulated {
	t.Helper()
	if _, err := os.Stat(armSysroot); err != nil {
		fixture.Missing(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "rsp") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	var out bytes.Buffer
	// A processor without SVE, whose V registers are numbered in the stub's plain way.
	cmd := exec.CommandContext(ctx, emulator, "-cpu", "cortex-a57", "-g", socket, "-L", armSysroot, loader, "-s", path, "_run", s.argument)
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	ended := false
	defer func() {
		if !ended {
			cmd.Process.Kill()
			<-done
		}
	}()
	c, err := dialStub(ctx, "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()

	e := &emulated{t: t, stub: c, seen: map[landing]int{}, stops: map[uint64]bool{}, start: map[uint64]bool{}}
	if e.file, err = image.Open(path); err != nil {
		t.Fatal(err)
	}
	defer e.file.Close()
	e.tables()
	// The stub has other registers than those of the core only for who has read which there are.
	if features, err := c.ask("qXfer:features:read:target.xml:0,fff"); err != nil || !strings.Contains(features, "aarch64-fpu.xml") {
		t.Fatalf("the registers are %q, %v", features, err)
	}
	const usr1 = 30 // as gdb numbers it
	if stop := e.cont(); stop.exited || stop.code != usr1 {
		t.Fatalf("%+v before the file is called", stop)
	}
	e.find(cmd.Process.Pid, path)
	for i := 8; i < 16; i++ { // nobody has anything in them: now each has a value of its own
		if err := c.setRegister(stubV0+i, binary.LittleEndian.AppendUint64(nil, 0xd0d0_0000+uint64(i))); err != nil {
			// It wants all 16 bytes.
			if err = c.setRegister(stubV0+i, append(binary.LittleEndian.AppendUint64(nil, 0xd0d0_0000+uint64(i)), make([]byte, 8)...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, a := range e.file.FunctionStarts() {
		e.start[uint64(a)+e.slide] = true
		e.breakAt(uint64(a) + e.slide)
	}
	if !e.run(limit) {
		if err := c.detach(); err != nil {
			t.Error(err)
		}
	}
	c.close() // the emulator wants to be told that its last word was heard
	select {
	case err := <-done:
		ended = true
		if got := string(bytes.TrimSpace(out.Bytes())); err != nil || got != s.sum {
			t.Errorf("%s: the sum is %q, want %q; %v", filepath.Base(path), got, s.sum, err)
		}
	case <-time.After(30 * time.Second):
		t.Error("the program does not end")
	}
	return e
}

// tables makes what is asked of the file's __unwind_info and __eh_frame.
func (e *emulated) tables() {
	info, ok := e.file.Section("__unwind_info")
	if !ok {
		e.t.Fatal("there is no __unwind_info")
	}
	e.text, _ = e.file.SectionIn("__TEXT", "__text")
	code := func(addr uint64, n int) []byte {
		at, size := uint64(e.text.Addr), uint64(len(e.text.Data))
		if addr < at || addr-at >= size {
			return nil
		}
		return e.text.Data[addr-at : min(addr-at+uint64(n), size)]
	}
	t, err := compact.New(compact.Config{Arch: arch.ARM64, Data: info.Data, Base: uint64(e.file.HeaderAddr()), Code: code})
	if err != nil {
		e.t.Fatal(err)
	}
	var starts []uint64
	for _, a := range e.file.FunctionStarts() {
		starts = append(starts, uint64(a))
	}
	for i := range e.answers {
		x := compact.NewRefiner(t, starts)
		x.Unrefined = i == 0
		e.answers[i] = &answer{rows: x.RowAt}
	}
	eh, ok := e.file.Section("__eh_frame")
	if !ok {
		return
	}
	dwarf := cfi.New(cfi.Config{Arch: arch.ARM64, Data: eh.Data, Addr: uint64(eh.Addr)})
	for _, a := range e.answers {
		rows := a.rows
		a.rows = func(pc uint64, r *row.Row) error {
			err := rows(pc, r)
			if errors.Is(err, compact.ErrNotCovered) && dwarf.RowAt(pc, r) == nil {
				a.byDWARF++
				return nil
			}
			return err
		}
	}
}

// find finds out where the file is, by what the emulator itself has mapped: addresses are the same to it and to the program, which
// is checked.
func (e *emulated) find(pid int, path string) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		e.t.Fatal(err)
	}
	header := uint64(e.file.HeaderAddr())
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) < 6 || f[5] != path || f[2] != "00000000" {
			continue
		}
		at, _, _ := strings.Cut(f[0], "-")
		base, err := strconv.ParseUint(at, 16, 64)
		if err != nil {
			e.t.Fatal(err)
		}
		for _, s := range e.file.Segments() {
			if uint64(s.Lo) != header {
				continue
			}
			e.slide, e.lo = base-header, base
			e.code = make([]byte, s.FileSize)
			for i := 0; i < len(e.code); i += 1024 {
				b, err := e.stub.memory(base+uint64(i), min(1024, len(e.code)-i))
				if err != nil {
					e.t.Fatal(err)
				}
				copy(e.code[i:], b)
			}
			if want := e.text.Data; !bytes.Equal(e.code[uint64(e.text.Addr)-header:][:len(want)], want) {
				e.t.Fatalf("%s is not at 0x%x of the process", path, base)
			}
			return
		}
	}
	e.t.Fatalf("%s is not mapped", path)
}

// cont lets the program run until it stops. Others of its functions have run then.
func (e *emulated) cont() stopped {
	stop, err := e.stub.cont()
	if err != nil {
		e.t.Fatal(err)
	}
	if !stop.exited {
		e.read(true)
	}
	return stop
}

// Numbers of the stub's registers.
const stubV0 = 34

// read reads the registers; those of vectors only if they may have changed: they are asked for one at a time.
func (e *emulated) read(vectors bool) {
	b, err := e.stub.registers()
	if err != nil || len(b) < 33*8 {
		e.t.Fatalf("%d bytes of registers, %v", len(b), err)
	}
	e.regs.Arch = arch.ARM64
	for i := range 33 { // x0..x30, sp, pc
		e.regs.Set(arch.Reg(i), binary.LittleEndian.Uint64(b[8*i:]))
	}
	for i := 8; vectors && i < 16; i++ {
		b, err := e.stub.register(stubV0 + i)
		if err != nil || len(b) != 16 {
			e.t.Fatalf("%d bytes of v%d, %v", len(b), i, err)
		}
		e.regs.Set(arch.Reg(64+i), binary.LittleEndian.Uint64(b))
	}
}

func (e *emulated) pc() uint64 { return e.reg(arch.ARM64.PC) }
func (e *emulated) sp() uint64 { return e.reg(arch.ARM64.SP) }

func (e *emulated) reg(r arch.Reg) uint64 {
	v, _ := e.regs.Get(r)
	return v
}

// inside reports whether an address is in the file's executable segment.
func (e *emulated) inside(pc uint64) bool { return pc-e.lo < uint64(len(e.code)) }

func (e *emulated) breakAt(pc uint64) {
	if e.stops[pc] {
		return
	}
	e.stops[pc] = true
	if err := e.stub.insert(pc, 4); err != nil {
		e.t.Fatal(err)
	}
}

// run steps from one instruction of the file to the next. The program's own functions run until they return or call the
// file's. A breakpoint stops nobody who steps onto it. It reports whether the program has ended.
func (e *emulated) run(limit int) bool {
	for n := 0; ; {
		for !e.inside(e.pc()) {
			// Back from what was called, or to where setjmp has returned before.
			if lr := e.reg(arch.ARM64.LR); e.inside(lr) {
				e.breakAt(lr)
			}
			if e.cont().exited {
				return true
			}
			if !e.inside(e.pc()) || !e.stops[e.pc()] {
				e.t.Fatalf("an unexpected stop at 0x%x", e.pc())
			}
			e.cache = nil
			e.land()
		}
		if n++; n > limit {
			return false
		}
		e.judge()
		in := binary.LittleEndian.Uint32(e.code[e.pc()-e.lo:])
		called := emulatedCall{e.pc() + 4, e.sp(), e.regs}
		if stop, err := e.stub.step(); err != nil || stop.exited {
			e.t.Fatalf("%+v, %v after a step at 0x%x", stop, err, called.ra-4)
		}
		e.read(in>>26&3 == 3) // loads, stores and arithmetic of vectors
		if in>>25&5 == 4 {    // loads and stores
			e.cache = nil
		}
		if in>>26 == 0x25 || in&0xfffffc1f == 0xd63f0000 { // bl, blr
			e.stack = append(e.stack, called)
		} else {
			e.pop()
		}
	}
}

// pop ends the activation that has returned.
func (e *emulated) pop() {
	if n := len(e.stack) - 1; n >= 0 && e.stack[n].ra == e.pc() && e.stack[n].sp == e.sp() {
		e.stack = e.stack[:n]
		e.seen[landing{e.pc(), e.sp()}] = n
	}
}

// land says what it means that the program has come into the file: something has returned, a second time maybe, or it calls.
func (e *emulated) land() {
	for n := len(e.stack) - 1; n >= 0; n-- {
		if a := &e.stack[n]; a.ra == e.pc() && a.sp == e.sp() {
			e.stack = e.stack[:n+1]
			e.pop()
			return
		}
	}
	if n, ok := e.seen[landing{e.pc(), e.sp()}]; ok && n <= len(e.stack) {
		e.stack = e.stack[:n]
		return
	}
	if !e.start[e.pc()] {
		e.t.Fatalf("0x%x is entered with the stack pointer 0x%x, and nobody was to return there", e.pc()-e.slide, e.sp())
	}
	e.stack = append(e.stack, emulatedCall{e.reg(arch.ARM64.LR), e.sp(), e.regs})
}

// blockSize is how much of the stack is read at once.
const blockSize = 256

// Word reads the stack.
func (e *emulated) Word(addr target.Addr, size int) (uint64, error) {
	at := uint64(addr) &^ (blockSize - 1)
	if uint64(addr)%8 != 0 || size != 8 {
		return 0, fmt.Errorf("%d bytes at 0x%x", size, addr)
	}
	b := e.cache[at]
	if b == nil {
		var err error
		if b, err = e.stub.memory(at, blockSize); err != nil {
			return 0, err
		}
		if e.cache == nil {
			e.cache = map[uint64][]byte{}
		}
		e.cache[at] = b
	}
	return binary.LittleEndian.Uint64(b[uint64(addr)-at:]), nil
}

// judge holds both sources against the truth. Stubs are in no table: they are only judged where there is an answer.
func (e *emulated) judge() {
	pc := e.pc() - e.slide
	inText := pc-uint64(e.text.Addr) < e.text.Size
	var r row.Row
	for _, a := range e.answers {
		r.Reset()
		err := a.rows(pc, &r)
		if err != nil && !errors.Is(err, compact.ErrNotCovered) {
			e.t.Fatalf("0x%x: %v", pc, err)
		}
		if err == nil || inText {
			a.asked++
		}
		if err != nil {
			if inText {
				a.silent++
				if a == e.answers[1] && a.silent <= 20 {
					e.t.Logf("no answer at 0x%x %s", pc, e.function(pc))
				}
			}
			continue
		}
		kind, truth := e.compare(&r)
		if kind == "" {
			a.right++
			continue
		}
		a.add(&wrongRow{function: e.function(pc), row: r.Format(arch.ARM64), kind: kind, truth: truth, lo: pc, hi: pc + 4, hits: 1})
	}
}

// add counts a wrong instruction to those that it belongs to.
func (a *answer) add(w *wrongRow) {
	for _, o := range a.wrong {
		if o.function == w.function && o.row == w.row && o.kind == w.kind && w.lo <= o.hi && o.lo <= w.hi {
			o.lo, o.hi = min(o.lo, w.lo), max(o.hi, w.hi)
			o.hits++
			return
		}
	}
	a.wrong = append(a.wrong, w)
}

// compare applies a row. It says what is wrong, or nothing.
func (e *emulated) compare(r *row.Row) (kind, truth string) {
	a := arch.ARM64
	is := &e.stack[len(e.stack)-1]
	var c row.Caller
	err := row.Apply(r, &row.Env{Arch: a, Regs: &e.regs, Mem: e, Bias: e.slide}, &c)
	switch {
	case err != nil:
		return "error", err.Error()
	case c.End:
		return "return address", fmt.Sprintf("there is a caller at 0x%x", is.ra)
	case c.CFA != is.sp || c.SP != is.sp:
		return "CFA", fmt.Sprintf("sp%+d, not sp%+d; x29 is sp%+d", int64(is.sp-e.sp()), int64(c.CFA-e.sp()), int64(e.reg(a.FP)-e.sp()))
	case c.PC != is.ra:
		return "return address", fmt.Sprintf("0x%x, not 0x%x; x30 is 0x%x", is.ra, c.PC, e.reg(a.LR))
	}
	regs := e.regs
	var places row.Places
	c.Commit(&regs, &places)
	for _, reg := range a.CalleeSaved {
		if reg == a.LR {
			continue // the caller's own is nobody's to keep
		}
		want, _ := is.saved.Get(reg)
		if v, known := regs.Get(reg); !known {
			return a.RegName(reg), "it is not known"
		} else if v != want {
			return a.RegName(reg), fmt.Sprintf("0x%x, not 0x%x", want, v)
		}
	}
	return "", ""
}

// function is the name of what is at an address of the file.
func (e *emulated) function(pc uint64) string {
	syms := e.file.Symbols()
	i := sort.Search(len(syms), func(i int) bool { return uint64(syms[i].Addr) > pc })
	if i == 0 {
		return "?"
	}
	return syms[i-1].Name
}

// rustARM64 builds a dylib of a Rust file, which takes two seconds: it is not kept.
func rustARM64(t *testing.T, source, level string) string {
	t.Helper()
	const triple, linker = "aarch64-apple-darwin", "ld64.lld-19"
	fixture.Need(t, linker)
	rustc, err := exec.LookPath("rustc")
	if err != nil {
		home, _ := os.UserHomeDir()
		rustc = home + "/.cargo/bin/rustc"
	}
	libs, err := exec.Command(rustc, "--print", "target-libdir", "--target", triple).Output()
	if err == nil {
		_, err = os.Stat(string(bytes.TrimSpace(libs)))
	}
	if err != nil {
		fixture.Missing(t, "Rust has no target "+triple+"; rustup target add "+triple)
	}
	dir := t.TempDir()
	archive, out := filepath.Join(dir, "sorts.a"), filepath.Join(dir, "sorts.dylib")
	for _, command := range [][]string{
		{rustc, "--edition", "2021", "--target", triple, "-Cpanic=abort", "-Cforce-unwind-tables=yes", "-Coverflow-checks=off", "-Copt-level=" + level,
			"-o", archive, filepath.Join(fixture.Root(), "testdata", source)},
		{linker, "-arch", "arm64", "-platform_version", "macos", "11", "11", "-undefined", "dynamic_lookup", "-dylib", "-install_name", "@rpath/sorts.dylib",
			"-u", "_run", "-u", "_finish", "-dead_strip", "-o", out, archive},
	} {
		if msg, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, msg)
		}
	}
	return out
}
