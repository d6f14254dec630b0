package frames_test

import (
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
)

// zeroed is functions of which f has zero where its table has the return address.
func zeroed(t testing.TB) *world {
	w := chain(t)
	w.put(stackAt+0x100, 0, 0, 0, 0)
	w.put(stackAt+0x118, 0)
	return w
}

// A return address of zero is no end. What can be found otherwise is, and if nothing can be, the end says what was zero.
func TestZeroReturnAddress(t *testing.T) {
	const atF = "return address at 0x7ff000000100 is zero"
	t.Run("nothing helps", func(t *testing.T) {
		w := zeroed(t)
		w.want("401110 context exact", atF)
		walk := frames.New(w.a, w.fake).Walk(&w.regs)
		for range walk.Frames(t.Context()) {
		}
		e := walk.End()
		if e.Outermost || len(e.Attempts) == 0 || e.Attempts[0] != (frames.Attempt{Strategy: frames.CFI, Why: "the " + atF}) {
			t.Errorf("%+v", e)
		}
	})
	t.Run("the frame pointer", func(t *testing.T) {
		w := zeroed(t)
		w.regs.Set(arch.RBP, stackAt+0x180)
		w.put(stackAt+0x180, 0, codeAt+0x210, 0, 0xb0b, codeAt+0x310)
		w.want("401110 context exact\n401210 fp heuristic\n401310 cfi heuristic", "undefined return address")
	})
	t.Run("the search", func(t *testing.T) {
		w := zeroed(t)
		w.put(stackAt+0x188, codeAt+0x210, 0, 0xb0b, codeAt+0x310)
		w.want("401110 context exact\n401210 scan guess\n401310 cfi guess", "undefined return address")
	})
	t.Run("the caller's", func(t *testing.T) {
		w := zeroed(t)
		w.put(stackAt+0x100, codeAt+0x210)
		w.want("401110 context exact\n401210 cfi table", "return address at 0x7ff000000118 is zero")
	})
	// f has moved the stack pointer by an instruction that its table does not know of (inline asm).
	t.Run("the code", func(t *testing.T) {
		for name, by := range map[string][]byte{
			"subq $128": {0x48, 0x81, 0xec, 0x80, 0, 0, 0},
			"addq -128": {0x48, 0x83, 0xc4, 0x80},
			"pushes":    {0x50, 0x50},
		} {
			w := zeroed(t)
			w.t = t
			w.code(0x100, by...)
			size := uint64(0x80)
			if name == "pushes" {
				size = 16
			}
			w.put(stackAt+0x100+size, codeAt+0x210, 0, 0xb0b, codeAt+0x310)
			w.want("401110 context exact\n401210 prologue heuristic\n401310 cfi heuristic", "undefined return address")
		}
	})
	// The entry of a part that was split off begins with a frame: its start is no function's.
	t.Run("a cold part", func(t *testing.T) {
		for name, first := range map[string][]byte{
			"offset": {0x0e, 24}, "register": {0x0d, 6}, "saved": {0x83, 2}, "return address": {0x90, 2},
		} {
			w := zeroed(t)
			w.t = t
			w.table.b = nil
			c := w.table.cie(w.a, false, usual...)
			// From 0x108 on as before.
			w.table.fde(c, 0x100, 0x180, append(append([]byte{}, first...), 0x48, 0x0c, 7, 8, 0xc3, 0x90, 1)...)
			w.table.fde(c, 0x200, 0x280, 0x0e, 24, 0x83, 2)
			w.table.fde(c, 0x300, 0x380, 0x07, 16)
			w.code(0x100, 0x50, 0x50)
			w.put(stackAt+0x110, codeAt+0x210, 0, 0xb0b, codeAt+0x310)
			got, _ := w.walk()
			if want := "401110 context exact\n401210 scan guess\n401310 cfi guess"; got != want {
				t.Errorf("%s:\n%s", name, got)
			}
		}
	})
	// A function that nobody has called from: makecontext has made its frame.
	t.Run("by hand", func(t *testing.T) {
		w := zeroed(t)
		c := w.table.cie(w.a, false, usual...)
		w.table.fde(c, 0x500, 0x580)
		w.put(stackAt+0x100, codeAt+0x500, 0)
		w.want("401110 context exact\n401500 cfi table", "entry point")
		w.call(0x500)
		w.want("401110 context exact\n401500 cfi table", "no strategy found a caller")
	})
	t.Run("the entry point", func(t *testing.T) {
		w := zeroed(t)
		frames.Edit(w.m).Entry = codeAt - bias + 0x100
		w.want("401110 context exact", "entry point")
	})
	t.Run("by the link register", func(t *testing.T) {
		b := newBed(t, arch.ARM64)
		c := b.cie("zR", 0x0c, 31, 0)
		b.fde(c, 0x100, 0x180)
		b.regs.Set(30, 0)
		b.at(codeAt+0x110, b.stack+0x100)
		b.want("401110 context exact", "return address in x30 is zero")
	})
	t.Run("32 bits", func(t *testing.T) {
		b := newBed(t, arch.I386)
		c := b.cie("zR", 0x0c, 4, 4, 0x88, 1)
		b.fde(c, 0x100, 0x180)
		b.at(codeAt+0x110, b.stack+0x100)
		b.want("401110 context exact", "return address at 0xbf000100 is zero")
	})
}

// The functions that begin a thread are known by their names.
func TestZeroReturnAddressOfThread(t *testing.T) {
	fixture.Need(t, "gcc")
	f, err := image.Open(fixture.Build(t, "torture/threadstart.s", "cc=gcc", "-nostdlib", "-static", "-Wl,-e,work"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range map[string]string{
		"__start_thread": "entry point", "thread_start": "entry point", "work": "return address at 0x7ff000000118 is zero",
	} {
		m := frames.ModuleOf(f, nil)
		frames.Edit(m).Entry = 0
		frames.Edit(m).Lo, frames.Edit(m).Hi = 0, 1<<32
		space := &fake{modules: []*frames.Module{m}, pieces: []piece{{stackAt, make([]byte, 0x1000), false}}}
		for _, c := range frames.Edit(m).Code {
			space.pieces = append(space.pieces, piece{target.Addr(c.Addr), c.Data, true})
		}
		regs := arch.Registers{Arch: arch.AMD64}
		for _, s := range f.Symbols() {
			if s.Name == name {
				regs.Set(arch.RIP, uint64(s.Addr)+6) // before add
			}
		}
		regs.Set(arch.RSP, stackAt+0x100)
		got, end := show(t, frames.New(arch.AMD64, space).Walk(&regs))
		if end.Message() != want || end.Outermost != (want == "entry point") {
			t.Errorf("%s: %s\n%+v", name, got, end)
		}
	}
}
