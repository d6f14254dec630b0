package frames

import (
	"dbg/arch"
	"dbg/target"
)

// A thread in Go runs on its scheduler's stack for a goroutine whose own stack waits: for the
// runtime (mcall, morestack, systemstack) and for C (asmcgocall). When it leaves the goroutine's
// stack, it stores in g.sched where the goroutine will continue.
//
// The structures are those of Go's runtime/runtime2.go since Go 1.5, and need no debug information.
// The data is checked for consistency: g.m refers to the thread's descriptor, whose g0 refers back
// to it and owns the stack that contains the frame.
const (
	goStackLo = 0  // g.stack.lo
	goStackHi = 8  // g.stack.hi
	goM       = 48 // g.m
	goSchedSP = 56 // g.sched.sp
	goSchedPC = 64 // g.sched.pc

	goG0 = 0 // m.g0

	// m.curg follows arrays whose sizes have changed between versions.
	goCurgFirst, goCurgLast = 160, 216

	// The g of a thread that executes Go code is in R14, and always in a word of its thread-local
	// storage: the last one, or an earlier one if the program also has thread-local storage of C.
	goSlots = 128
)

// bySched continues with the stack of the goroutine for which the thread runs on another stack.
func (w *Walk) bySched() bool {
	sp, known := w.frame.Regs.SP()
	if w.u.arch != arch.AMD64 || !known || !w.u.Use.Has(GoSched) {
		return false
	}
	pc, to, ok := w.waitingGoroutine(sp)
	if !ok {
		return w.failed(GoSched, "found no goroutine that waits for this stack")
	}
	c := &w.caller
	c.Start(arch.RegSet{})
	c.CFA = to
	c.SetSP(w.u.arch, to)
	c.SetPC(w.u.arch, pc, 0, false)
	w.landing = anywhere
	if w.judge(GoSched) {
		return true
	}
	w.landing, w.precise = notLanding, false
	return false
}

// waitingGoroutine returns the saved PC and SP of the goroutine whose thread uses the scheduler's
// stack at sp.
func (w *Walk) waitingGoroutine(sp uint64) (pc, to uint64, ok bool) {
	m := w.goThread(sp)
	if m == 0 {
		return 0, 0, false
	}
	g0 := w.goWord(m + goG0)
	for at := m + goCurgFirst; at <= m+goCurgLast; at += 8 {
		g := w.goWord(at)
		if g == 0 || g == g0 || w.goWord(g+goM) != m {
			continue
		}
		pc, to = w.goWord(g+goSchedPC), w.goWord(g+goSchedSP)
		return pc, to, pc != 0 && w.onStackOf(g, to)
	}
	return 0, 0, false
}

// goThread returns the runtime's descriptor of the walk's thread, whose scheduler's stack contains
// sp, or 0.
func (w *Walk) goThread(sp uint64) uint64 {
	check := func(g uint64) uint64 {
		if g == 0 || g%8 != 0 {
			return 0
		}
		m := w.goWord(g + goM)
		g0 := w.goWord(m + goG0)
		if m == 0 || g0 == 0 || w.goWord(g0+goM) != m || !w.onStackOf(g0, sp) {
			return 0
		}
		return m
	}
	if g, known := w.start.Get(arch.R14); known {
		if m := check(g); m != 0 {
			return m
		}
	}
	fs, known := w.start.Get(arch.FSBase)
	if !known || fs < 8*goSlots {
		return 0
	}
	for i := range uint64(goSlots) {
		if m := check(w.goWord(fs - 8*(i+1))); m != 0 {
			return m
		}
	}
	return 0
}

// onStackOf reports whether an address is on a goroutine's stack.
func (w *Walk) onStackOf(g, at uint64) bool {
	return w.goWord(g+goStackLo) <= at && at < w.goWord(g+goStackHi)
}

// goWord returns a word of memory, or 0 if it is unreadable.
func (w *Walk) goWord(at uint64) uint64 {
	if at < page || at > 1<<47 {
		return 0
	}
	return uint64(w.slot(target.Addr(at)))
}
