package frames

import (
	"dbg/arch"
	"dbg/target"
)

// A thread of Go works on its scheduler's stack for a goroutine whose own stack waits: for the runtime (mcall, morestack,
// systemstack) and for C (asmcgocall). When it leaves that stack it keeps in g.sched where the goroutine goes on.
//
// The structures are those of Go's runtime/runtime2.go since Go 1.5, and need no debug information. What is read is
// checked against itself: g.m leads to the thread's descriptor, whose g0 leads back to it and has the stack that the frame is on.
const (
	goStackLo = 0  // g.stack.lo
	goStackHi = 8  // g.stack.hi
	goM       = 48 // g.m
	goSchedSP = 56 // g.sched.sp
	goSchedPC = 64 // g.sched.pc

	goG0 = 0 // m.g0

	// m.curg lies behind arrays whose sizes have changed.
	goCurgFirst, goCurgLast = 160, 216

	// The g of a thread that runs code of Go is in R14, and always in a word of its thread-local storage: the last one, or one
	// before if the program has storage of C, too.
	goSlots = 128
)

// bySched goes on with the stack of the goroutine for which the thread works on another one.
func (w *Walk) bySched() bool {
	sp, known := w.frame.Regs.SP()
	if w.u.arch != arch.AMD64 || !known || !w.u.Use.Has(GoSched) {
		return false
	}
	pc, to, ok := w.leftOff(sp)
	if !ok {
		return w.failed(GoSched, "where the goroutine goes on is not known")
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

// leftOff is where the goroutine goes on whose thread uses the scheduler's stack at sp.
func (w *Walk) leftOff(sp uint64) (pc, to uint64, ok bool) {
	m := w.threadOfGo(sp)
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

// threadOfGo is the runtime's descriptor of the walk's thread, whose scheduler's stack has sp; 0 if it is not found.
func (w *Walk) threadOfGo(sp uint64) uint64 {
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

// goWord is a word of memory, 0 if it can't be read.
func (w *Walk) goWord(at uint64) uint64 {
	if at < page || at > 1<<47 {
		return 0
	}
	return uint64(w.slot(target.Addr(at)))
}
