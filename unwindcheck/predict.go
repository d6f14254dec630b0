package unwindcheck

import (
	"dbg/arch"
	"dbg/target"
	"dbg/target/ptrace/stepall"
)

// Prediction of the next address. The first times that a place is executed, the thread is stepped
// by the processor, and the prediction is compared with the real address. The length of an ordinary
// instruction is not decoded, but learned in the same way.
const (
	provenAfter = 2  // correct predictions after which a place is trusted
	never       = -1 // a prediction was wrong
)

// predict returns the address of the thread after the instruction at pl, or 0 if it is unknown.
func (c *checker) predict(pl *place, regs *arch.Registers) uint64 {
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

// learn compares the prediction with the real address.
func (th *checked) learn(pc uint64) {
	pl := th.place
	if pl.in.flow == onward && pl.size == 0 {
		if n := pc - pl.pc; n > 0 && n < uint64(len(pl.code)) {
			pl.size = int(n)
		}
		return
	}
	switch {
	case th.then == 0 || pl.predicted == never:
	case th.then != pc:
		pl.predicted = never
	case pl.predicted < provenAfter:
		pl.predicted++
	}
}

// usePrediction tells StepAll the next address of the thread, if it is certain.
func (c *checker) usePrediction(th *checked, n *stepall.Next) {
	pl := th.place
	th.then = 0
	if pl.volatile || pl.in.flow == uncertain || pl.predicted == never {
		return
	}
	th.then = c.predict(pl, &th.regs)
	if pl.predicted < provenAfter || th.then == pl.pc {
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
