package unwindcheck

import (
	"dbg/arch"
	"dbg/frames"
)

// fault returns the description of a fault.
func (c *checker) fault(th *checked, in *frameView, f *frames.Frame, kind faultKind, said, truth uint64) fault {
	bad := fault{kind: kind, pc: in.pc, precise: in.precise, said: said, truth: truth, cfa: in.cfa}
	if f != nil {
		bad.strategy = f.Strategy
		bad.exact = f.Trust == frames.Exact && kind != wrongRegister && kind != unknownRegister
	}
	for r := range bad.regs {
		bad.regs[r], _ = th.regs.Get(arch.Reg(r))
	}
	return bad
}

// right counts a correct caller.
func (c *checker) right(th *checked, how frames.Strategy, n int) {
	switch {
	case c.refused:
		return
	case n > 1:
		c.report.Deeper++
		return
	}
	c.report.Correct++
	s := &c.report.strategies[how]
	s.Judged++
	s.Correct++
	th.place.right++
	if !th.place.looked {
		c.look(th.place)
	}
}

func (c *checker) unjudged(n int, how frames.Strategy, why string) {
	if n <= 1 && !c.refused {
		c.report.NotJudged[why]++
	}
}

// claim saves a claim that differs from the entry until its outcome is known.
func (c *checker) claim(th *checked, k *cursor, n int, bad fault, f *frames.Frame) {
	cl := claim{fault: bad, pc: uint64(f.PC), deeper: n > 1, row: c.refused && c.unwinder.Audit}
	cl.sp, _ = f.Regs.Get(arch.RSP)
	for i, reg := range calleeSaved {
		if v, known := f.Regs.Get(reg); known {
			cl.saved[i] = v
			cl.known |= 1 << i
		}
	}
	var list *[]claim
	switch a := k.act(); {
	case k.transit && n > 1:
		return
	case k.transit:
		list = &th.transit.claims
	case k.trampoline && !a.returned:
		c.refute(th, k, n, bad)
		return
	default:
		cl.entry = cl.pc == a.ra && cl.sp == a.cfa
		list = &a.claims
	}
	var ok bool
	if *list, ok = addClaim(*list, cl); !ok {
		// Code that describes its destination does so at a few instructions, with one claim.
		c.refute(th, k, n, bad)
	}
}

// refute counts a claim that is certainly wrong.
func (c *checker) refute(th *checked, k *cursor, n int, bad fault) {
	c.settle(&claim{fault: bad, hits: 1, deeper: n > 1, row: c.refused && c.unwinder.Audit}, refuted)
}

// settle counts the outcome of a claim.
func (c *checker) settle(cl *claim, o outcome) {
	how := cl.fault.strategy
	switch {
	case o == refuted:
		c.wrong(cl)
	case cl.deeper, cl.row:
	case o == proven:
		c.report.Correct += cl.hits
		c.report.Proven += cl.hits
		c.report.strategies[how].Judged += cl.hits
		c.report.strategies[how].Correct += cl.hits
		pl := c.places.get(cl.fault.pc)
		pl.right += cl.hits
		if !pl.looked && pl.decoded {
			c.look(pl)
		}
	default:
		c.report.NotJudged["left without a known destination"] += cl.hits
	}
}
