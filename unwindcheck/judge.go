package unwindcheck

import (
	"context"

	"dbg/arch"
	"dbg/frames"
)

// cursor is the position of a walk in the shadow: the activation whose caller comes next.
type cursor struct {
	stack      *stack
	i          int  // index in stack.acts; -1 below the outermost
	trampoline bool // the frame is the trampoline that the handler i returns to
	transit    bool // unknown: a stack was left, and none was reached yet
}

// act returns the activation at the cursor, or nil below the outermost.
func (k *cursor) act() *activation {
	if k.i < 0 {
		return nil
	}
	return &k.stack.acts[k.i]
}

// next moves to the caller.
func (k *cursor) next() {
	a := k.act()
	switch {
	case a.kind == handler && !k.trampoline:
		k.trampoline = true
		return
	case k.trampoline:
		k.trampoline, k.transit = false, a.transit != nil
		if a.from != nil {
			k.stack, k.i = a.from, len(a.from.acts)-1
			return
		}
	}
	k.i--
}

// judge compares the walk from the thread's place with the shadow, for depth callers. The verdict
// on the first caller is that on the instruction.
func (c *checker) judge(th *checked, depth int) {
	k := cursor{stack: th.stack, i: len(th.stack.acts) - 1, transit: th.transit != nil}
	if a := k.act(); a != nil {
		k.trampoline = a.returned
	}
	if th.place.skip {
		c.report.NotJudged["not in the selected functions"]++
		return
	}
	th.walk.Restart(&th.regs)
	n := 0
	var inner frameView
	for f := range th.walk.Frames(background) {
		if n > 0 {
			if !c.compare(th, &k, &inner, f, n) || n >= depth {
				return
			}
			k.next()
		}
		inner.take(f)
		if n == 0 {
			c.overruled = th.walk.Overruled()
			c.judgeRefused(th, &k, inner)
		}
		n++
	}
	c.compareEnd(th, &k, &inner, n)
}

// judgeRefused judges the row at the thread's own place if the unwinder rejected it. A row that
// differs from the truth is wrong, no matter which check has detected it and how the caller was
// found then. The row is reported, but the verdict on the instruction is that on the caller that
// was found.
func (c *checker) judgeRefused(th *checked, k *cursor, in frameView) {
	f, cfa := th.walk.Refused()
	if f == nil {
		return
	}
	in.hasCFA, in.cfa = true, uint64(cfa)
	c.refused = true
	c.compare(th, k, &in, f, 1)
	c.refused = false
}

var background = context.Background()

// frameView is the information about a frame that is needed to judge its caller.
type frameView struct {
	pc      uint64
	precise bool
	signal  bool
	hasCFA  bool
	cfa     uint64
	module  *frames.Module
}

func (v *frameView) take(f *frames.Frame) {
	v.pc, v.precise, v.signal = uint64(f.PC), !f.PCIsReturnAddress, f.Signal
	v.hasCFA, v.cfa, v.module = f.HasCFA, uint64(f.CFA), f.Module
}

// compare judges one caller. n is the index of its frame. It returns false if it makes no sense to
// continue.
func (c *checker) compare(th *checked, k *cursor, in *frameView, f *frames.Frame, n int) bool {
	a := k.act()
	switch {
	case a == nil && !k.transit && k.stack.bottom:
		c.refute(th, k, n, c.fault(th, in, f, beyond, uint64(f.PC), 0))
		return false
	case a == nil && !k.transit, a != nil && a.kind == unknown:
		c.unjudged(n, f.Strategy, "the caller was never seen: first function of a stack")
		return false
	case k.transit:
		c.claim(th, k, n, c.fault(th, in, f, wrongReturn, uint64(f.PC), 0), f)
		return false
	case k.trampoline:
		return c.compareInterrupted(th, k, in, f, n)
	}
	sp, _ := f.Regs.Get(arch.RSP)
	var bad fault
	switch {
	case in.hasCFA && in.cfa != a.cfa:
		bad = c.fault(th, in, f, wrongCFA, in.cfa, a.cfa)
	case uint64(f.PC) != a.ra:
		bad = c.fault(th, in, f, wrongReturn, uint64(f.PC), a.ra)
	case sp != a.cfa:
		bad = c.fault(th, in, f, wrongSP, sp, a.cfa)
	default:
		lost := uint8(0)
		for i, reg := range calleeSaved {
			v, known := f.Regs.Get(reg)
			if !known {
				lost |= 1 << i
			} else if v != a.saved[i] {
				bad = c.fault(th, in, f, wrongRegister, v, a.saved[i])
				bad.reg = reg
				c.claim(th, k, n, bad, f)
				return false // all outer frames depend on it
			}
		}
		if lost != 0 && n == 1 {
			if i, ok := c.mayLose(th, f, lost); !ok {
				bad = c.fault(th, in, f, unknownRegister, 0, a.saved[i])
				bad.reg = calleeSaved[i]
				c.refute(th, k, n, bad)
				return false
			}
		}
		if f.Trust == frames.Exact && !c.refused {
			c.report.Exact++
		}
		c.right(th, f.Strategy, n)
		return true
	}
	c.claim(th, k, n, bad, f)
	return false
}

// mayLose reports whether callee-saved registers may be unknown: if a heuristic found the caller,
// if the row or the code says that they are lost, and in Go code, which saves only RBP.
func (c *checker) mayLose(th *checked, f *frames.Frame, lost uint8) (first int, ok bool) {
	for b := lost; b != 0 && !c.refused; b &= b - 1 {
		c.report.UnknownRegisters++
	}
	if !f.Strategy.ByTable() || th.place.module == nil || th.place.module.golang {
		return 0, true
	}
	if !th.place.looked {
		c.look(th.place)
	}
	for i, reg := range calleeSaved {
		if lost&^th.place.lost&(1<<i) != 0 && !c.overruled.Has(reg) {
			return i, false
		}
	}
	return 0, true
}

// compareInterrupted judges the caller of a trampoline: the interrupted code with all its
// registers.
func (c *checker) compareInterrupted(th *checked, k *cursor, in *frameView, f *frames.Frame, n int) bool {
	a := k.act()
	if !in.signal {
		c.refute(th, k, n, c.fault(th, in, f, notSignal, uint64(f.PC), 0))
		return false
	}
	restart := restarts(a.interrupted)
	for _, reg := range interruptedRegs {
		truth, _ := a.interrupted.Get(reg)
		v, known := f.Regs.Get(reg)
		if known && v == truth || restart && (reg == arch.RAX || reg == arch.RIP && v == truth-2) {
			continue
		}
		kind := wrongRegister
		switch {
		case !known:
			kind = unknownRegister
		case reg == arch.RIP:
			kind = wrongReturn
		case reg == arch.RSP:
			kind = wrongSP
		}
		bad := c.fault(th, in, f, kind, v, truth)
		bad.reg = reg
		if n > 1 && !k.fresh(th) {
			return false // the handler may have changed the state to which it will return
		}
		c.claim(th, k, n, bad, f)
		return false
	}
	c.right(th, f.Strategy, n)
	return true
}

// fresh reports whether the thread is at the first instruction of the handler.
func (k *cursor) fresh(th *checked) bool {
	return k.stack == th.stack && k.i == len(th.stack.acts)-1 && !k.act().returned && th.was.sp == k.act().cfa-8
}

var interruptedRegs = []arch.Reg{arch.RIP, arch.RSP, arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15,
	arch.RAX, arch.RCX, arch.RDX, arch.RSI, arch.RDI, arch.R8, arch.R9, arch.R10, arch.R11}

// restarts reports whether registers are those of a system call that a signal has interrupted,
// before the kernel has decided whether it returns EINTR or starts again: the codes of
// include/linux/errno.h.
func restarts(r *arch.Registers) bool {
	rax, _ := r.Get(arch.RAX)
	switch -int64(rax) {
	case 512, 513, 514, 516:
		return true
	}
	return false
}

// compareEnd judges the end of a walk. n is the number of frames.
func (c *checker) compareEnd(th *checked, k *cursor, in *frameView, n int) {
	end := th.walk.End()
	a := k.act()
	switch {
	case k.transit:
		c.unjudged(n, frames.Context, "while switching to another stack")
	case a == nil && !k.stack.bottom, a != nil && a.kind == unknown:
		c.unjudged(n, frames.Context, "the caller was never seen: first function of a stack")
	case a == nil && end.Outermost:
		c.right(th, frames.Context, n)
	case c.opts.Source != "":
		if n <= 1 {
			th.place.nowhere++
		}
		c.unjudged(n, frames.Context, "no answer")
	case a == nil:
		bad := c.fault(th, in, nil, unended, 0, 0)
		bad.why = end.Message()
		c.refute(th, k, n, bad)
	case in.hasCFA && in.cfa != a.cfa:
		bad := c.fault(th, in, nil, wrongCFA, in.cfa, a.cfa)
		bad.strategy = frames.CFI
		c.refute(th, k, n, bad)
	default:
		bad := c.fault(th, in, nil, noCaller, 0, a.ra)
		bad.why = end.Message()
		c.refute(th, k, n, bad)
	}
}
