package frames_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
)

func torturePLT(t *testing.T) {
	b, cie := functions(t)
	frames.Edit(b.m).PLT = []frames.Range{{Lo: codeAt - bias + 0x1000, Hi: codeAt - bias + 0x1100}}
	// What binutils writes for .plt: PLT0, then each stub's CFA is rsp+8+((rip&15)>=11)*8.
	b.fde(cie, 0x1000, 0x1100, 0x0e, 16, 0x40|6, 0x0e, 24, 0x40|10,
		0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)
	for _, s := range []struct {
		off, pushed uint64
	}{{0x1000, 1}, {0x1006, 2}, {0x1010, 0}, {0x1016, 0}, {0x101b, 1}, {0x1020, 0}, {0x102b, 1}} {
		// Below are words that look like a return address: a walk that takes the wrong word finds one of them.
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
	// A return address of 0 that a table leads to is no end: something has overwritten it.
	b, _ = functions(t)
	b.words(b.stack+0x100, 0)
	b.want("401110 context exact\n401310 scan guess", "undefined return address")
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
		second := frames.NewModule(frames.Contents{Name: "second", Lo: codeAt + 0x280, Hi: codeAt + 0x4000, Bias: bias}) // knows of nothing
		frames.Edit(b.m).Hi = codeAt + 0x280
		b.modules = append(b.modules, second)
		h := frames.NewModule(frames.Contents{Name: "h", Lo: codeAt + 0x300, Hi: codeAt + 0x380, Bias: bias})
		frames.Edit(second).Lo = codeAt + 0x280
		frames.Edit(second).Hi = codeAt + 0x300
		b.modules = append(b.modules, h)
		frames.Edit(b.m).EHFrame = frames.Section{Data: b.table.b, Addr: 0x100000}
		frames.Edit(h).EHFrame = frames.Edit(b.m).EHFrame
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
		if a := all[1].Attempts; len(a) != 1 || a[0] != (frames.Attempt{Strategy: frames.CFI, Why: "the unwind row has no rule for the return address"}) {
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
	b.pieces[0].addr, frames.Edit(b.m).Lo, frames.Edit(b.m).Hi, frames.Edit(b.m).Bias = kernel, kernel, kernel+0x4000, 0xffff800010000000
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
		b.modules[0] = frames.NewModule(frames.Contents{Name: "test", Lo: frames.Edit(b.m).Lo, Hi: frames.Edit(b.m).Hi, Bias: frames.Edit(b.m).Bias, EHFrame: frames.Edit(b.m).EHFrame})
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
		b.words(b.stack+0x100, b.calling(0x280)) // a return address at the boundary belongs to the function before it
		compiled(t, b, "401110 context exact\n401280 cfi table\n401310 cfi table")
		b.at(codeAt+0x200, b.stack+0x108) // a precise PC at the boundary belongs to the function after it
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
			b.modules[0] = frames.NewModule(frames.Contents{Name: "test", Lo: frames.Edit(b.m).Lo, Hi: frames.Edit(b.m).Hi, Bias: frames.Edit(b.m).Bias, EHFrame: frames.Edit(b.m).EHFrame})
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
