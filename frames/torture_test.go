package frames_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
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
	body := b.address(nil, uint64(b.m.Lo)-b.m.Bias+lo)
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
	return uint64(b.m.Lo) + uint64(off)
}

// renew makes the module anew: it keeps what it has derived from its tables.
func (b *bed) renew() {
	old := b.m
	b.m = &frames.Module{Name: old.Name, Lo: old.Lo, Hi: old.Hi, Bias: old.Bias, DebugFrame: old.DebugFrame, Code: old.Code,
		Go: old.Go, FunctionAt: old.FunctionAt, PLT: old.PLT, Entry: old.Entry}
	b.m.EHFrame = frames.Section{Data: slices.Clone(b.table.b), Addr: 0x100000}
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

func torturePLT(t *testing.T) {
	b, cie := functions(t)
	b.m.PLT = []frames.Range{{Lo: codeAt - bias + 0x1000, Hi: codeAt - bias + 0x1100}}
	// What binutils writes for .plt: PLT0, then each stub's CFA is rsp+8+((rip&15)>=11)*8.
	b.fde(cie, 0x1000, 0x1100, 0x0e, 16, 0x40|6, 0x0e, 24, 0x40|10,
		0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)
	for _, s := range []struct {
		off, pushed uint64
	}{{0x1000, 1}, {0x1006, 2}, {0x1010, 0}, {0x1016, 0}, {0x101b, 1}, {0x1020, 0}, {0x102b, 1}} {
		// Below are words that look like a return address, for whoever takes the wrong one.
		b.words(b.stack+0xe8, codeAt+0x310, codeAt+0x310, codeAt+0x310)
		b.at(codeAt+s.off, b.stack+0x100-8*s.pushed)
		b.want(fmt.Sprintf("%x context exact", codeAt+s.off)+restOfFunctions, "undefined return address")
	}
}

func tortureRestoreRT(t *testing.T) {
	for _, c := range []struct {
		name       string
		lo         uint64 // where the entry begins
		recognised bool   // the code is what the kernel's ABI prescribes
		by         string
	}{
		{"a byte early", 0x5ff, false, "cfi"},
		{"a byte early, known code", 0x5ff, true, "cfi"},
		{"not early, known code", 0x600, true, "cfi"}, // musl's, Go's; before it is another function
	} {
		t.Run(c.name, func(t *testing.T) {
			b, cie := functions(t)
			b.fde(cie, 0x400, c.lo, 0x0e, 64) // the function before it; its rule is wrong for the trampoline
			s := b.cie("zRS")
			b.fde(s, c.lo, 0x609, 0x0f, 4, 0x77, 0xa0, 1, 0x06, // CFA = *(rsp+160)
				0x10, 16, 3, 0x77, 0xa8, 1, // rip at rsp+168
				0x10, 3, 3, 0x77, 0x80, 1) // rbx at rsp+128
			b.fde(cie, 0x700, 0x780)
			b.code(0x600, 0xf4, 0xf4)
			if c.recognised {
				b.restorer(0x600)
			}
			b.words(b.alt, codeAt+0x600)
			b.sigframe(b.alt+8, map[arch.Reg]uint64{arch.RIP: codeAt + 0x110, arch.RSP: b.stack + 0x100, arch.RBX: 0x77})
			b.at(codeAt+0x710, b.alt)
			b.want(`401710 context exact
				401600 cfi table signal
				401110 sigreturn table precise`+restOfFunctions, "undefined return address")
			all, _ := b.frames()
			if v, known := all[2].Regs.Get(arch.RBX); v != 0x77 || !known {
				t.Errorf("rbx of what was interrupted is %x, %v", v, known)
			}
		})
	}
}

func tortureFirstInstruction(t *testing.T) {
	b, cie := functions(t)
	b.fde(cie, 0x180, 0x200, 0x0e, 64)                   // directly before g, with a frame of 64 bytes
	b.fde(cie, 0x400, 0x480, 0x0e, 8)                    // the handler
	b.words(b.stack+0x40, b.restorer(0x500))             // of its return
	b.words(b.stack+0x100, b.calling(0x310), 0, 0, 0, 0) // g was just entered from h
	b.words(b.stack+0x138, codeAt+0x210)                 // where the function before g would look
	b.sigframe(b.stack+0x48, map[arch.Reg]uint64{arch.RIP: codeAt + 0x200, arch.RSP: b.stack + 0x100})
	b.table.b = nil
	cie = b.cie("zR", usual...)
	b.fde(cie, 0x180, 0x200, 0x0e, 64)
	b.fde(cie, 0x200, 0x280, 0x44, 0x0e, 24) // 24 from its fifth byte on
	b.fde(cie, 0x300, 0x380, 0x07, 16)
	b.fde(cie, 0x400, 0x480)
	b.at(codeAt+0x410, b.stack+0x40)
	b.want(`401410 context exact
		401500 cfi table signal
		401200 sigreturn table precise
		401310 cfi table`, "undefined return address")
	if all, _ := b.frames(); all[2].LookupPC() != codeAt+0x200 || all[3].LookupPC() != codeAt+0x30f {
		t.Errorf("looked up at %v and %v", all[2].LookupPC(), all[3].LookupPC())
	}
}

func tortureNull(t *testing.T) {
	b, _ := functions(t)
	b.at(0, b.stack+0x100)
	b.want(`0 context exact
		401210 prologue heuristic
		401310 cfi heuristic`, "undefined return address")
	all, _ := b.frames()
	if v, known := all[1].Regs.Get(arch.RBX); v != 0x1111 || !known {
		t.Errorf("rbx in the caller is %x, %v: nothing has run that could have changed it", v, known)
	}
	// A machine with a link register.
	b = newBed(t, arch.ARM64)
	c := b.cie("zR", 0x0c, 31, 0)
	b.fde(c, 0x300, 0x380, 0x07, 30)
	b.regs.Set(30, b.calling(0x310))
	b.at(0, b.stack+0x100)
	b.want("0 context exact\n401310 prologue heuristic", "undefined return address")
	// The call that raised a signal: 0 is where the thread was interrupted, no end.
	b, cie := functions(t)
	b.fde(cie, 0x400, 0x480)
	b.restorer(0x500)
	b.handler(b.alt, 0, b.stack+0x100)
	b.at(codeAt+0x410, b.alt)
	b.want(`401410 context exact
		401500 cfi table signal
		0 sigreturn table precise
		401210 prologue heuristic
		401310 cfi heuristic`, "undefined return address")
	// Reached by a frame that is none: 0 as a return address is an end.
	b, _ = functions(t)
	b.words(b.stack+0x100, 0)
	b.want("401110 context exact", "undefined return address")
}

func tortureGarbage(t *testing.T) {
	for name, pc := range map[string]uint64{"nowhere": 0x123456789, "the stack": stackAt + 0x10, "the top": 1<<64 - 1, "not canonical": 0x800000000000} {
		t.Run(name, func(t *testing.T) {
			b, _ := functions(t)
			b.at(pc, b.stack+0x100)
			b.want(fmt.Sprintf("%x context exact\n401210 prologue heuristic\n401310 cfi heuristic", pc), "undefined return address")
			// Where the stack does not have a return address on top no frame is made up of it.
			b.words(b.stack+0x100, 0x1234)
			for f := range frames.New(b.a, b.fake).Walk(&b.regs).Frames(context.Background()) {
				if f.Index == 1 && f.Trust != frames.Guess {
					t.Errorf("frame 1: %s", describeFrame(f))
				}
			}
		})
	}
}

func tortureNoreturn(t *testing.T) {
	t.Run("of a function", func(t *testing.T) {
		b, cie := functions(t)
		b.fde(cie, 0x280, 0x2f0, 0x0e, 64) // the next function
		b.words(b.stack+0x100, b.calling(0x280))
		b.want("401110 context exact\n401280 cfi table\n401310 cfi table", "undefined return address")
	})
	t.Run("of a module", func(t *testing.T) {
		b, _ := functions(t)
		second := &frames.Module{Name: "second", Lo: codeAt + 0x280, Hi: codeAt + 0x4000, Bias: bias} // knows of nothing
		b.m.Hi = codeAt + 0x280
		b.modules = append(b.modules, second)
		h := &frames.Module{Name: "h", Lo: codeAt + 0x300, Hi: codeAt + 0x380, Bias: bias}
		second.Lo = codeAt + 0x280
		second.Hi = codeAt + 0x300
		b.modules = append(b.modules, h)
		b.m.EHFrame = frames.Section{Data: b.table.b, Addr: 0x100000}
		h.EHFrame = b.m.EHFrame
		b.words(b.stack+0x100, b.calling(0x280))
		b.want("401110 context exact\n401280 cfi table\n401310 cfi table", "undefined return address")
		all, _ := b.frames()
		if all[1].Module != b.m {
			t.Errorf("a return address behind the module is taken to be in %v", all[1].Module)
		}
	})
	t.Run("the end of executable memory", func(t *testing.T) {
		b, _ := functions(t)
		b.pieces[0].data = b.pieces[0].data[:0x400]
		b.fde(0, 0x380, 0x400, 0x07, 16)
		b.words(b.stack+0x100, b.calling(0x400))
		b.want("401110 context exact\n401400 cfi table", "undefined return address")
	})
}

func tortureNoRA(t *testing.T) {
	t.Run("absent", func(t *testing.T) {
		b, _ := functions(t)
		bare := b.cie("zR", 0x0c, 7, 8)
		b.fde(bare, 0x600, 0x680)
		b.code(0x610, 0xc3)
		b.at(codeAt+0x610, b.stack+0x100)
		b.want("401610 context exact\n401210 prologue heuristic\n401310 cfi heuristic", "undefined return address")
		all, _ := b.frames()
		if a := all[1].Attempts; len(a) != 1 || a[0] != (frames.Attempt{Strategy: frames.CFI, Why: "the row does not say where the return address is"}) {
			t.Errorf("attempts %+v", a)
		}
	})
	t.Run("undefined", func(t *testing.T) {
		b, cie := functions(t)
		b.fde(cie, 0x600, 0x680, 0x07, 16)
		b.code(0x610, 0xc3)
		b.at(codeAt+0x610, b.stack+0x100)
		b.want("401610 context exact", "undefined return address")
		if _, end := b.frames(); !end.Outermost {
			t.Error("not the outermost frame")
		}
	})
	signal := func(t *testing.T, known bool, instr ...byte) *bed {
		b, _ := functions(t)
		s := b.cie("zRS", append([]byte{0x0c, 7, 8}, instr...)...)
		b.fde(s, 0x5ff, 0x680)
		b.code(0x600, 0xf4)
		if known {
			b.restorer(0x600)
		}
		b.words(b.stack+0x40, codeAt+0x600)
		b.sigframe(b.stack+0x48, map[arch.Reg]uint64{arch.RIP: codeAt + 0x110, arch.RSP: b.stack + 0x100})
		b.at(codeAt+0x110, b.stack+0x40)
		return b
	}
	t.Run("undefined inside a signal frame", func(t *testing.T) {
		b := signal(t, true, 0x07, 16)
		b.want("401110 context exact\n401600 cfi table signal", "undefined return address")
		if _, end := b.frames(); !end.Outermost {
			t.Error("not the outermost frame")
		}
	})
	t.Run("absent inside a signal frame", func(t *testing.T) {
		b := signal(t, true)
		b.want("401110 context exact\n401600 cfi table signal\n401110 sigreturn table precise"+restOfFunctions, "undefined return address")
		b = signal(t, false)
		b.want("401110 context exact\n401600 cfi table signal", "no strategy found a caller")
		if _, end := b.frames(); end.Outermost {
			t.Error("a table that does not say where the return address is makes no outermost frame")
		}
	})
	t.Run("a link register", func(t *testing.T) {
		b := newBed(t, arch.ARM64)
		c := b.cie("zR", 0x0c, 31, 0)
		b.fde(c, 0x100, 0x180) // absent: it is still in the link register
		b.fde(c, 0x300, 0x380, 0x07, 30)
		b.regs.Set(30, b.calling(0x310))
		b.at(codeAt+0x110, b.stack+0x100)
		b.want("401110 context exact\n401310 cfi table", "undefined return address")
		b.regs.Forget(30)
		all, end := b.frames()
		if len(all) != 1 || end.Outermost || !strings.Contains(end.Attempts[0].Why, "the return address depends on x30, whose value is not known") {
			t.Errorf("%d frames, %+v", len(all), end)
		}
	})
}

func tortureRAInRegister(t *testing.T) {
	b, cie := functions(t)
	// CFA=rdi, rsp is in r8, rip in rdx, rbx at c+0.
	b.fde(cie, 0x600, 0x680, 0x0c, 5, 0, 0x09, 7, 8, 0x09, 16, 1, 0x11, 3, 0)
	for name, sp := range map[string]uint64{"up": b.stack + 0x108, "to another stack, down": b.alt + 0x108} {
		b.at(codeAt+0x610, b.stack+0x80)
		b.words(b.alt+0x108, 0, 0xb0b, codeAt+0x310)
		b.regs.Set(arch.RDI, b.stack+0x1000)
		b.words(b.stack+0x1000, 0x5e7)
		b.regs.Set(arch.RDX, codeAt+0x210)
		b.regs.Set(arch.R8, sp)
		b.want("401610 context exact"+restOfFunctions, "undefined return address")
		all, _ := b.frames()
		f := all[1]
		if got, _ := f.Regs.SP(); got != sp {
			t.Errorf("%s: rsp is %x, want %x", name, got, sp)
		}
		if v, _ := f.Regs.Get(arch.RBX); v != 0x5e7 {
			t.Errorf("%s: rbx is %x", name, v)
		}
		if p, _ := f.Where(arch.RIP); p != frames.Nowhere {
			t.Errorf("%s: the return address, which is in rdx, is said to be in %v", name, p)
		}
		b.regs.Forget(arch.RDX)
		if all, end := b.frames(); len(all) > 1 && all[1].Strategy == frames.CFI || end.Outermost && len(all) == 1 {
			t.Errorf("%s: without rdx there is frame 1 by cfi, or %+v", name, end)
		}
	}
}

func tortureExpressions(t *testing.T) {
	b, cie := functions(t)
	b.words(b.stack+0x120, 0xdead)
	// rbx is saved at rsp+32, r12 is rsp+32 itself, r13 is what the CFA (pushed first) is plus 8.
	b.fde(cie, 0x600, 0x680, 0x10, 3, 2, 0x77, 32, 0x16, 12, 2, 0x77, 32, 0x16, 13, 2, 0x23, 8)
	b.at(codeAt+0x610, b.stack+0x100)
	all, _ := b.frames()
	if len(all) != 3 {
		t.Fatalf("%d frames", len(all))
	}
	for _, c := range []struct {
		reg   arch.Reg
		value uint64
		place frames.Place
		at    uint64
	}{
		{arch.RBX, 0xdead, frames.InMemory, b.stack + 0x120},
		{arch.R12, b.stack + 0x120, frames.Nowhere, 0},
		{arch.R13, b.stack + 0x110, frames.Nowhere, 0},
	} {
		v, known := all[1].Regs.Get(c.reg)
		p, at := all[1].Where(c.reg)
		if v != c.value || !known || p != c.place || uint64(at) != c.at {
			t.Errorf("r%d is %x (%v), in %v at %x; want %x in %v at %x", c.reg, v, known, p, uint64(at), c.value, c.place, c.at)
		}
	}
	// A saved register's value is lost where its place can't be read; the walk is not.
	b.fde(cie, 0x680, 0x700, 0x10, 3, 2, 0x31, 0x06)
	b.at(codeAt+0x690, b.stack+0x100)
	if all, _ = b.frames(); len(all) != 3 || all[1].Regs.IsKnown(arch.RBX) {
		t.Errorf("%d frames, rbx known: %v", len(all), all[1].Regs.IsKnown(arch.RBX))
	}
}

func tortureIndexed(t *testing.T) {
	b, cie := functions(t)
	// CFA = *(rsp+8*r9+8)+8: breg7 8; breg9 0; lit3; shl; plus; deref; plus_uconst 8.
	b.fde(cie, 0x600, 0x680, 0x0f, 10, 0x77, 8, 0x79, 0, 0x33, 0x24, 0x22, 0x06, 0x23, 8)
	for n := range uint64(8) {
		b.words(b.stack+0x40, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
		b.words(b.stack+0x48+8*n, b.stack+0x100)
		b.regs.Set(arch.R9, n)
		b.at(codeAt+0x610, b.stack+0x40)
		b.want("401610 context exact"+restOfFunctions, "undefined return address")
	}
	b.regs.Forget(arch.R9)
	all, end := b.frames()
	attempts := end.Attempts
	if len(all) > 1 {
		attempts = all[1].Attempts
	}
	if !slices.ContainsFunc(attempts, func(a frames.Attempt) bool { return a.Strategy == frames.CFI && strings.Contains(a.Why, "r9") }) {
		t.Errorf("without r9: %d frames, attempts %+v", len(all), attempts)
	}
}

func torturePAC(t *testing.T) {
	b := newBed(t, arch.ARM64)
	c := b.cie("zR", 0x0c, 31, 0)
	b.fde(c, 0x100, 0x180, 0x2d)                                   // a leaf after paciasp
	b.fde(c, 0x200, 0x280, 0x44, 0x2d, 0x0e, 16, 0x9d, 2, 0x9e, 1) // signed, saved
	b.fde(c, 0x300, 0x380, 0x0e, 16, 0x9d, 2, 0x9e, 1)             // saved, and the table says nothing of signing
	b.fde(c, 0x400, 0x480, 0x07, 30)
	for _, mask := range []uint64{0, 0x007f << 48, 0xff7f << 48, 0x1234 << 48 &^ (1 << 55), 0x0001 << 48} {
		b.regs.Set(30, b.calling(0x210)|mask)
		b.words(b.stack+0x100, 0x29, b.calling(0x310)|mask, 0x29, b.calling(0x410)|mask)
		b.at(codeAt+0x110, b.stack+0x100)
		b.want("401110 context exact\n401210 cfi table\n401310 cfi table\n401410 cfi table", "undefined return address")
	}
	// The chain of frame pointers and the search of the stack meet signed addresses too.
	b = newBed(t, arch.ARM64)
	c = b.cie("zR", 0x0c, 31, 0)
	b.fde(c, 0x400, 0x480, 0x07, 30)
	b.regs.Set(29, b.stack+0x120)
	b.words(b.stack+0x120, 0, b.calling(0x410)|0x2a<<48)
	b.at(codeAt+0x1110, b.stack+0x100)
	b.want("402110 context exact\n401410 fp heuristic", "undefined return address")
	b.regs.Forget(29)
	b.want("402110 context exact\n401410 scan guess", "undefined return address")
	// Bit 55 says that it is an address of the upper half: the code is replaced by ones.
	const kernel = 0xffff800010080000
	b = newBed(t, arch.ARM64)
	b.pieces[0].addr, b.m.Lo, b.m.Hi, b.m.Bias = kernel, kernel, kernel+0x4000, 0xffff800010000000
	c = b.cie("zR", 0x0c, 31, 0)
	b.fde(c, 0x100, 0x180)
	b.fde(c, 0x400, 0x480, 0x07, 30)
	b.regs.Set(30, b.calling(0x410)&^(0xff7f<<48)|0x1500<<48)
	b.at(kernel+0x110, b.stack+0x100)
	b.want("ffff800010080110 context exact\nffff800010080410 cfi table", "undefined return address")
}

func tortureB(t *testing.T) {
	b := newBed(t, arch.ARM64)
	c := b.cie("zRB", 0x0c, 31, 0)
	b.fde(c, 0x100, 0x180, 0x2d)
	b.fde(c, 0x400, 0x480, 0x07, 30)
	s := b.cie("zRSB", 0x0c, 31, 0)
	b.fde(s, 0x4ff, 0x508, 0x0b) // restore_state without remember: the entry is broken, its neighbours are not
	b.regs.Set(30, b.calling(0x410)|0x2a<<48)
	b.at(codeAt+0x110, b.stack+0x100)
	b.want("401110 context exact\n401410 cfi table", "undefined return address")
}

func tortureFDEs(t *testing.T) {
	compiled := func(t *testing.T, b *bed, want string) {
		t.Helper()
		b.want(want, "undefined return address")
		b.modules[0] = &frames.Module{Name: "test", Lo: b.m.Lo, Hi: b.m.Hi, Bias: b.m.Bias, EHFrame: b.m.EHFrame}
		b.modules[0].Compile(b.a)
		got, _ := show(t, frames.New(b.a, b.fake).Walk(&b.regs))
		b.modules[0] = b.m
		if plain, _ := b.walk(); got != plain {
			t.Errorf("compiled\n%s\ninterpreted\n%s", got, plain)
		}
	}
	t.Run("zero-length", func(t *testing.T) {
		b, cie := functions(t)
		b.fde(cie, 0x110, 0x110, 0x0e, 64) // at the very PC
		b.fde(cie, 0x20f, 0x20f, 0x0e, 64)
		compiled(t, b, "401110 context exact"+restOfFunctions)
	})
	t.Run("adjoining", func(t *testing.T) {
		b, cie := functions(t)
		b.fde(cie, 0x180, 0x200, 0x0e, 64)
		b.fde(cie, 0x280, 0x300, 0x0e, 64)
		b.words(b.stack+0x100, b.calling(0x280)) // a return address at the seam belongs to the one before
		compiled(t, b, "401110 context exact\n401280 cfi table\n401310 cfi table")
		b.at(codeAt+0x200, b.stack+0x108) // a precise PC at the seam to the one behind
		compiled(t, b, "401200 context exact\n401310 cfi table")
	})
	t.Run("overlapping", func(t *testing.T) {
		// Of two entries that overlap either may count, but each frame is unwound by one of them as it
		// stands, and always by the same one.
		b, cie := functions(t)
		b.fde(cie, 0x600, 0x700)             // CFA=rsp+8
		b.fde(cie, 0x680, 0x780, 0x0e, 0x18) // CFA=rsp+24
		b.words(b.stack+0xf8, codeAt+0x210, 0x1, codeAt+0x210)
		for _, pc := range []uint64{0x600, 0x67f, 0x680, 0x6ff, 0x700, 0x77f} {
			b.at(codeAt+pc, b.stack+0xf8)
			all, _ := b.frames()
			if len(all) < 2 || all[1].Strategy != frames.CFI || uint64(all[1].PC) != codeAt+0x210 {
				t.Errorf("%x: %d frames", pc, len(all))
				continue
			}
			switch cfa := uint64(all[0].CFA) - b.stack - 0xf8; {
			case pc < 0x680 && cfa != 8, pc >= 0x700 && cfa != 24, cfa != 8 && cfa != 24:
				t.Errorf("%x: CFA=rsp+%d", pc, cfa)
			}
			b.modules[0] = &frames.Module{Name: "test", Lo: b.m.Lo, Hi: b.m.Hi, Bias: b.m.Bias, EHFrame: b.m.EHFrame}
			b.modules[0].Compile(b.a)
			for f := range frames.New(b.a, b.fake).Walk(&b.regs).Frames(context.Background()) {
				if f.Index == 0 && f.CFA != all[0].CFA {
					t.Errorf("%x: CFA 0x%x, compiled 0x%x", pc, uint64(all[0].CFA), uint64(f.CFA))
				}
			}
			b.modules[0] = b.m
		}
	})
}

// handler puts a handler's frame at sp, which has interrupted at pc with the stack pointer at from.
func (b *bed) handler(sp, pc, from uint64) {
	b.words(sp, codeAt+0x500)
	b.sigframe(sp+8, map[arch.Reg]uint64{arch.RIP: pc, arch.RSP: from, arch.RBP: 0xb9})
}

func tortureAltStack(t *testing.T) {
	for name, c := range map[string]struct{ handler, code uint64 }{"down": {stackAt + 0x1000, altAt + 0x100}, "up": {altAt + 0x1000, stackAt + 0x100}, "near": {stackAt + 0x1000, stackAt + 0x100}} {
		t.Run(name, func(t *testing.T) {
			b, cie := functions(t)
			b.fde(cie, 0x400, 0x480)
			b.restorer(0x500)
			b.words(c.code, codeAt+0x210, 0, 0xb0b, codeAt+0x310)
			b.handler(c.handler, codeAt+0x110, c.code)
			b.at(codeAt+0x410, c.handler)
			b.want("401410 context exact\n401500 cfi table signal\n401110 sigreturn table precise"+restOfFunctions, "undefined return address")
		})
	}
	// Without a signal frame the stack pointer does not go down, whatever the table says.
	b, cie := functions(t)
	b.fde(cie, 0x400, 0x480, 0x0c, 3, 8) // CFA=rbx+8
	b.regs.Set(arch.RBX, b.alt+0x100)
	b.words(b.alt+0x100, codeAt+0x210, 0, 0, codeAt+0x310)
	b.at(codeAt+0x410, b.stack+0x1000)
	all, end := b.frames()
	if len(all) != 1 || end.Reason != "frame did not move" {
		t.Errorf("%d frames, %+v", len(all), end)
	}
}

func tortureNested(t *testing.T) {
	b, cie := functions(t)
	b.fde(cie, 0x400, 0x480)
	b.restorer(0x500)
	b.handler(b.alt+0x1000, codeAt+0x100, b.stack+0x100) // the first, at f's first instruction, on another stack
	b.handler(b.alt+0x800, codeAt+0x410, b.alt+0x1000)   // the second interrupts it
	b.handler(b.stack+0x2000, codeAt+0x400, b.alt+0x800) // a third, on a stack above, interrupts that one at its first instruction
	b.at(codeAt+0x420, b.stack+0x2000)
	b.want(`401420 context exact
		401500 cfi table signal
		401400 sigreturn table precise
		401500 cfi table signal
		401410 sigreturn table precise
		401500 cfi table signal
		401100 sigreturn table precise`+restOfFunctions, "undefined return address")
	// A signal that comes when the thread is in the trampoline itself, at its second instruction.
	b.handler(b.stack+0x2000, codeAt+0x507, b.alt+0x808)
	b.want(`401420 context exact
		401500 cfi table signal
		401507 sigreturn table signal precise
		401410 sigreturn table precise
		401500 cfi table signal
		401100 sigreturn table precise`+restOfFunctions, "undefined return address")
}

func tortureSplit(t *testing.T) {
	b, cie := functions(t)
	// The way of __morestack: CFA=rbp+16 of the old stack, while rsp is on the new one, which is above.
	b.fde(cie, 0x600, 0x680, 0x0f, 2, 0x76, 16, 0x86, 2)
	// A coroutine: all comes from a block that rax points to; rsp has a rule of its own.
	b.fde(cie, 0x700, 0x780, 0x0c, 0, 0, 0x10, 7, 2, 0x23, 8, 0x11, 16, 0)
	b.regs.Set(arch.RBP, b.stack+0xf0)
	b.words(b.stack+0xf0, 0xb9, codeAt+0x110)
	b.at(codeAt+0x610, b.stack+0x3000)
	b.want("401610 context exact\n401110 cfi table"+restOfFunctions, "undefined return address")
	b.regs.Set(arch.RAX, b.stack+0x2000)
	b.words(b.stack+0x2000, codeAt+0x110, b.stack+0x100)
	b.at(codeAt+0x710, b.stack+0x3000)
	b.want("401710 context exact\n401110 cfi table"+restOfFunctions, "undefined return address")
	if all, _ := b.frames(); all[0].CFA != target.Addr(b.stack+0x2000) {
		t.Errorf("the CFA is %v", all[0].CFA)
	}
}

func tortureMissingPage(t *testing.T) {
	b, cie := functions(t)
	b.fde(cie, 0x600, 0x680, 0x0e, 0x80, 0x14) // a frame of 0x800 and more: see below
	b.table.b = b.table.b[:0]
	cie = b.cie("zR", usual...)
	b.fde(cie, 0x100, 0x180)
	b.fde(cie, 0x300, 0x380, 0x07, 16)
	b.fde(cie, 0x600, 0x680, 0x0e, 0x88, 0x10) // CFA=rsp+0x808
	b.calling(0x610)
	// f's frame ends at stack+0x808, the big frame at stack+0x1010; the page at stack+0x1000 is not there. In what is there old
	// return addresses lie about.
	b.words(b.stack+0x800, codeAt+0x610)
	b.words(b.stack+0x808, 0, codeAt+0x310, 0, codeAt+0x310)
	top := b.pieces[1].data
	b.pieces[1].data = top[:0x1000]
	b.pieces = append(b.pieces, piece{addr: target.Addr(b.stack + 0x2000), data: top[0x2000:]})
	b.words(b.stack+0x2000, codeAt+0x310)
	b.at(codeAt+0x110, b.stack+0x800)
	b.want("401110 context exact\n401610 cfi table", fmt.Sprintf("memory unreadable at 0x%x", b.stack+0x1008))
}

func tortureChains(t *testing.T) {
	t.Run("FP", func(t *testing.T) {
		for name, c := range map[string]struct {
			fp    uint64
			words []uint64 // at fp
			why   string
		}{
			"to itself":        {stackAt + 0x40, []uint64{stackAt + 0x40}, "the saved frame pointer does not go up"},
			"to the one below": {stackAt + 0x40, []uint64{stackAt + 0x38}, "the saved frame pointer does not go up"},
			"unaligned":        {stackAt + 0x44, nil, "the frame pointer is not aligned"},
			"unaligned next":   {stackAt + 0x40, []uint64{stackAt + 0x61}, "the saved frame pointer does not go up"},
		} {
			t.Run(name, func(t *testing.T) {
				b := newBed(t, arch.AMD64)
				b.regs.Set(arch.RBP, c.fp)
				b.words(c.fp, append(c.words, b.calling(0x810))...)
				b.words(c.fp+8, codeAt+0x810)
				b.at(codeAt+0x910, b.stack+0x20)
				b.pieces[1].data = b.pieces[1].data[:0x100]
				all, end := b.frames()
				attempts := end.Attempts
				if len(all) > 1 {
					attempts = all[1].Attempts
					if all[1].Strategy != frames.Scan {
						t.Errorf("frame 1 by %v", all[1].Strategy)
					}
				}
				if !slices.Contains(attempts, frames.Attempt{Strategy: frames.FP, Why: c.why}) {
					t.Errorf("attempts %+v", attempts)
				}
				if len(all) > 3 {
					t.Errorf("%d frames", len(all))
				}
			})
		}
	})
	t.Run("FP, to what follows no call", func(t *testing.T) {
		b := newBed(t, arch.AMD64)
		b.regs.Set(arch.RBP, b.stack+0x40)
		b.words(b.stack+0x40, b.stack+0x60, codeAt+0x820)
		b.at(codeAt+0x910, b.stack+0x20)
		b.pieces[1].data = b.pieces[1].data[:0x100]
		if all, end := b.frames(); len(all) != 1 || !slices.Contains(end.Attempts, frames.Attempt{Strategy: frames.FP, Why: "the return address 0x401820 does not follow a call"}) {
			t.Errorf("%d frames, %+v", len(all), end)
		}
	})
	// Rings through a table that says itself where the next stack is: the walk goes round once at most.
	for _, n := range []int{1, 2, 3, 100} {
		t.Run(fmt.Sprintf("a ring of %d", n), func(t *testing.T) {
			b := newBed(t, arch.AMD64)
			c := b.cie("zR", usual...)
			b.fde(c, 0x600, 0x680, 0x0f, 2, 0x77, 0, 0x16, 7, 3, 0x77, 8, 0x06, 0x11, 16, 0) // CFA=rsp, rip at c, rsp = *(rsp+8)
			b.calling(0x610)
			for i := range n {
				b.words(b.stack+uint64(i)*16, codeAt+0x610, b.stack+uint64((i+1)%n)*16)
			}
			b.at(codeAt+0x610, b.stack)
			all, end := b.frames()
			cfi := 0
			for _, f := range all {
				if f.Strategy == frames.CFI {
					cfi++
				}
			}
			if cfi > 2*n+1 || cfi < n-1 {
				t.Errorf("%d frames by cfi, %+v", cfi, end)
			}
		})
	}
	// The same through signal frames.
	for _, n := range []int{1, 2, 50} {
		t.Run(fmt.Sprintf("a ring of %d signal frames", n), func(t *testing.T) {
			b, cie := functions(t)
			b.fde(cie, 0x400, 0x480)
			b.restorer(0x500)
			for i := range n {
				b.handler(b.alt+uint64(i)*0x140, codeAt+0x410, b.alt+uint64((i+1)%n)*0x140)
			}
			b.at(codeAt+0x410, b.alt)
			all, end := b.frames()
			if end.Reason != "frame did not move" || len(all) < 2*n || len(all) > 4*n+2 {
				t.Errorf("%d frames, %+v", len(all), end)
			}
		})
	}
	// A ring with more turns than are remembered ends at the limit.
	t.Run("a ring of 2000", func(t *testing.T) {
		b := newBed(t, arch.AMD64)
		c := b.cie("zR", usual...)
		b.fde(c, 0x600, 0x680, 0x0f, 2, 0x77, 0, 0x16, 7, 3, 0x77, 8, 0x06, 0x11, 16, 0)
		b.calling(0x610)
		b.pieces[1].data = make([]byte, 2000*16)
		for i := range 2000 {
			b.words(b.stack+uint64(i)*16, codeAt+0x610, b.stack+uint64((i+1999)%2000)*16) // down all the way
		}
		b.at(codeAt+0x610, b.stack)
		b.m.EHFrame = frames.Section{Data: b.table.b, Addr: 0x100000}
		u := frames.New(b.a, b.fake)
		u.DepthLimit = 10_000
		w := u.Walk(&b.regs)
		n := 0
		for range w.Frames(context.Background()) {
			n++
		}
		if n > 10_000 || w.End().Reason != "depth limit" {
			t.Errorf("%d frames, %+v", n, w.End())
		}
	})
}

func tortureTiny(t *testing.T) {
	// Each frame is its return address and nothing else, all of them the same: no cycle.
	b := newBed(t, arch.AMD64)
	c := b.cie("zR", usual...)
	b.fde(c, 0x100, 0x180)
	b.fde(c, 0x300, 0x380, 0x07, 16)
	b.calling(0x110)
	const n = 3000
	b.pieces[1].data = make([]byte, 8*n+0x100)
	for i := range uint64(n) {
		b.words(b.stack+8*i, codeAt+0x110)
	}
	b.words(b.stack+8*n, b.calling(0x310))
	b.at(codeAt+0x110, b.stack)
	all, end := b.frames()
	if len(all) != n+2 || !end.Outermost {
		t.Errorf("%d frames, %+v", len(all), end)
	}
	// A leaf of a link register has no frame at all, once.
	b = newBed(t, arch.ARM64)
	c = b.cie("zR", 0x0c, 31, 0)
	b.fde(c, 0x100, 0x180)
	b.fde(c, 0x200, 0x280, 0x0e, 16, 0x9e, 1)
	b.fde(c, 0x300, 0x380, 0x07, 30)
	b.regs.Set(30, b.calling(0x210))
	for i := range uint64(100) {
		b.words(b.stack+16*i, 0, codeAt+0x210)
	}
	b.words(b.stack+1600, 0, b.calling(0x310))
	b.at(codeAt+0x110, b.stack)
	if all, end = b.frames(); len(all) != 103 || !end.Outermost {
		t.Errorf("%d frames, %+v", len(all), end)
	}
	// A second leaf, as a caller, would be a frame that does not move: it could go on for ever.
	b.fde(c, 0x400, 0x480)
	b.regs.Set(30, b.calling(0x410))
	if all, _ = b.frames(); len(all) < 3 || all[1].Strategy != frames.CFI || all[2].Trust != frames.Guess {
		t.Errorf("%d frames", len(all))
	}
}

func tortureHigh(t *testing.T) {
	for name, c := range map[string]struct{ code, stack, bias uint64 }{
		"the kernel's half": {0xffffffff81001000, 0xffffc90000000000, 0xffffffff80000000},
		"2^63":              {1<<63 + 0x1000, 1<<63 - 0x2000, 1 << 63},
		"the top":           {-0x5000 & (1<<64 - 1), -0x9000 & (1<<64 - 1), -0x5000 & (1<<64 - 1)},
		"moved down":        {0x1000, stackAt, -0x400000 & (1<<64 - 1)}, // the bias is negative
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, arch.AMD64)
			b.pieces[0].addr, b.pieces[1].addr, b.stack = target.Addr(c.code), target.Addr(c.stack), c.stack
			b.m.Lo, b.m.Hi, b.m.Bias = target.Addr(c.code), target.Addr(c.code+0x4000), c.bias
			cie := b.cie("zR", usual...)
			b.fde(cie, 0x100, 0x180)
			b.fde(cie, 0x200, 0x280, 0x0e, 24, 0x83, 2)
			b.fde(cie, 0x300, 0x380, 0x07, 16)
			b.words(b.stack+0x100, b.calling(0x210), 0, 0xb0b, b.calling(0x310), 0)
			b.at(c.code+0x110, b.stack+0x100)
			b.want(fmt.Sprintf("%x context exact\n%x cfi table\n%x cfi table", c.code+0x110, c.code+0x210, c.code+0x310), "undefined return address")
			b.regs.Set(arch.RBP, b.stack+0x140)
			b.words(b.stack+0x140, 0, c.code+0x210)
			b.words(b.stack+0x150, 0, 0xb0b, c.code+0x310)
			b.at(c.code+0x1110, b.stack+0x130)
			b.want(fmt.Sprintf("%x context exact\n%x fp heuristic\n%x cfi heuristic", c.code+0x1110, c.code+0x210, c.code+0x310), "undefined return address")
		})
	}
	t.Run("the last word", func(t *testing.T) {
		// The stack ends where the address space does: the CFA of the last frame would be 0.
		b, _ := functions(t)
		b.pieces[1].addr = 1<<64 - 0x4000
		b.stack = 1<<64 - 0x4000
		b.words(1<<64-8, codeAt+0x210)
		b.at(codeAt+0x110, 1<<64-8)
		b.renew()
		got, end := show(t, frames.New(b.a, endless{b.fake}).Walk(&b.regs))
		if strings.Contains(got, "\n") || end.Reason != "frame did not move" {
			t.Errorf("%s, %+v", got, end)
		}
	})
}

// endless is a space that, as a kernel does, refuses reads that go past the end of the address space.
type endless struct{ *fake }

func (e endless) ReadMemory(addr target.Addr, buf []byte) (int, error) {
	if end := addr + target.Addr(len(buf)); end != 0 && end < addr {
		return 0, &target.MemoryError{Addr: addr, Why: "past the end"}
	}
	return e.fake.ReadMemory(addr, buf)
}

func tortureWrap(t *testing.T) {
	low := func(t *testing.T, b *bed) []*frames.Frame {
		t.Helper()
		all, end := b.frames()
		for _, f := range all {
			sp, _ := f.Regs.SP()
			if sp>>32 != 0 || uint64(f.PC)>>32 != 0 || uint64(f.CFA)>>32 != 0 {
				t.Errorf("an address of more than 32 bits: sp %x, %s", sp, describeFrame(f))
			}
		}
		if end.Reason == "" {
			t.Error("no reason")
		}
		return all
	}
	i386 := func(t *testing.T) (*bed, int) {
		b := newBed(t, arch.I386)
		c := b.cie("zR", 0x0c, 4, 4, 0x88, 1)
		b.fde(c, 0x100, 0x180)
		b.fde(c, 0x300, 0x380, 0x07, 8)
		b.calling(0x110)
		b.calling(0x310)
		b.pieces[1].addr = 1<<32 - 0x4000
		return b, c
	}
	t.Run("the CFA", func(t *testing.T) {
		b, c := i386(t)
		b.fde(c, 0x200, 0x280, 0x0c, 5, 0x20) // CFA=ebp+32
		b.regs.Set(5, 0xfffffff0)
		b.at(codeAt+0x210, 0xffffff00)
		if all := low(t, b); len(all) > 1 && all[1].Strategy == frames.CFI {
			t.Errorf("frame 1 by cfi at %x", uint64(all[1].PC))
		}
		// Offsets from a low address go below 0, and come out at the top.
		b, c = i386(t)
		b.fde(c, 0x200, 0x280, 0x12, 5, 0x04) // CFA=ebp+4*-4
		b.table.b[len(b.table.b)-1] = 0x04
		b.words(0xffffffec, codeAt+0x310)
		b.regs.Set(5, 0)
		b.table.b = nil
		c = b.cie("zR", 0x0c, 4, 4, 0x88, 1)
		b.fde(c, 0x200, 0x280, 0x12, 5, 0x04)
		b.fde(c, 0x300, 0x380, 0x07, 8)
		b.at(codeAt+0x210, 0xffffff00)
		if all := low(t, b); len(all) != 2 || all[1].Strategy != frames.CFI || all[0].CFA != 0xfffffff0 {
			t.Errorf("%d frames, CFA %x", len(all), uint64(all[0].CFA))
		}
	})
	t.Run("the last words", func(t *testing.T) {
		b, _ := i386(t)
		b.words(0xfffffff8, 0, codeAt+0x110)
		b.regs.Set(5, 0xfffffff8)
		b.at(codeAt+0x910, 0xffffff00) // by the frame pointer
		low(t, b)
		b.regs.Forget(5)
		low(t, b) // by the search
		b.at(0, 0xfffffffc)
		low(t, b) // by a call to nowhere
		b.at(codeAt+0x110, 0xfffffffc)
		low(t, b)
	})
	t.Run("a call", func(t *testing.T) {
		// From the top to the bottom of the address space: the distance wraps.
		b, _ := i386(t)
		top := uint32(0xfffff0f5)
		to := uint32(codeAt + 0x100)
		code := append(make([]byte, 0xf0), 0xe8)
		code = append(binary.LittleEndian.AppendUint32(code, to-top), 0x90, 0x90)
		b.pieces = append(b.pieces, piece{0xfffff000, code, true})
		b.pieces[1].addr = 0xbf000000
		b.words(0xbf000020, 0xfffff0f5)
		b.at(codeAt+0x910, 0xbf000010)
		all := low(t, b)
		if len(all) < 2 || all[1].Strategy != frames.Scan || all[1].PC != 0xfffff0f5 {
			t.Errorf("%d frames", len(all))
		}
	})
	t.Run("a signal's context", func(t *testing.T) {
		b, _ := i386(t)
		b.code(0x500, 0xb8, 173, 0, 0, 0, 0xcd, 0x80)
		b.words(0xffffff00, 10, 0, 0xffffffe0) // number, siginfo, ucontext at the very top
		b.at(codeAt+0x500, 0xffffff00)
		low(t, b)
	})
}

func tortureThumb(t *testing.T) {
	b := newBed(t, arch.ARM)
	c := b.cie("zR", 0x0c, 13, 0)
	b.fde(c, 0x100, 0x180)
	b.fde(c, 0x200, 0x280, 0x0e, 8, 0x8e, 1, 0x8b, 2) // r14 at c-4, r11 at c-8
	b.fde(c, 0x280, 0x300, 0x0e, 64)
	b.fde(c, 0x300, 0x380, 0x07, 14)
	b.code(0x280-4, 0x00, 0xf0, 0x00, 0xf8) // bl: the last instruction of the function, so that with its bit the address would be the next one's
	b.regs.Set(14, codeAt+0x280|1)
	b.words(b.stack+0x100, 0, b.calling(0x310)|1)
	b.at(codeAt+0x110, b.stack+0x100)
	b.want("401110 context exact\n401280 cfi table\n401310 cfi table", "undefined return address")
	if all, _ := b.frames(); all[1].LookupPC() != codeAt+0x27f {
		t.Errorf("looked up at %v", all[1].LookupPC())
	}
	// Without tables: by the frame pointer, by the search of the stack, by the link register of a call to nowhere.
	bare := func() *bed {
		b := newBed(t, arch.ARM)
		c := b.cie("zR", 0x0c, 13, 0)
		b.fde(c, 0x300, 0x380, 0x07, 14)
		b.code(0x306, 0x90, 0x47) // blx r2, two bytes
		b.words(b.stack+0x120, 0, codeAt+0x308|1)
		b.at(codeAt+0x1110, b.stack+0x100)
		return b
	}
	b = bare()
	b.regs.Set(11, b.stack+0x120)
	b.want("402110 context exact\n401308 fp heuristic", "undefined return address")
	b = bare()
	b.want("402110 context exact\n401308 scan guess", "undefined return address")
	b = bare()
	b.regs.Set(14, codeAt+0x308|1)
	b.at(0, b.stack+0x100)
	b.want("0 context exact\n401308 prologue heuristic", "undefined return address")
}

func tortureSCS(t *testing.T) {
	for a, reg := range map[*arch.Arch]arch.Reg{arch.ARM64: 18, arch.RISCV64: 3} {
		t.Run(a.Name, func(t *testing.T) {
			b := newBed(t, a)
			c := b.cie("zR", 0x0c, byte(a.SP), 0)
			b.fde(c, 0x400, 0x480, 0x07, b.ra())
			b.words(b.alt+0x100, 0, b.calling(0x410), b.calling(0x820), b.calling(0x810))
			b.regs.Set(reg, b.alt+0x120)
			b.at(codeAt+0x910, b.stack+0x100)
			b.want(`401910 context exact
				401810 scs heuristic
				401820 scs heuristic
				401410 scs heuristic`, "no strategy found a caller")
			all, _ := b.frames()
			if _, known := all[1].Regs.SP(); known || all[0].HasCFA {
				t.Error("a shadow call stack says nothing of the stack")
			}
			// What is no shadow call stack is not taken for one.
			for _, v := range []uint64{0, 8, b.alt + 0x114, b.alt + 0x5000, b.alt + 0x108} {
				b.regs.Set(reg, v)
				if all, end := b.frames(); len(all) != 1 || end.Outermost {
					t.Errorf("%x: %d frames, %+v", v, len(all), end)
				}
			}
		})
	}
	t.Run("amd64", func(t *testing.T) {
		b := newBed(t, arch.AMD64)
		b.words(b.alt, b.calling(0x410))
		b.regs.Set(18, b.alt+8)
		b.regs.Set(3, b.alt+8)
		b.at(codeAt+0x910, b.stack+0x100)
		if all, _ := b.frames(); len(all) != 1 {
			t.Errorf("%d frames", len(all))
		}
	})
}

func tortureGo(t *testing.T) {
	for _, isGo := range []bool{false, true} {
		b := newBed(t, arch.AMD64)
		// .debug_frame's CIE has no augmentation, its pointers are absolute.
		b.table.entry(0xffffffff, append([]byte{3, 0, 1, 0x78, 16}, usual...))
		fde := func(lo, hi uint64, instr ...byte) {
			body := b.address(nil, codeAt-bias+lo)
			b.table.entry(0, append(b.address(body, hi-lo), instr...))
		}
		fde(0x100, 0x180)
		fde(0x300, 0x380, 0x07, 16)
		b.m.DebugFrame = frames.Section{Data: b.table.b}
		b.table.b = nil
		c := b.cie("zR", usual...) // C's functions in the same file
		b.fde(c, 0x200, 0x280)
		b.m.Go = isGo
		b.regs.Set(arch.RBX, 0x1111)
		b.regs.Set(arch.R12, 0x1212)
		b.words(b.stack+0x100, b.calling(0x110), b.calling(0x310))
		b.at(codeAt+0x210, b.stack+0x100)
		all, end := b.frames()
		if len(all) != 3 || !end.Outermost {
			t.Fatalf("Go %v: %d frames, %+v", isGo, len(all), end)
		}
		for _, r := range []arch.Reg{arch.RBX, arch.R12} {
			if !all[1].Regs.IsKnown(r) {
				t.Errorf("Go %v: a function of C, by .eh_frame, does not preserve r%d", isGo, r)
			}
			if all[2].Regs.IsKnown(r) == isGo {
				t.Errorf("Go %v: r%d is known behind a function of Go: %v", isGo, r, !isGo)
			}
			if p, _ := all[2].Where(r); (p == frames.Nowhere) != isGo {
				t.Errorf("Go %v: r%d is in %v", isGo, r, p)
			}
		}
		if !all[2].Regs.IsKnown(arch.RSP) {
			t.Errorf("Go %v: rsp is lost", isGo)
		}
	}
}

// What TestCorrupt has found by chance: how a table or a stack that is wrong could pass for exact.
func tortureExact(t *testing.T) {
	// f is nops up to its return; g saves its frame pointer and is unwound by it; h is g's caller.
	sound := func(t *testing.T, room ...byte) *bed {
		b := newBed(t, arch.AMD64)
		b.code(0x100, 0x55)                                                           // f: push %rbp
		b.code(0x17e, 0x5d, 0xc3)                                                     // pop %rbp; ret
		b.code(0x200, append([]byte{0x55, 0x48, 0x89, 0xe5}, room...)...)             // g: push %rbp; mov %rsp,%rbp
		b.code(0x210-5, 0xe8, 0xf0, 0xfe, 0xff, 0xff, 0xc9, 0xc3)                     // call f; leave; ret
		b.code(0x310-5, 0xe8, 0xf0, 0xfe, 0xff, 0xff)                                 // call g
		b.words(b.stack+0x100, b.stack+0x120, codeAt+0x210, 0, 0, 0xb9, codeAt+0x310) // f's rbp, and g's frame above it
		b.at(codeAt+0x110, b.stack+0x100)
		return b
	}
	table := func(b *bed, f ...byte) {
		c := b.cie("zR", usual...)
		b.fde(c, 0x100, 0x180, f...)
		b.fde(c, 0x200, 0x280, 0x0c, 6, 16, 0x86, 2) // CFA=rbp+16, rbp at c-16
		b.fde(c, 0x300, 0x380, 0x07, 16)
	}
	const end = "undefined return address"
	b := sound(t, 0x48, 0x83, 0xec, 0x10) // sub $16,%rsp
	table(b, 0x0e, 16, 0x86, 2)
	b.want("401110 context exact\n401210 cfi exact\n401310 cfi exact", end)
	t.Run("the frame pointer is no second witness", func(t *testing.T) {
		b := sound(t, 0x48, 0x29, 0xc4) // sub %rax,%rsp
		table(b, 0x0e, 16, 0x86, 2)
		b.want("401110 context exact\n401210 cfi exact\n401310 cfi table", end)
		// The frame pointer that f has saved is another activation's.
		b = sound(t, 0x48, 0x83, 0xec, 0x10)
		table(b, 0x0e, 16, 0x86, 2)
		b.words(b.stack+0x100, b.stack+0x220)
		b.words(b.stack+0x220, 0xb9, codeAt+0x310)
		b.want("401110 context exact\n401210 cfi exact\n401310 cfi table", end)
	})
	t.Run("the stack pointer is not the CFA", func(t *testing.T) {
		b := sound(t, 0x48, 0x83, 0xec, 0x10)
		table(b, 0x0e, 16, 0x86, 2, 0x16, 7, 2, 0x23, 8) // rsp is CFA+8
		b.want("401110 context exact\n401210 cfi table\n401310 cfi table", end)
	})
	t.Run("the return address is elsewhere", func(t *testing.T) {
		b := sound(t, 0x48, 0x83, 0xec, 0x10)
		table(b, 0x0e, 16, 0x86, 2, 0x90, 3) // at c-24
		b.words(b.stack+0xf8, codeAt+0x210, b.stack+0x120, codeAt+0x320)
		b.want("401110 context exact\n401210 cfi table\n401310 cfi table", end)
	})
}
