package frames_test

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// TestTorture is the torture list of the design, as far as a walk is what it is about, in worlds that are made
// up: each case is named after its line. What needs a process or a core is in session's TestTorture, trampolines as
// the kernels make them are in torture_qemu_test.go.
func TestTorture(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"PLT with a CFA expression while lazily binding":                    torturePLT,
		"__restore_rt (CFA = deref) and its FDE that starts one byte early": tortureRestoreRT,
		"a signal at a function's first instruction":                        tortureFirstInstruction,
		"call through NULL": tortureNull,
		"jump to garbage":   tortureGarbage,
		"a noreturn call as the last instruction of a function, and of a module":    tortureNoreturn,
		"absent RA rule versus explicitly undefined RA, also inside a signal frame": tortureNoRA,
		"DW_CFA_register for the RA (glibc __longjmp)":                              tortureRAInRegister,
		"expression versus val_expression":                                          tortureExpressions,
		"CFA expressions with indexed registers (libcrypto bn_mul_mont)":            tortureIndexed,
		"AArch64 negate_ra_state and pointer-authentication masks":                  torturePAC,
		"augmentation B": tortureB,
		"zero-length, overlapping and adjoining FDEs":                        tortureFDEs,
		"sigaltstack (SP goes down)":                                         tortureAltStack,
		"a handler interrupted by a handler":                                 tortureNested,
		"swapcontext and split stacks":                                       tortureSplit,
		"a stack page missing":                                               tortureMissingPage,
		"corrupt chains: cycles of one and of many, FP to itself, unaligned": tortureChains,
		"legitimate recursion with tiny frames":                              tortureTiny,
		"addresses of 2^63 and above":                                        tortureHigh,
		"32-bit wrap-around":                                                 tortureWrap,
		"Thumb bits":                                                         tortureThumb,
		"shadow call stack":                                                  tortureSCS,
		"a wrong frame is never exact":                                       tortureExact,
		"Go functions preserve no registers":                                 tortureGo,
	} {
		t.Run(name, test)
	}
}

// bed is a world of any architecture, whose words and tables have its size.
type bed struct {
	*world
	stack, alt uint64
}

func newBed(t testing.TB, a *arch.Arch) *bed {
	b := &bed{newWorld(t, a), stackAt, altAt}
	if a.PtrSize == 4 {
		b.stack, b.alt = 0xbf000000, 0xa0000000
		b.pieces[1].addr, b.pieces[2].addr = target.Addr(b.stack), target.Addr(b.alt)
	}
	if a != arch.AMD64 && a != arch.I386 {
		b.code(0, make([]byte, 0x4000)...)
	}
	return b
}

// words writes words of the architecture's size into memory.
func (b *bed) words(addr uint64, words ...uint64) {
	for i, v := range words {
		at := target.Addr(addr) + target.Addr(b.a.PtrSize*i)
		for j := range b.pieces {
			p := &b.pieces[j]
			if off := uint64(at - p.addr); at >= p.addr && off+uint64(b.a.PtrSize) <= uint64(len(p.data)) {
				if b.a.PtrSize == 4 {
					binary.LittleEndian.PutUint32(p.data[off:], uint32(v))
				} else {
					binary.LittleEndian.PutUint64(p.data[off:], v)
				}
			}
		}
	}
}

// ra is the number of the table's column for return addresses.
func (b *bed) ra() byte {
	if b.a.LR != arch.NoReg {
		return byte(b.a.LR)
	}
	return byte(b.a.PC)
}

// cie begins a CIE with an augmentation such as "zR" or "zRS".
func (b *bed) cie(augmentation string, instr ...byte) int {
	off := len(b.table.b)
	body := append([]byte{1}, augmentation...)
	b.table.entry(0, append(append(body, 0, 1, byte(0x80-b.a.PtrSize), b.ra(), 1, 0), instr...))
	return off
}

// fde covers [lo, hi) as offsets from codeAt.
func (b *bed) fde(cie int, lo, hi uint64, instr ...byte) {
	body := b.address(nil, uint64(frames.Edit(b.m).Lo)-frames.Edit(b.m).Bias+lo)
	body = append(b.address(body, hi-lo), 0)
	b.table.entry(uint32(len(b.table.b)+4-cie), append(body, instr...))
}

// calling writes a call before an offset and gives the return address.
func (b *bed) calling(off int) uint64 {
	switch b.a {
	case arch.ARM:
		b.code(off-4, 0, 0, 0, 0xeb) // bl
	case arch.RISCV64:
		b.code(off-4, 0xef, 0, 0, 0) // jal ra
	case arch.ARM64:
		b.code(off-4, 0, 0, 0, 0x94)
	default:
		b.code(off-5, 0xe8, 0, 0, 0, 0)
	}
	return uint64(frames.Edit(b.m).Lo) + uint64(off)
}

// renew makes the module anew: it keeps what it has derived from its tables.
func (b *bed) renew() {
	old := b.m
	b.m = frames.NewModule(*frames.Edit(old))
	frames.Edit(b.m).EHFrame = frames.Section{Data: slices.Clone(b.table.b), Addr: 0x100000}
	for i := range b.modules {
		if b.modules[i] == old {
			b.modules[i] = b.m
		}
	}
}

// want holds a walk against the frames and the end that it should have.
func (b *bed) want(frames, end string) {
	b.t.Helper()
	b.renew()
	b.world.want(frames, end)
}

// frames walks and gives copies of the frames.
func (b *bed) frames() ([]*frames.Frame, frames.End) {
	b.t.Helper()
	b.renew()
	w := frames.New(b.a, b.fake).Walk(&b.regs)
	var all []*frames.Frame
	for f := range w.Frames(context.Background()) {
		if all = append(all, f.Clone()); len(all) > 5000 {
			b.t.Fatal("the walk does not end")
		}
	}
	return all, w.End()
}

// functions gives amd64's world three functions with plain tables: f at 0x100 (CFA=rsp+8), g at 0x200 (CFA=rsp+24, rbx at
// c-16), and the outermost h at 0x300. On the stack from 0x100 on are g's and h's frames: f's return address first.
func functions(t testing.TB) (b *bed, cie int) {
	b = newBed(t, arch.AMD64)
	cie = b.cie("zR", usual...)
	b.fde(cie, 0x100, 0x180)
	b.fde(cie, 0x200, 0x280, 0x0e, 24, 0x83, 2)
	b.fde(cie, 0x300, 0x380, 0x07, 16)
	b.words(b.stack+0x100, b.calling(0x210), 0, 0xb0b, b.calling(0x310), 0)
	b.regs.Set(arch.RBX, 0x1111)
	b.at(codeAt+0x110, b.stack+0x100)
	return b, cie
}

const restOfFunctions = `
	401210 cfi table
	401310 cfi table`
