package frames_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/frames/module"
	"dbg/target"
)

// The kernel's world: functions of 16 bytes from kernelCode on, one ORC entry each.
const (
	kernelCode  = 0xffffffff81000000
	kernelStack = 0xffffc90000010000
)

// kernelWorld is a kernel whose functions have the given entries (sp_offset, bp_offset, registers, flags of Linux 6.4).
func kernelWorld(entries ...[6]byte) (*fake, *arch.Registers) {
	const tableAt = uint64(kernelCode + 1<<20)
	var ip, unwind []byte
	for i, e := range append(entries, [6]byte{}) {
		ip = binary.LittleEndian.AppendUint32(ip, uint32(kernelCode+uint64(16*i)-tableAt-uint64(4*i)))
		unwind = append(unwind, e[:]...)
	}
	code := make([]byte, 16*(len(entries)+1))
	for i := range code {
		code[i] = 0x90
	}
	for i := range entries {
		copy(code[16*i+3:], []byte{0xe8, 0, 0, 0, 0}) // a call: its return address is the function's +8
	}
	header := []byte("\xfe\x5d\x32\xbf\x58\x1b\xd6\x3b\x2c\xa9\xa5\xc6\x5b\xa5\xa6\x25\xea\xb3\xfe\x24")
	m := frames.NewModule(frames.Contents{Name: "vmlinux", Lo: kernelCode, Hi: kernelCode + target.Addr(len(code)),
		ORC: module.ORC{IP: frames.Section{Data: ip, Addr: tableAt}, Unwind: frames.Section{Data: unwind}, Header: frames.Section{Data: header}}})
	f := &fake{modules: []*frames.Module{m}, pieces: []piece{{kernelCode, code, true}, {kernelStack, make([]byte, 0x1000), false}}}
	regs := &arch.Registers{Arch: arch.AMD64}
	regs.Set(arch.RIP, kernelCode+4)
	regs.Set(arch.RSP, kernelStack)
	regs.Set(arch.RBP, 0x1234)
	regs.Set(arch.RBX, 0x5678)
	return f, regs
}

func (f *fake) putWords(at uint64, words ...uint64) {
	for i, v := range words {
		binary.LittleEndian.PutUint64(f.pieces[1].data[at-kernelStack+uint64(8*i):], v)
	}
}

// ret is the return address in function i.
func ret(i int) uint64 { return kernelCode + uint64(16*i) + 8 }

func orcWalk(t *testing.T, f *fake, regs *arch.Registers) (string, *frames.Frame) {
	t.Helper()
	u := frames.New(arch.AMD64, f)
	var out strings.Builder
	var last *frames.Frame
	w := u.Walk(regs)
	for fr, err := range w.Frames(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		precise := ""
		if !fr.PCIsReturnAddress {
			precise = " precise"
		}
		if fr.Signal {
			precise += " signal"
		}
		fmt.Fprintf(&out, "%x %v %v%s\n", uint64(fr.PC)-kernelCode, fr.Strategy, fr.Trust, precise)
		last = fr.Clone()
	}
	end := w.End()
	fmt.Fprint(&out, end.Message())
	return out.String(), last
}

// TestORCInterrupt walks from code in an interrupt through struct pt_regs, to interrupted code, and to user code.
func TestORCInterrupt(t *testing.T) {
	f, regs := kernelWorld(
		[6]byte{8, 0, 0, 0, 5, 2},           // 0: a leaf
		[6]byte{24, 0, 0xf0, 0xff, 0x15, 2}, // 1: RBP saved at the caller's SP-16
		[6]byte{0, 0, 0, 0, 5, 3 | 8},       // 2: interrupt entry: pt_regs at SP
		[6]byte{16, 0, 0, 0, 5, 2},          // 3: interrupted code
		[6]byte{8, 0, 0, 0, 5, 3 | 8},       // 4: system call entry: pt_regs at SP+8
	)
	sp := uint64(kernelStack)
	f.putWords(sp, ret(1))
	f.putWords(sp+8, 0xbbbb, 0xb9b9, ret(2)) // RBP at CFA-16
	pt := sp + 32
	interrupted := sp + 32 + 168
	f.putWords(pt, 15, 14, 13, 12, 0xb0, 0xb1, 11, 10, 9, 8, 0xa, 0xc, 0xd, 0x51, 0xd1, ^uint64(0), kernelCode+16*3+1, 0x10, 0x246, interrupted, 0x18)
	f.putWords(interrupted, 0, ret(4))
	user := interrupted + 16 + 8
	f.putWords(user, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x401000, 0x33, 0x246, 0x7ffd00000000, 0x2b)
	got, last := orcWalk(t, f, regs)
	want := "4 context exact precise\n18 orc table\n28 orc table\n31 orc table precise\n48 orc table\nentry point"
	if got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	if v, known := last.Regs.Get(arch.RBX); known {
		t.Errorf("rbx %x is known after a call", v)
	}
	if v, known := last.Regs.Get(arch.RBP); !known || v != 0xb0 {
		t.Errorf("rbp %x, %v: expected that of pt_regs", v, known)
	}
}

// TestORCEnd: the end of the stack of a kernel thread, and a gap, where nothing is known.
func TestORCEnd(t *testing.T) {
	f, regs := kernelWorld([6]byte{8, 0, 0, 0, 5, 2}, [6]byte{0, 0, 0, 0, 0, 1})
	f.putWords(kernelStack, ret(1))
	if got, _ := orcWalk(t, f, regs); got != "4 context exact precise\n18 orc table\nundefined return address" {
		t.Error(got)
	}
	f, regs = kernelWorld([6]byte{8, 0, 0, 0, 5, 2}, [6]byte{})
	f.putWords(kernelStack, ret(1))
	if got, _ := orcWalk(t, f, regs); strings.Contains(got, "undefined") || strings.Contains(got, "entry point") {
		t.Errorf("a gap ended the stack: %s", got)
	}
}
