package frames_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// chain makes three functions with tables: f (0x100), g (0x200, saves rbx), main (0x300, RA undefined).
func chain(t testing.TB) *world {
	w := newWorld(t, arch.AMD64)
	c := w.table.cie(w.a, false, usual...)
	w.table.fde(c, 0x100, 0x180)
	w.table.fde(c, 0x200, 0x280, 0x0e, 24, 0x83, 2) // CFA=rsp+24, rbx at c-16
	w.table.fde(c, 0x300, 0x380, 0x07, 16)
	w.put(stackAt+0x100, w.call(0x210), 0, 0xb0b, w.call(0x310), 0)
	w.put(stackAt+0x110, 0xb0b)
	w.regs.Set(arch.RBX, 0x1111)
	w.regs.Set(arch.R12, 0x1212)
	w.regs.Set(arch.RAX, 0xaaaa)
	w.at(codeAt+0x110, stackAt+0x100)
	return w
}

func TestByTable(t *testing.T) {
	w := chain(t)
	w.want(`401110 context exact
		401210 cfi table
		401310 cfi table`, "undefined return address")

	walk := frames.New(w.a, w.fake).Walk(&w.regs)
	var all []*frames.Frame
	for f := range walk.Frames(context.Background()) {
		all = append(all, f.Clone())
	}
	f := all[2]
	if v, ok := f.Regs.Get(arch.RBX); !ok || v != 0xb0b {
		t.Errorf("rbx is %x, %v", v, ok)
	}
	if p, at := f.Where(arch.RBX); p != frames.InMemory || at != stackAt+0x110 {
		t.Errorf("rbx is in %v %v", p, at)
	}
	if p, _ := f.Where(arch.R12); p != frames.Live {
		t.Errorf("r12 is in %v", p)
	}
	if p, at := f.Where(arch.RIP); p != frames.InMemory || at != stackAt+0x118 {
		t.Errorf("rip is in %v %v", p, at)
	}
	if _, ok := f.Regs.Get(arch.RAX); ok {
		t.Error("rax, which no callee saves, is known in the caller")
	}
	if v, ok := all[0].Regs.Get(arch.RAX); !ok || v != 0xaaaa {
		t.Errorf("rax of frame 0 is %x, %v", v, ok)
	}
	if sp, _ := f.Regs.SP(); sp != stackAt+0x120 || all[1].CFA != stackAt+0x120 || f.LookupPC() != codeAt+0x30f || all[0].LookupPC() != codeAt+0x110 {
		t.Errorf("sp 0x%x, cfa %v, lookup %v", sp, all[1].CFA, f.LookupPC())
	}
	if !walk.End().Outermost || f.Module != w.m {
		t.Errorf("%+v, %v", walk.End(), f.Module)
	}
	// Again, warm and from the start.
	n := 0
	for range walk.Frames(context.Background()) {
		n++
	}
	if n != 3 {
		t.Errorf("second walk: %d frames", n)
	}
}

// A noreturn call as the last instruction: the return address is in the next function,
// or after the end of the module.
func TestNoreturnCall(t *testing.T) {
	w := chain(t)
	w.put(stackAt+0x100, w.call(0x280))
	w.want("401110 context exact\n401280 cfi table\n401310 cfi table", "undefined return address")
	w = chain(t)
	frames.Edit(w.m).Hi = codeAt + 0x280
	w.put(stackAt+0x100, w.call(0x280))
	w.want("401110 context exact\n401280 cfi table\n401310 cfi table", "no strategy found a caller")
}

// What is called exact needs two witnesses besides the table: the call before the return address
// calls this function, and its code agrees with the table. Without one of them the frame is the table's.
func TestExactNeedsTwoWitnesses(t *testing.T) {
	sound := func() *world {
		w := chain(t)
		w.code(0x17f, 0xc3)                               // f: nops up to ret
		w.code(0x27b, 0x5b, 0x48, 0x83, 0xc4, 0x08, 0xc3) // g: pop %rbx; add $8,%rsp; ret
		w.code(0x210-5, 0xe8, 0xf0, 0xfe, 0xff, 0xff)     // call f
		w.code(0x310-5, 0xe8, 0xf0, 0xfe, 0xff, 0xff)     // call g
		w.put(stackAt+0x100, w.code0(0x210), 0xb0b, 0, w.code0(0x310), 0)
		w.table.b = nil
		c := w.table.cie(w.a, false, usual...)
		w.table.fde(c, 0x100, 0x180)
		w.table.fde(c, 0x200, 0x280, 0x0e, 24, 0x83, 3) // CFA=rsp+24, rbx at c-24
		w.table.fde(c, 0x300, 0x380, 0x07, 16)
		return w
	}
	w := sound()
	w.want("401110 context exact\n401210 cfi exact\n401310 cfi exact", "undefined return address")
	for name, spoil := range map[string]func(*world){
		"the call calls something else": func(w *world) { w.code(0x210-4, 0xf1) },
		"no call":                       func(w *world) { w.code(0x210-5, 0x90) },
		"an indirect call":              func(w *world) { w.code(0x210-5, 0x90, 0x90, 0x90, 0xff, 0xd0) },
		"the code pops more":            func(w *world) { w.code(0x17e, 0x58) },
		"the code does not return":      func(w *world) { w.code(0x17f, 0x0f, 0x0b) },
	} {
		t.Run(name, func(t *testing.T) {
			w := sound()
			w.t = t
			spoil(w)
			w.want("401110 context exact\n401210 cfi table\n401310 cfi table", "undefined return address")
		})
	}
	w = sound()
	w.code(0x310-4, 0xf1) // of the second frame only
	w.want("401110 context exact\n401210 cfi exact\n401310 cfi table", "undefined return address")
}

// sigframe writes an rt_sigframe's ucontext at sp: amd64.
func (w *world) sigframe(sp uint64, regs map[arch.Reg]uint64) {
	order := []arch.Reg{arch.R8, arch.R9, arch.R10, arch.R11, arch.R12, arch.R13, arch.R14, arch.R15,
		arch.RDI, arch.RSI, arch.RBP, arch.RBX, arch.RDX, arch.RAX, arch.RCX, arch.RSP, arch.RIP, arch.RFLAGS}
	for i, r := range order {
		w.put(sp+40+uint64(8*i), regs[r])
	}
}

// restorer writes a trampoline.
func (w *world) restorer(off int) uint64 {
	w.code(off, 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05)
	return codeAt + uint64(off)
}

// TestSignalByBytes: a handler on an alternate stack above, interrupted at a function's first
// instruction, with a trampoline that no table covers but whose PC-1 is in another
// function's entry, as with musl.
func TestSignalByBytes(t *testing.T) {
	for name, base := range map[string]uint64{"same stack": stackAt + 0x40, "alternate stack, below": altAt, "alternate stack, above": stackAt + 0x2000} {
		t.Run(name, func(t *testing.T) {
			w := chain(t)
			c := w.table.cie(w.a, false, usual...)
			w.table.fde(c, 0x400, 0x500) // handler, directly before the trampoline
			r := w.restorer(0x500)
			w.put(base, r)
			w.sigframe(base+8, map[arch.Reg]uint64{arch.RIP: codeAt + 0x100, arch.RSP: stackAt + 0x100, arch.RBX: 0x77, arch.RAX: 0xaa})
			w.at(codeAt+0x410, base)
			w.want(`401410 context exact
				401500 cfi table signal
				401100 sigreturn table precise
				401210 cfi table
				401310 cfi table`, "undefined return address")
			n := 0
			for f := range frames.New(w.a, w.fake).Walk(&w.regs).Frames(context.Background()) {
				if v, ok := f.Regs.Get(arch.RAX); n == 2 && (!ok || v != 0xaa) {
					t.Errorf("rax %x, %v", v, ok)
				}
				if p, at := f.Where(arch.RBX); n == 2 && (p != frames.InMemory || at != target.Addr(base+8+40+88)) {
					t.Errorf("rbx: %v %v", p, at)
				}
				n++
			}
		})
	}
}

// TestSignalByTable: glibc's __restore_rt, whose entry begins a byte early, with a
// CFA that is read from the context.
func TestSignalByTable(t *testing.T) {
	w := chain(t)
	c := w.table.cie(w.a, true)
	w.code(0x600, 0xf4, 0xf4)                                  // not recognisable
	w.table.fde(c, 0x5ff, 0x609, 0x0f, 4, 0x77, 0xa0, 1, 0x06, // CFA = *(rsp+160)
		0x10, 16, 3, 0x77, 0xa8, 1, // RIP at rsp+168
		0x10, 3, 3, 0x77, 0x80|40+88-128, 1) // rbx
	h := w.table.cie(w.a, false, usual...)
	w.table.fde(h, 0x400, 0x480)
	w.put(altAt, codeAt+0x600)
	w.sigframe(altAt+8, map[arch.Reg]uint64{arch.RIP: codeAt + 0x100, arch.RSP: stackAt + 0x100, arch.RBX: 0x77})
	w.at(codeAt+0x410, altAt)
	w.want(`401410 context exact
		401600 cfi table signal
		401100 sigreturn table precise
		401210 cfi table
		401310 cfi table`, "undefined return address")
}

func TestSignalInSignal(t *testing.T) {
	w := chain(t)
	c := w.table.cie(w.a, false, usual...)
	w.table.fde(c, 0x400, 0x480)
	r := w.restorer(0x500)
	w.put(altAt+0x1000, r)
	w.sigframe(altAt+0x1008, map[arch.Reg]uint64{arch.RIP: codeAt + 0x410, arch.RSP: altAt})
	w.put(altAt, r)
	w.sigframe(altAt+8, map[arch.Reg]uint64{arch.RIP: codeAt + 0x110, arch.RSP: stackAt + 0x100})
	w.at(codeAt+0x410, altAt+0x1000)
	w.want(`401410 context exact
		401500 cfi table signal
		401410 sigreturn table precise
		401500 cfi table signal
		401110 sigreturn table precise
		401210 cfi table
		401310 cfi table`, "undefined return address")
	// Stopped in the trampoline itself.
	w.at(codeAt+0x507, altAt+8)
	w.want(`401507 context exact signal
		401110 sigreturn table precise
		401210 cfi table
		401310 cfi table`, "undefined return address")
}

func TestSignalCycle(t *testing.T) {
	w := chain(t)
	c := w.table.cie(w.a, false, usual...)
	w.table.fde(c, 0x400, 0x480)
	w.put(altAt, w.restorer(0x500))
	w.sigframe(altAt+8, map[arch.Reg]uint64{arch.RIP: codeAt + 0x410, arch.RSP: altAt}) // itself
	w.at(codeAt+0x410, altAt)
	_, end := w.walk()
	if end.Reason != frames.NotMoved {
		t.Errorf("%+v", end)
	}
}

func TestNullCall(t *testing.T) {
	for _, pc := range []uint64{0, 0x123456789} {
		w := chain(t)
		w.at(pc, stackAt+0x100)
		got, end := w.walk()
		if !strings.HasSuffix(got, "401210 prologue heuristic\n401310 cfi heuristic") || end.Reason != frames.UndefinedReturnAddress {
			t.Errorf("%x:\n%s\n%+v", pc, got, end)
		}
	}
	// The null call that raised a signal.
	w := chain(t)
	c := w.table.cie(w.a, false, usual...)
	w.table.fde(c, 0x400, 0x480)
	w.put(altAt, w.restorer(0x500))
	w.sigframe(altAt+8, map[arch.Reg]uint64{arch.RIP: 0, arch.RSP: stackAt + 0x100})
	w.at(codeAt+0x410, altAt)
	w.want(`401410 context exact
		401500 cfi table signal
		0 sigreturn table precise
		401210 prologue heuristic
		401310 cfi heuristic`, "undefined return address")
}

func TestPLT(t *testing.T) {
	w := chain(t)
	frames.Edit(w.m).PLT = []frames.Range{{Lo: codeAt - bias + 0x1000, Hi: codeAt - bias + 0x1100}}
	stubs := []struct {
		off    int
		code   []byte
		pushed uint64
	}{
		{0x1000, []byte{0xff, 0x35, 1, 2, 3, 4}, 1},
		{0x1006, []byte{0xff, 0x25, 1, 2, 3, 4}, 2},
		{0x1010, []byte{0xff, 0x25, 1, 2, 3, 4}, 0},
		{0x1016, []byte{0x68, 1, 0, 0, 0}, 0},
		{0x101b, []byte{0xe9, 1, 2, 3, 4}, 1},
		{0x1020, []byte{0xf3, 0x0f, 0x1e, 0xfa}, 0},
		{0x1024, []byte{0xf2, 0xff, 0x25, 1, 2, 3, 4}, 0},
		{0x1030, []byte{0xf2, 0xe9, 1, 2, 3, 4}, 1},
	}
	for _, s := range stubs {
		w.code(s.off, s.code...)
	}
	for _, s := range stubs {
		w.at(codeAt+uint64(s.off), stackAt+0x100-8*s.pushed)
		got, end := w.walk()
		if !strings.HasSuffix(got, "401210 plt heuristic\n401310 cfi heuristic") {
			t.Errorf("%x:\n%s\n%+v", s.off, got, end)
		}
	}
}

func TestPrologue(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   []byte
		at     uint64
		pushed uint64
	}{
		{"push", []byte{0x55, 0x48, 0x89, 0xe5}, 0, 0},
		{"endbr64", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55}, 0, 0},
		{"after push", []byte{0x55, 0x48, 0x89, 0xe5}, 1, 1},
		{"ret", []byte{0xc3}, 0, 0},
		{"pop; ret", []byte{0x5d, 0xc3}, 0, 1},
	} {
		w := chain(t)
		w.code(0x2000, c.code...)
		w.put(stackAt+0xf8, 0x5555)
		w.at(codeAt+0x2000+c.at, stackAt+0x100-8*c.pushed)
		got, end := w.walk()
		if !strings.HasSuffix(got, "401210 prologue heuristic\n401310 cfi heuristic") {
			t.Errorf("%s:\n%s\n%+v", c.name, got, end)
		}
	}
}

// framePointers makes a chain of frame pointers in code without tables, that ends in chain's g.
func framePointers(t testing.TB) *world {
	w := chain(t)
	w.put(stackAt+0x40, stackAt+0x60, w.call(0x2010))
	w.put(stackAt+0x60, stackAt+0x80, w.call(0x2020))
	w.put(stackAt+0x80, 0, codeAt+0x210) // main's g, at stackAt+0x90
	w.put(stackAt+0x90, 0, 0xb0b, codeAt+0x310)
	w.regs.Set(arch.RBP, stackAt+0x40)
	w.at(codeAt+0x2000, stackAt+0x20)
	return w
}

func TestFramePointers(t *testing.T) {
	w := framePointers(t)
	w.want(`403000 context exact
		403010 fp heuristic
		403020 fp heuristic
		401210 fp heuristic
		401310 cfi heuristic`, "undefined return address")
	walk := frames.New(w.a, w.fake).Walk(&w.regs)
	for f := range walk.Frames(context.Background()) {
		if f.Index == 1 && (len(f.Attempts) != 3 || f.Attempts[0].Strategy != frames.CFI || f.Attempts[1].Strategy != frames.Prologue) {
			t.Errorf("attempts %+v", f.Attempts)
		}
		if _, known := f.Regs.Get(arch.RBX); known != (f.Index == 0 || f.Index == 4) {
			t.Errorf("frame %d: rbx known: %v", f.Index, known)
		}
	}
}

// Corrupt chains: what is wrong is said, and the search of the stack takes over.
func TestCorruptFramePointers(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(w *world)
		why  string
	}{
		{"to itself", func(w *world) { w.put(stackAt+0x40, stackAt+0x40) }, "the saved frame pointer does not go up"},
		{"down", func(w *world) { w.put(stackAt+0x40, stackAt+0x20) }, "the saved frame pointer does not go up"},
		{"below sp", func(w *world) { w.regs.Set(arch.RBP, stackAt+0x10) }, "the frame pointer is below the stack pointer"},
		{"unaligned", func(w *world) { w.regs.Set(arch.RBP, stackAt+0x41) }, "the frame pointer is not aligned"},
		{"far", func(w *world) { w.regs.Set(arch.RBP, stackAt+1<<30) }, "the frame pointer is too far from the stack pointer"},
		{"zero", func(w *world) { w.regs.Set(arch.RBP, 0) }, "the frame pointer is 0"},
		{"unknown", func(w *world) { w.regs.Forget(arch.RBP) }, "the frame pointer is not known"},
		{"no code", func(w *world) { w.put(stackAt+0x48, 0x1234) }, "the return address 0x1234 is not in executable memory"},
		{"no call", func(w *world) { w.put(stackAt+0x48, codeAt+0x2100) }, "the return address 0x403100 does not follow a call"},
		{"unreadable", func(w *world) { w.regs.Set(arch.RBP, stackAt+0x4000) }, "cannot read memory at 0x7ff000004000: not mapped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := framePointers(t)
			c.do(w)
			frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
			for f := range frames.New(w.a, w.fake).Walk(&w.regs).Frames(context.Background()) {
				if f.Index != 1 {
					continue
				}
				if f.Strategy != frames.Scan || f.Trust != frames.Guess {
					t.Errorf("found by %v, %v", f.Strategy, f.Trust)
				}
				if last := f.Attempts[len(f.Attempts)-1]; last.Strategy != frames.FP || last.Why != c.why {
					t.Errorf("got %+v, want %q", last, c.why)
				}
			}
		})
	}
}

func TestScan(t *testing.T) {
	w := chain(t)
	w.at(codeAt+0x2000, stackAt+0x20)
	w.put(stackAt+0x80, codeAt+0x2100) // code, but no call before it
	w.put(stackAt+0x88, codeAt+0x210)
	w.put(stackAt+0x90, 0, 0xb0b, codeAt+0x310)
	w.want(`403000 context exact
		401210 scan guess
		401310 cfi guess`, "undefined return address")
}

func TestEnds(t *testing.T) {
	t.Run("entry point without table", func(t *testing.T) {
		w := chain(t)
		frames.Edit(w.m).Entry = codeAt - bias + 0x800
		w.put(stackAt+0x118, w.call(0x820))
		w.want("401110 context exact\n401210 cfi table\n401820 cfi table", "entry point")
	})
	t.Run("return address 0", func(t *testing.T) {
		w := chain(t)
		w.put(stackAt+0x118, 0)
		w.want("401110 context exact\n401210 cfi table", "return address at 0x7ff000000118 is zero")
	})
	t.Run("memory unreadable", func(t *testing.T) {
		w := chain(t)
		w.at(codeAt+0x110, 0x10)
		w.want("401110 context exact", "memory unreadable at 0x10")
	})
	t.Run("nothing", func(t *testing.T) {
		w := chain(t)
		w.at(codeAt+0x2000, stackAt+0x200)
		w.want("403000 context exact", "no strategy found a caller")
	})
	t.Run("the CFA does not move", func(t *testing.T) {
		w := chain(t)
		c := w.table.cie(w.a, false, 0x0c, 7, 0, 0x90, 0x7f) // CFA=rsp
		w.table.fde(c, 0x700, 0x780, 0x90, 0)
		w.code(0x710-2, 0xff, 0xd0) // call *%rax: nobody knows what it calls
		w.at(codeAt+0x710, stackAt+0x300)
		w.put(stackAt+0x300, 0)
		w.put(stackAt+0x300, codeAt+0x710)
		frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
		u := frames.New(w.a, w.fake)
		for f := range u.Walk(&w.regs).Frames(context.Background()) {
			if f.Index == 1 && (f.Strategy != frames.Scan || f.Attempts[0] != frames.Attempt{Strategy: frames.CFI, Why: "the frame did not move"}) {
				t.Errorf("%v %+v", f.Strategy, f.Attempts)
			}
		}
		w.pieces[1].data = w.pieces[1].data[:0x308] // nothing to be found by searching
		w.put(stackAt+0x300, codeAt+0x2100)
		_, end := show(t, u.Walk(&w.regs))
		if end.Reason != frames.NotMoved {
			t.Errorf("%+v", end)
		}
	})
	t.Run("depth limit", func(t *testing.T) {
		w := chain(t)
		frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
		u := frames.New(w.a, w.fake)
		u.DepthLimit = 2
		got, end := show(t, u.Walk(&w.regs))
		if strings.Count(got, "\n") != 1 || end.Reason != frames.DepthLimit {
			t.Errorf("%s %+v", got, end)
		}
	})
	t.Run("no registers", func(t *testing.T) {
		w := chain(t)
		w.regs = arch.Registers{}
		w.want("", "no strategy found a caller")
	})
}

// TestMillionFrames: honest recursion with the smallest frames, constant memory, no
// allocation for a frame, few reads.
func TestMillionFrames(t *testing.T) {
	const n = 1_000_000
	w := deep(t, n)
	u := frames.New(w.a, w.fake)
	count := func() int {
		frames := 0
		for range u.Walk(&w.regs).Frames(context.Background()) {
			frames++
		}
		return frames
	}
	if got := count(); got != n+2 {
		t.Fatalf("%d frames", got)
	}
	w.reads = 0
	if a := testing.AllocsPerRun(1, func() { count() }); a > 20 {
		t.Errorf("%v allocations", a)
	}
	if limit := 2 * (n*16/(64<<10) + 20); w.reads > limit {
		t.Errorf("%d reads, want at most %d", w.reads, limit)
	}
}

// deep makes n frames of a recursive function.
func deep(t testing.TB, n int) *world {
	w := newWorld(t, arch.AMD64)
	c := w.table.cie(w.a, false, usual...)
	w.table.fde(c, 0x100, 0x180, 0x0e, 16, 0x86, 2) // CFA=rsp+16, rbp at c-16
	w.table.fde(c, 0x300, 0x380, 0x07, 16)
	stack := make([]byte, 16*n+0x100)
	for i := range n {
		binary.LittleEndian.PutUint64(stack[16*i:], uint64(i))
		binary.LittleEndian.PutUint64(stack[16*i+8:], codeAt+0x110)
	}
	binary.LittleEndian.PutUint64(stack[16*n+8:], codeAt+0x310)
	w.call(0x110)
	w.call(0x310)
	w.pieces[1].data = stack
	w.at(codeAt+0x110, stackAt)
	frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
	return w
}

// BenchmarkFrame is the cost of a warm frame.
func BenchmarkFrame(b *testing.B) {
	w := deep(b, 10_000)
	u := frames.New(w.a, w.fake)
	walk := u.Walk(&w.regs)
	b.ReportAllocs()
	n := 0
	for n < b.N {
		for range walk.Frames(context.Background()) {
			n++
		}
	}
}

// mixed is a stack of n frames of forty functions, which save none to six of the callee-saved registers, and of 280
// places in them.
func mixed(t testing.TB, n int) *world {
	w := newWorld(t, arch.AMD64)
	c := w.table.cie(w.a, false, usual...)
	size := make([]int, 40)
	for i := range size {
		saved := []byte{3, 6, 12, 13, 14, 15}[:i%7]
		size[i] = 8 * (2 + len(saved) + i%5)
		rules := []byte{0x0e, byte(size[i])}
		for j, r := range saved {
			rules = append(rules, 0x80|r, byte(2+j))
		}
		w.table.fde(c, uint64(0x100+64*i), uint64(0x100+64*i+64), rules...)
	}
	w.table.fde(c, 0x3000, 0x3080, 0x07, 16)
	rnd := rand.New(rand.NewPCG(1, 2))
	fn := 0
	stack := make([]byte, 0, 64<<10)
	for i := range n {
		frame := make([]byte, size[fn])
		fn = rnd.IntN(len(size))
		ra := w.call(0x100 + 64*fn + 8*(1+rnd.IntN(7)))
		if i == n-1 {
			ra = w.call(0x3010)
		}
		binary.LittleEndian.PutUint64(frame[len(frame)-8:], ra)
		stack = append(stack, frame...)
	}
	w.pieces[1].data = stack[:cap(stack)]
	w.at(codeAt+0x120, stackAt)
	for _, r := range arch.AMD64.CalleeSaved {
		w.regs.Set(r, 1)
	}
	w.regs.Set(arch.RSP, stackAt)
	frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
	return w
}

// BenchmarkLookupApply is the look-up of the rules and their application alone, for PCs that have been seen before: SP, FP, RA
// and all callee-saved registers of 108 frames.
func BenchmarkLookupApply(b *testing.B) {
	w := mixed(b, 108)
	walk := frames.New(w.a, w.fake).Walk(&w.regs)
	pcs := make([]target.Addr, 200)
	if n := walk.Follow(pcs); n != 108 {
		b.Fatal(n)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		n += walk.Follow(pcs)
	}
}

// BenchmarkTrace is the cost of a frame of which nothing but the PC is wanted, with the reading of the stack, in the same stack.
func BenchmarkTrace(b *testing.B) {
	w := mixed(b, 108)
	walk := frames.New(w.a, settledSpace{w.fake}).Walk(&w.regs)
	pcs := make([]target.Addr, 200)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		n += walk.Trace(pcs)
	}
}

// BenchmarkMixed is the cost of a whole, judged frame in the same stack.
func BenchmarkMixed(b *testing.B) {
	w := mixed(b, 108)
	u := frames.New(w.a, w.fake)
	u.Prove = false
	walk := u.Walk(&w.regs)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		for range walk.Frames(context.Background()) {
			n++
		}
	}
}

// BenchmarkCold is the cost of a frame when nothing is known: a new Unwinder for ten frames.
func BenchmarkCold(b *testing.B) {
	w := deep(b, 9)
	for n := 0; n < b.N; {
		frames.Edit(w.m).Entry = 0
		for range frames.New(w.a, w.fake).Walk(&w.regs).Frames(context.Background()) {
			n++
		}
	}
}

func TestLinkRegister(t *testing.T) {
	w := newWorld(t, arch.ARM64)
	a := arch.ARM64
	w.code(0, make([]byte, 0x4000)...)
	c := w.table.cie(a, false, 0x0c, 31, 0)
	w.table.fde(c, 0x100, 0x180)                             // a leaf: nothing saved
	w.table.fde(c, 0x200, 0x280, 0x0e, 16, 0x9d, 2, 0x9e, 1) // x29 at c-16, x30 at c-8
	w.table.fde(c, 0x300, 0x380, 0x07, 30)
	w.table.fde(c, 0x400, 0x480)
	w.regs.Set(30, w.call(0x210)|0x002a<<48) // signed
	w.put(stackAt+0x108, w.call(0x310)|0x1234<<48)
	w.at(codeAt+0x110, stackAt+0x100)
	w.want("401110 context exact\n401210 cfi table\n401310 cfi table", "undefined return address")

	// A handler on top of it, by bytes.
	w.code(0x500, 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4)
	for i := range uint64(34) {
		v := uint64(0)
		switch i {
		case 30:
			v = codeAt + 0x210
		case 31:
			v = stackAt + 0x100
		case 32:
			v = codeAt + 0x100
		}
		w.put(altAt+128+176+8+8*i, v)
	}
	w.regs.Set(30, codeAt+0x500)
	w.at(codeAt+0x410, altAt)
	w.want(`401410 context exact
		401500 cfi table signal
		401100 sigreturn table precise
		401210 cfi table
		401310 cfi table`, "undefined return address")
}

// FuzzWalk walks hostile stacks and registers; the walk must end and say why.
func FuzzWalk(f *testing.F) {
	w := chain(f)
	f.Add(w.pieces[1].data[:0x200], w.table.b, uint64(codeAt+0x110), uint64(stackAt+0x100), uint64(stackAt+0x40), byte(0))
	w = framePointers(f)
	f.Add(w.pieces[1].data[:0x200], w.table.b, uint64(codeAt+0x2000), uint64(stackAt+0x20), uint64(stackAt+0x40), byte(0))
	f.Add(w.pieces[1].data[:0x200], w.table.b, uint64(codeAt+0x500), uint64(stackAt), uint64(0), byte(2))
	f.Fuzz(func(t *testing.T, stack, table []byte, pc, sp, fp uint64, which byte) {
		a := arch.All()[int(which)%5]
		w := newWorld(t, a)
		w.call(0x110)
		w.call(0x210)
		w.restorer(0x500)
		w.pieces[1].data = stack
		w.regs.Set(a.FP, fp)
		w.at(pc, sp)
		frames.Edit(w.m).EHFrame = frames.Section{Data: table, Addr: 0x100000}
		frames.Edit(w.m).Entry = 0x1800
		u := frames.New(a, w.fake)
		u.DepthLimit = 5000
		walk := u.Walk(&w.regs)
		for range walk.Frames(context.Background()) {
		}
		if walk.End().Reason == frames.NotEnded {
			t.Error("no reason")
		}
	})
}

func TestContextIsHeeded(t *testing.T) {
	w := chain(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	walk := frames.New(w.a, w.fake).Walk(&w.regs)
	for f, err := range walk.Frames(ctx) {
		if err == nil || f != nil {
			t.Errorf("%v, %v", f, err)
		}
	}
	if end := walk.End(); end.Reason != frames.Failed || !errors.Is(end.Err, context.Canceled) {
		t.Errorf("%+v", walk.End())
	}
}

// A search skips code without reading it: after it, a register may have any value, the frame pointer too, even if it points
// up the stack. If it leads to an address after a call, it is trusted for that reason.
func TestSearchKeepsNoRegister(t *testing.T) {
	w := chain(t)
	c := w.table.cie(w.a, false, usual...)
	w.table.fde(c, 0x400, 0x480, 0x0e, 16, 0x86, 2, 0x0d, 6) // CFA=rbp+16, rbp at c-16
	w.at(codeAt+0x2000, stackAt+0x20)
	w.put(stackAt+0x80, w.call(0x410))
	w.put(stackAt+0xc0, 0xbbb, w.call(0x310))
	w.regs.Set(arch.RBP, stackAt+0xc0)
	w.want("403000 context exact\n401410 scan guess\n401310 cfi guess", "undefined return address")
	for f := range frames.New(w.a, w.fake).Walk(&w.regs).Frames(context.Background()) {
		switch v, known := f.Regs.Get(arch.RBP); {
		case f.Index == 1 && known:
			t.Errorf("behind a search rbp is said to be %x", v)
		case f.Index == 2 && (!known || v != 0xbbb || f.RegisterTrust(arch.RBP) != frames.Guess):
			t.Errorf("rbp is %x, %v, %v", v, known, f.RegisterTrust(arch.RBP))
		}
	}
	w.put(stackAt+0xc8, codeAt+0x2100) // follows no call
	w.put(stackAt+0x100, 0, 0, 0, 0)
	w.regs.Set(arch.RBP, stackAt+0xc0)
	w.want("403000 context exact\n401410 scan guess", "no strategy found a caller")
}
