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
	if len(all) != 1 || end.Reason != frames.NotMoved {
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
			if end.Reason != frames.NotMoved || len(all) < 2*n || len(all) > 4*n+2 {
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
		frames.Edit(b.m).EHFrame = frames.Section{Data: b.table.b, Addr: 0x100000}
		u := frames.New(b.a, b.fake)
		u.DepthLimit = 10_000
		w := u.Walk(&b.regs)
		n := 0
		for range w.Frames(context.Background()) {
			n++
		}
		if n > 10_000 || w.End().Reason != frames.DepthLimit {
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
			frames.Edit(b.m).Lo, frames.Edit(b.m).Hi, frames.Edit(b.m).Bias = target.Addr(c.code), target.Addr(c.code+0x4000), c.bias
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
		if strings.Contains(got, "\n") || end.Reason != frames.NotMoved {
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
		if end.Reason == frames.NotEnded {
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
