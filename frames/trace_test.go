package frames_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/target"
)

// traced holds Trace against Frames of the same walk: the same places, and in the end the same registers and the same reason. It is
// asked with more room than there are frames, with as much, and with less.
func traced(t testing.TB, walk *frames.Walk) {
	t.Helper()
	tracedAs(t, walk, walk)
}

// tracedAs is traced with the frames of another walk of the same stack.
func tracedAs(t testing.TB, truth, walk *frames.Walk) {
	t.Helper()
	var want []target.Addr
	var regs []arch.Registers
	for f := range truth.Frames(context.Background()) {
		want, regs = append(want, f.LookupPC()), append(regs, f.Regs)
	}
	end := fmt.Sprintf("%+v", truth.End())
	pcs := make([]target.Addr, len(want)+3)
	n := len(want)
	for _, room := range []int{n + 3, n, n - 1, n / 2, 3, 2, 1, 0} {
		if room < 0 || room > n+3 {
			continue
		}
		clear(pcs)
		if got := walk.Trace(pcs[:room]); got != min(n, room) {
			t.Errorf("%d of %d frames, of %d asked: %+v", got, n, room, walk.End())
			return
		}
		for i := range min(n, room) {
			if pcs[i] != want[i] {
				t.Errorf("frame %d is at %v, not at %v, of %d asked", i, want[i], pcs[i], room)
				return
			}
		}
		if room > n {
			if got := fmt.Sprintf("%+v", walk.End()); got != end {
				t.Errorf("end %s, not %s", got, end)
			}
		}
		if last := min(n, room) - 1; last >= 0 {
			if diff := differ(walk.Now(), &regs[last]); diff != "" {
				t.Errorf("frame %d of %d: %s", last, room, diff)
			}
		}
	}
}

// differ names a register in which two frames differ.
func differ(a, b *arch.Registers) string {
	for r := range arch.Reg(arch.MaxRegs) {
		va, ka := a.Get(r)
		vb, kb := b.Get(r)
		if va != vb || ka != kb {
			return fmt.Sprintf("register %d is 0x%x/%v, not 0x%x/%v", r, va, ka, vb, kb)
		}
	}
	return ""
}

// TestTrace holds Trace against Frames on a stack of many functions, cold and warm, with places that are known to stay and that
// are not, where the stack ends, where it points back, and where it returns to no call.
func TestTrace(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"sound":        func(*world) {},
		"ends":         func(w *world) { w.pieces[1].data = w.pieces[1].data[:len(w.pieces[1].data)/2&^7] },
		"no call":      func(w *world) { w.code(0x148-5, 0x90, 0x90, 0x90, 0x90, 0x90) },
		"data":         func(w *world) { w.put(stackAt+0x2000, slices.Repeat([]uint64{stackAt}, 64)...) },
		"signed":       func(*world) {},
		"depth limit":  func(*world) {},
		"no rbp":       func(w *world) { w.regs.Forget(arch.RBP) },
		"no registers": func(w *world) { w.regs.Keep(arch.SetOf(arch.RIP, arch.RSP)) },
		"no sp":        func(w *world) { w.regs.Forget(arch.RSP) },
		"no pc":        func(w *world) { w.regs.Forget(arch.RIP) },
		"pc anywhere":  func(w *world) { w.at(stackAt, stackAt) },
	} {
		t.Run(name, func(t *testing.T) {
			w := mixed(t, 500)
			change(w)
			for _, space := range []frames.Space{w.fake, settledSpace{w.fake}} {
				u := frames.New(w.a, space)
				switch name {
				case "depth limit":
					u.DepthLimit = 300
				case "signed":
					u.CodeBits = 48
				}
				walk := u.Walk(&w.regs)
				traced(t, walk)
				traced(t, walk)
				walk.Record = true
				traced(t, walk)
				// The same code with another stack: what was met at a place the last time is not what is met now.
				rnd := rand.New(rand.NewPCG(3, 4))
				other := u.Walk(&w.regs)
				for range 20 {
					regs := w.regs
					sp, _ := regs.SP()
					regs.Set(w.a.SP, sp+8*rnd.Uint64N(500))
					other.Restart(&regs)
					traced(t, other)
				}
			}
		})
	}
}

// TestTraceDoubts: what was met at a place before is not followed where Frames would not go there now.
func TestTraceDoubts(t *testing.T) {
	t.Run("limit", func(t *testing.T) {
		w := deep(t, 500)
		u := frames.New(w.a, settledSpace{w.fake})
		u.DepthLimit = 100
		traced(t, u.Walk(&w.regs))
	})
	t.Run("strategies", func(t *testing.T) {
		w := deep(t, 500)
		u := frames.New(w.a, settledSpace{w.fake})
		traced(t, u.Walk(&w.regs))
		u.Use = frames.AllStrategies &^ frames.SetOf(frames.CFI)
		traced(t, u.Walk(&w.regs))
	})
	// At 0x110 a function that loses rbp, at 0x190 one with frames of two words, at 0x210 one with rbp as its base.
	based := func(t *testing.T) (*world, *frames.Walk) {
		w := newWorld(t, arch.AMD64)
		c := w.table.cie(w.a, false, usual...)
		w.table.fde(c, 0x100, 0x180, 0x07, 6)
		w.table.fde(c, 0x180, 0x1c0, 0x0e, 16)
		w.table.fde(c, 0x200, 0x280, 0x0c, 6, 0x20) // CFA=rbp+32
		w.table.fde(c, 0x300, 0x380, 0x07, 16)
		w.put(stackAt+0x138, w.call(0x310)) // of rbp=stackAt+0x120
		frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
		w.regs.Set(arch.RBP, stackAt+0x120)
		return w, frames.New(w.a, settledSpace{w.fake}).Walk(&w.regs)
	}
	from := func(w *world, walk *frames.Walk, off, sp uint64) {
		t.Helper()
		w.at(codeAt+off, stackAt+sp)
		walk.Restart(&w.regs)
		traced(w.t, walk)
	}
	t.Run("the base of the CFA is not known", func(t *testing.T) {
		w, walk := based(t)
		w.put(stackAt+0x100, w.call(0x110), w.call(0x210), w.call(0x210))
		from(w, walk, 0x190, 0x108) // to 0x210 with rbp
		from(w, walk, 0x120, 0x108) // without
		from(w, walk, 0x120, 0x100) // after two frames
	})
	t.Run("the stack pointer falls", func(t *testing.T) {
		w, walk := based(t)
		for sp := uint64(stackAt + 0x80); sp < stackAt+0x100; sp += 16 {
			w.put(sp, w.call(0x310), w.call(0x190))
		}
		w.put(stackAt+0x100, 0, w.call(0x210))
		from(w, walk, 0x1a0, 0x100)
		from(w, walk, 0x1a0, 0x80)
		w.regs.Set(arch.RBP, stackAt+0xa8) // the CFA of 0x210's frame is in the middle of what was passed
		from(w, walk, 0x1a0, 0x80)
		w.regs.Set(arch.RBP, stackAt+0x48) // and below of all
		from(w, walk, 0x1a0, 0x80)
	})
	t.Run("a large frame", func(t *testing.T) {
		w := newWorld(t, arch.AMD64)
		c := w.table.cie(w.a, false, usual...)
		w.table.fde(c, 0x100, 0x180, 0x0e, 0xb0, 0x03, 0x83, 50) // CFA=rsp+432, rbx at c-400: the return address in word 49 of what is read
		w.table.fde(c, 0x300, 0x380, 0x07, 16)
		frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
		again, end := w.call(0x110), w.call(0x310)
		const size = 432
		frame := func(i int, ra, at49 uint64) {
			binary.LittleEndian.PutUint64(w.pieces[1].data[i*size+32+49:], at49)
			w.put(stackAt+uint64(i+1)*size-8, ra)
		}
		walk := frames.New(w.a, settledSpace{w.fake}).Walk(&w.regs)
		for _, last := range []int{5, 3} {
			for i := range last {
				frame(i, again, again)
			}
			frame(last, end, again)
			from(w, walk, 0x120, 0)
		}
	})
	// Functions at 0x110 and 0x210 that return to each other; the second also to places of a second piece of code.
	returning := func(t *testing.T) (w *world, returns func(to ...uint64)) {
		w = newWorld(t, arch.AMD64)
		c := w.table.cie(w.a, false, usual...)
		w.table.fde(c, 0x100, 0x180)
		w.table.fde(c, 0x200, 0x280)
		frames.Edit(w.m).EHFrame = frames.Section{Data: w.table.b, Addr: 0x100000}
		code := slices.Repeat([]byte{0xe8, 0, 0, 0, 0}, 0x100)
		w.pieces = append(w.pieces, piece{0x900000, code, true})
		w.at(codeAt+0x120, stackAt+0x100)
		return w, func(to ...uint64) { w.put(stackAt+0x100, append(to, make([]uint64, 100)...)...) }
	}
	for name, places := range map[string][]uint64{"one": {0x90000a}, "two in turn": {0x90000a, 0x900014}} {
		t.Run("code is gone: "+name, func(t *testing.T) {
			w, returns := returning(t)
			g := w.call(0x210)
			for _, settled := range []bool{false, true} {
				var space frames.Space = w.fake
				if settled {
					space = &versioned{w.fake, 1}
				}
				walk := frames.New(w.a, space).Walk(&w.regs)
				for _, exec := range []bool{true, false, true} {
					w.pieces[len(w.pieces)-1].exec = exec
					if v, ok := space.(*versioned); ok {
						v.version++
					}
					for i := range 6 {
						returns(g, g, places[i%len(places)])
						tracedAs(t, frames.New(w.a, w.fake).Walk(&w.regs), walk)
					}
				}
			}
		})
	}
	t.Run("a place in data", func(t *testing.T) {
		w, returns := returning(t)
		g := w.call(0x210)
		walk := frames.New(w.a, settledSpace{w.fake}).Walk(&w.regs)
		for i := range 12 {
			returns(g, g, []uint64{stackAt + 0x10, stackAt + 0x20, 0x90000a}[i%3], g, g)
			traced(t, walk)
			returns(g, g, []uint64{stackAt + 0x10, stackAt + 0x20, 0x90000a}[i/6], g, g)
			traced(t, walk)
		}
	})
}

// versioned is a Space that says when its modules change.
type versioned struct {
	frames.Space
	version uint64
}

func (v *versioned) Version() uint64 { return v.version }

// TestTraceCost: a frame whose place is known takes no memory, and memory is read as by Frames.
func TestTraceCost(t *testing.T) {
	w := mixed(t, 5000)
	walk := frames.New(w.a, settledSpace{w.fake}).Walk(&w.regs)
	pcs := make([]target.Addr, 6000)
	n := 0
	for range walk.Frames(context.Background()) {
		n++
	}
	w.reads = 0
	for range walk.Frames(context.Background()) {
	}
	reads := w.reads
	w.reads = 0
	if got := walk.Trace(pcs); got != n || w.reads > reads {
		t.Errorf("%d frames, %d reads; Frames %d, %d", got, w.reads, n, reads)
	}
	if a := testing.AllocsPerRun(10, func() { walk.Trace(pcs) }); a > 2 { // reset's and the verdict's
		t.Errorf("%v allocations for %d frames", a, n)
	}
}
