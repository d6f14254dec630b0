package frames

import (
	"reflect"
	"unsafe"

	"dbg/arch"
	"dbg/target"
)

// contentsAt is the offset of a Module's contents.
var contentsAt = func() uintptr {
	f, ok := reflect.TypeFor[Module]().FieldByName("contents")
	if !ok || f.Type != reflect.TypeFor[Contents]() {
		panic("a Module has no contents")
	}
	return f.Offset
}()

// Edit gives tests the contents of a module that no walk has met yet. Address spaces of benchmarks call it, so it is fast.
func Edit(m *Module) *Contents { return (*Contents)(unsafe.Add(unsafe.Pointer(m), contentsAt)) }

// Follow is the part of Trace for PCs that have been seen before: the look-up of the rules and their application. It is for
// benchmarks; memory is read the first time. It returns how many callers it has found.
func (w *Walk) Follow(pcs []target.Addr) int {
	f := &w.frame
	if w.stack.mem == nil {
		w.reset()
		w.stack.size = maxBlock
		sp, _ := w.start.SP()
		w.stack.Word(target.Addr(sp), 8)
	}
	f.Regs = w.start
	pc, _ := f.Regs.PC()
	cur := w.site(target.Addr(pc), true)
	for n := 0; ; {
		to, k := w.follow(cur, pcs[n:])
		if n, cur = n+k, to; n == len(pcs) {
			return n
		}
		if plan, err := w.planAt(cur); err != nil || !cur.plain {
			return n
		} else if step, ok := plan.Begin(&f.Regs, &w.stack.blocks[w.stack.last&1].Window); !ok {
			return n
		} else {
			plan.Finish(&f.Regs, nil, &w.stack.blocks[w.stack.last&1].Window, step)
			cur = w.callerOf(cur, target.Addr(step.PC))
			n++
		}
	}
}

// Now is the registers of the frame that the walk has come to.
func (w *Walk) Now() *arch.Registers { return &w.frame.Regs }
