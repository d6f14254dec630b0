package frames_test

import (
	"testing"

	"dbg/arch"
	"dbg/frames"
)

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
			if a == arch.ARM64 {
				b.code(0x910, 0x5e, 0x8e, 0x5f, 0xf8, 0xc0, 0x03, 0x5f, 0xd6) // ldr x30,[x18,#-8]!; ret
			} else {
				b.code(0x910, 0x83, 0xb0, 0x81, 0xff, 0xe1, 0x11, 0x82, 0x80) // ld ra,-8(gp); addi gp,gp,-8; ret
			}
			b.want(`401910 context exact
				401810 scs heuristic
				401820 scs heuristic
				401410 scs heuristic`, "undefined return address")
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
		frames.Edit(b.m).DebugFrame = frames.Section{Data: b.table.b}
		b.table.b = nil
		c := b.cie("zR", usual...) // C's functions in the same file
		b.fde(c, 0x200, 0x280)
		frames.Edit(b.m).Go = isGo
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
