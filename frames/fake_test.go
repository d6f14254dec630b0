package frames_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// fake is an address space of a few pieces.
type fake struct {
	pieces  []piece
	modules []*frames.Module
	reads   int
}

type piece struct {
	addr target.Addr
	data []byte
	exec bool
}

func (f *fake) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	f.reads++
	n := 0
	for n < len(buf) {
		got := 0
		for i := range f.pieces {
			p := &f.pieces[i]
			if at := addr + target.Addr(n); at >= p.addr && uint64(at-p.addr) < uint64(len(p.data)) {
				got = copy(buf[n:], p.data[at-p.addr:])
				break
			}
		}
		if got == 0 {
			return n, &target.MemoryError{Addr: addr + target.Addr(n), Why: "not mapped"}
		}
		n += got
	}
	return n, nil
}

func (f *fake) FindModule(pc target.Addr) *frames.Module {
	for _, m := range f.modules {
		if frames.Edit(m).Lo <= pc && pc < frames.Edit(m).Hi {
			return m
		}
	}
	return nil
}

func (f *fake) Executable(addr target.Addr) bool {
	for i := range f.pieces {
		p := &f.pieces[i]
		if p.exec && addr >= p.addr && uint64(addr-p.addr) < uint64(len(p.data)) {
			return true
		}
	}
	return false
}

// The places of the tests' world. Code is all nops, but for what a test writes.
const (
	codeAt  = 0x401000
	stackAt = 0x7ff000000000
	altAt   = 0x600000000000
	bias    = 0x400000
)

// world is a fake with one code piece, one module over it and a stack.
type world struct {
	*fake
	t     testing.TB
	a     *arch.Arch
	m     *frames.Module
	table tableBuilder
	regs  arch.Registers
}

func newWorld(t testing.TB, a *arch.Arch) *world {
	code := make([]byte, 0x4000)
	for i := range code {
		code[i] = 0x90
	}
	m := frames.NewModule(frames.Contents{Name: "test", Lo: codeAt, Hi: codeAt + 0x4000, Bias: bias})
	w := &world{t: t, a: a, m: m}
	w.fake = &fake{modules: []*frames.Module{m}, pieces: []piece{
		{codeAt, code, true}, {stackAt, make([]byte, 0x4000), false}, {altAt, make([]byte, 0x4000), false}}}
	w.regs.Arch = a
	return w
}

// code writes instructions at an offset from codeAt.
func (w *world) code(off int, b ...byte) { copy(w.pieces[0].data[off:], b) }

// call writes a call at off-5 and gives the return address codeAt+off.
func (w *world) call(off int) uint64 {
	switch w.a {
	case arch.ARM64:
		w.code(off-4, 0, 0, 0, 0x94) // bl .
	case arch.RISCV64:
		w.code(off-4, 0xef, 0, 0, 0) // jal ra, .
	default:
		w.code(off-5, 0xe8, 0, 0, 0, 0) // call to the next instruction
	}
	return codeAt + uint64(off)
}

// code0 is the process's address of an offset from codeAt.
func (w *world) code0(off int) uint64 { return codeAt + uint64(off) }

// put writes words into memory.
func (w *world) put(addr uint64, words ...uint64) {
	for i, v := range words {
		at := target.Addr(addr) + target.Addr(8*i)
		for j := range w.pieces {
			if p := &w.pieces[j]; at >= p.addr && uint64(at-p.addr)+8 <= uint64(len(p.data)) {
				binary.LittleEndian.PutUint64(p.data[at-p.addr:], v)
			}
		}
	}
}

// at sets PC and SP.
func (w *world) at(pc, sp uint64) {
	w.regs.Set(w.a.PC, pc)
	w.regs.Set(w.a.SP, sp)
}

// walk gives the frames as text and the end.
func (w *world) walk() (string, frames.End) {
	w.t.Helper()
	frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
	traced(w.t, frames.New(w.a, settledSpace{w.fake}).Walk(&w.regs))
	return show(w.t, frames.New(w.a, w.fake).Walk(&w.regs))
}

func show(t testing.TB, walk *frames.Walk) (string, frames.End) {
	t.Helper()
	var out []string
	for f, err := range walk.Frames(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprintf("%x %s %s", uint64(f.PC), f.Strategy, f.Trust)
		if f.Signal {
			s += " signal"
		}
		if f.Index > 0 && !f.PCIsReturnAddress {
			s += " precise"
		}
		out = append(out, s)
		if len(out) > 100 {
			t.Fatal("the walk does not end")
		}
	}
	end := walk.End()
	traced(t, walk)
	return strings.Join(out, "\n"), end
}

func (w *world) want(frames, end string) {
	w.t.Helper()
	got, e := w.walk()
	if lines := strings.Join(strings.Fields(strings.ReplaceAll(frames, "\n", ";")), " "); strings.ReplaceAll(got, "\n", ";") != strings.ReplaceAll(lines, "; ", ";") {
		w.t.Errorf("got\n%s\nwant\n%s\nend %+v", got, frames, e)
	}
	if e.Message() != end {
		w.t.Errorf("end %+v, want %q", e, end)
	}
}

// tableBuilder writes an .eh_frame of version 1 with absolute addresses.
type tableBuilder struct {
	b []byte
}

func (t *tableBuilder) entry(id uint32, body []byte) {
	t.b = binary.LittleEndian.AppendUint32(t.b, uint32(4+len(body)))
	t.b = binary.LittleEndian.AppendUint32(t.b, id)
	t.b = append(t.b, body...)
}

// cie begins a CIE: the usual one of amd64 (CFA=rsp+8, RA at c-8), of arm64
// (CFA=sp), or one with augmentation S.
func (t *tableBuilder) cie(a *arch.Arch, signal bool, instr ...byte) (off int) {
	off = len(t.b)
	body := []byte{1, 'z', 'R', 0, 1, 0x78, byte(a.PC), 1, 0}
	if signal {
		body = []byte{1, 'z', 'R', 'S', 0, 1, 0x78, byte(a.PC), 1, 0}
	}
	if a.LR != arch.NoReg {
		body[len(body)-3] = byte(a.LR)
	}
	t.entry(0, append(body, instr...))
	return off
}

// fde covers [lo, hi) as offsets from codeAt.
func (t *tableBuilder) fde(cie int, lo, hi uint64, instr ...byte) {
	body := binary.LittleEndian.AppendUint64(nil, codeAt-bias+lo)
	body = binary.LittleEndian.AppendUint64(body, hi-lo)
	body = append(body, 0)
	t.entry(uint32(len(t.b)+4-cie), append(body, instr...))
}

var usual = []byte{0x0c, 7, 8, 0x90, 1}
