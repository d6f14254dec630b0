package unwindcheck

import (
	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace"
)

// How an instruction's successor becomes certain. The first times that a place is executed the thread
// is stepped by the processor, and what was foretold is held against what came. The length of an
// ordinary instruction is not decoded, but seen in the same way.
const (
	provenAfter = 2  // times that it was foretold rightly
	never       = -1 // it was foretold wrongly
)

// foretell gives the address where the thread will be after the instruction at pl, 0 if
// that is not known.
func (c *checker) foretell(pl *place, regs *arch.Registers) uint64 {
	switch pl.in.flow {
	case onward:
		if pl.size > 0 {
			return pl.pc + uint64(pl.size)
		}
	case direct:
		return pl.in.target
	case branch:
		if flags, ok := regs.Get(arch.RFLAGS); ok {
			if taken(pl.in.cond, flags) {
				return pl.in.target
			}
			return pl.in.next
		}
	case back:
		sp, _ := regs.Get(arch.RSP)
		if ra, ok := c.word(sp); ok {
			return ra
		}
	}
	return 0
}

// learn compares what was foretold with what came.
func (th *checked) learn(pc uint64) {
	pl := th.place
	if pl.in.flow == onward && pl.size == 0 {
		if n := pc - pl.pc; n > 0 && n < uint64(len(pl.code)) {
			pl.size = int(n)
		}
		return
	}
	switch {
	case th.then == 0 || pl.foretold == never:
	case th.then != pc:
		pl.foretold = never
	case pl.foretold < provenAfter:
		pl.foretold++
	}
}

// hasten tells StepAll where the thread will be, if that is certain.
func (c *checker) hasten(th *checked, n *ptrace.Next) {
	pl := th.place
	th.then = 0
	if pl.volatile || pl.in.flow == uncertain || pl.foretold == never {
		return
	}
	th.then = c.foretell(pl, &th.regs)
	if pl.foretold < provenAfter || th.then == pl.pc {
		return
	}
	if off := th.then - pl.pc; pl.in.flow == onward && off < uint64(pl.codeLen) {
		n.Then, n.Original, n.Code = target.Addr(th.then), pl.code[off], pl.code[:off+1]
		return
	}
	if to := c.places.get(th.then); to.decoded && !to.volatile && to.codeLen > 0 {
		n.Then, n.Original = target.Addr(th.then), to.code[0]
	}
}
