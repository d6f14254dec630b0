package unwindcheck

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
)

const armSysroot = "/usr/aarch64-linux-gnu"

// emulatedCall is a function that has been called and has not returned: what is true of its caller.
type emulatedCall struct {
	ra, sp uint64
	saved  arch.Registers
}

// landing is where a call returns to, with what stack pointer.
type landing struct{ pc, sp uint64 }

// emulated is a file in an emulated process.
type emulated struct {
	t      *testing.T
	stub   *stub
	file   *image.File
	slide  uint64
	lo     uint64 // of the executable segment, in the process
	code   []byte
	text   image.Section // __text
	start  map[uint64]bool
	starts []uint64 // of the file's functions, in its address space

	regs  arch.Registers
	cache map[uint64][]byte // the stack, in blocks
	stack []emulatedCall
	seen  map[landing]int // how deep the stack is when a call has returned there
	stops map[uint64]bool // where breakpoints are
	setIP uint64          // _Unwind_SetIP of the process's unwinder: its second argument is where an exception lands
	pads  map[uint64]bool // where one has landed
	lands int             // how often

	asked, silent        int // instructions of the text, those of which nothing is known
	body, refined, dwarf *answer
	preserved            *arch.RegSet // registers that rows need not mention; nil: the architecture's
}

// emulatedRun is what the emulator runs.
type emulatedRun struct {
	args   []string          // of the loader
	sum    string            // that is printed
	throws bool              // exceptions are thrown by the process's C++ runtime
	tables func(e *emulated) // sets what is asked, text and starts
}

// emulate runs a file under the emulator and judges its instructions, up to a limit; then it lets it run to its end.
func emulate(t *testing.T, emulator, loader, path string, s emulatedRun, limit int) *emulated {
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
	// A processor without SVE, whose V registers are numbered in the stub's plain way, and with LDAPR, which clang uses for macOS.
	args := append([]string{"-cpu", "cortex-a76", "-g", socket, "-L", armSysroot, loader}, s.args...)
	cmd := exec.CommandContext(ctx, emulator, args...)
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

	e := &emulated{t: t, stub: c, seen: map[landing]int{}, stops: map[uint64]bool{}, start: map[uint64]bool{}, pads: map[uint64]bool{}}
	if e.file, err = image.Open(path); err != nil {
		t.Fatal(err)
	}
	defer e.file.Close()
	s.tables(e)
	// The stub has other registers than those of the core only for who has read which there are.
	if features, err := c.ask("qXfer:features:read:target.xml:0,fff"); err != nil || !strings.Contains(features, "aarch64-fpu.xml") {
		t.Fatalf("the registers are %q, %v", features, err)
	}
	if stop := e.cont(); stop.exited || stop.code != sigusr1 {
		t.Fatalf("%+v before the file is called", stop)
	}
	e.find(cmd.Process.Pid, path)
	if s.throws {
		e.setIP = e.unwinder(cmd.Process.Pid)
		e.breakAt(e.setIP)
	}
	for i := 8; i < 16; i++ { // nobody has anything in them: now each has a value of its own
		if err := c.setRegister(stubV0+i, binary.LittleEndian.AppendUint64(nil, 0xd0d0_0000+uint64(i))); err != nil {
			// It wants all 16 bytes.
			if err = c.setRegister(stubV0+i, append(binary.LittleEndian.AppendUint64(nil, 0xd0d0_0000+uint64(i)), make([]byte, 8)...)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, a := range e.starts {
		e.start[a+e.slide] = true
		e.breakAt(a + e.slide)
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

// find finds out where the file is, by what the emulator itself has mapped: addresses are the same to it and to the program, which
// is checked.
func (e *emulated) find(pid int, path string) {
	base, header := e.mapped(pid, path), uint64(e.file.HeaderAddr())
	if e.file.Format() == image.PE {
		header = uint64(e.file.ImageBase())
	}
	for _, s := range e.file.Segments() {
		if s.Lo > e.text.Addr || s.Hi <= e.text.Addr {
			continue
		}
		e.slide, e.lo = base-header, uint64(s.Lo)+base-header
		e.code = make([]byte, s.FileSize)
		for i := 0; i < len(e.code); i += 1024 {
			b, err := e.stub.memory(e.lo+uint64(i), min(1024, len(e.code)-i))
			if err != nil {
				e.t.Fatal(err)
			}
			copy(e.code[i:], b)
		}
		if want := e.text.Data; !bytes.Equal(e.code[e.text.Addr-s.Lo:][:len(want)], want) {
			e.t.Fatalf("%s is not at 0x%x of the process", path, base)
		}
		return
	}
	e.t.Fatalf("%s has no segment with its text", path)
}

// mapped is where the emulator has mapped the start of a file.
func (e *emulated) mapped(pid int, path string) uint64 {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		e.t.Fatal(err)
	}
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
		return base
	}
	e.t.Fatalf("%s is not mapped", path)
	return 0
}

// unwinder is the address of _Unwind_SetIP, by which the personality routine tells the unwinder where it is to land.
func (e *emulated) unwinder(pid int) uint64 {
	const path, name = armSysroot + "/lib/libgcc_s.so.1", "_Unwind_SetIP"
	f, err := elf.Open(path)
	if err != nil {
		e.t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.DynamicSymbols()
	if err != nil {
		e.t.Fatal(err)
	}
	for _, s := range syms {
		if s.Name == name {
			return e.mapped(pid, path) + s.Value
		}
	}
	e.t.Fatalf("%s has no %s", path, name)
	return 0
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

// Signals as gdb numbers them.
const (
	sigtrap = 5
	sigusr1 = 30
)

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
			stop := e.cont()
			if stop.exited {
				return true
			}
			if stop.code != sigtrap {
				e.t.Fatalf("%+v at 0x%x", stop, e.pc())
			}
			if e.pc() == e.setIP {
				e.exception()
				continue
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
		if stop, err := e.stub.step(); err != nil || stop.exited || stop.code != sigtrap {
			e.t.Fatalf("%+v, %v after a step at 0x%x of %s", stop, err, called.ra-4-e.slide, e.function(called.ra-4-e.slide))
		}
		e.read(in>>26&3 == 3) // loads, stores and arithmetic of vectors
		if in>>25&5 == 4 {    // loads and stores
			e.cache = nil
		}
		if in>>26 == 0x25 || in&0xfffffc1f == 0xd63f0000 { // bl, blr
			e.stack = append(e.stack, called)
		} else if e.pop(); in&0xfffffc1f == 0xd65f0000 { // ret
			e.jumped()
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

// jumped ends the activations that a longjmp of the file has left: control is where setjmp returned before.
func (e *emulated) jumped() {
	if n, ok := e.seen[landing{e.pc(), e.sp()}]; ok && n < len(e.stack) {
		e.stack = e.stack[:n]
	}
}

// exception awaits an exception where it is about to land.
func (e *emulated) exception() {
	if pad := e.reg(1); e.inside(pad) {
		e.pads[pad] = true
		e.breakAt(pad)
	}
	if stop, err := e.stub.step(); err != nil || stop.code != sigtrap { // past this breakpoint
		e.t.Fatalf("%+v, %v", stop, err)
	}
	e.read(false)
}

// land says what it means that the program has come into the file: something has returned, a second time maybe, an exception has landed, or
// it calls.
func (e *emulated) land() {
	if e.pads[e.pc()] {
		// The function that catches is the innermost one whose frame is above the stack pointer: what it called has begun there.
		for n := len(e.stack) - 1; n >= 0 && e.stack[n].sp <= e.sp(); n-- {
			e.stack = e.stack[:n]
		}
		if len(e.stack) == 0 {
			e.t.Fatalf("an exception lands at 0x%x with the stack pointer 0x%x, above all that was called", e.pc()-e.slide, e.sp())
		}
		e.lands++
		return
	}
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
