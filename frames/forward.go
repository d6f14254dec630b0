package frames

import (
	"golang.org/x/arch/x86/x86asm"

	"dbg/arch"
)

// forward is what the code from a function's start says of each PC that it leads to. All ways are
// followed, depth first and each instruction once, so that what is found for a PC does not depend on which one
// was asked for. A way that comes to a call waits until the others have ended: the call may not return, and what follows it
// be led to by another way only. It goes on only as far as somebody asks.
type forward struct {
	sim     simulation
	lo, hi  uint64
	reached map[uint64]*codeRule
	behind  map[uint64]*codeRule // behind an instruction that does not go on, where nothing else may lead
	rules   map[entryState]*codeRule
	ways    []entryWay
	waiting []entryWay // behind calls
	at      entryWay
	going   bool // at is a way that has not ended
	epoch   uint64
}

// entryWay is a way that has come to an address.
type entryWay struct {
	pc uint64
	entryState
}

func slotOf(r arch.Reg) int {
	switch r {
	case arch.RBX:
		return 0
	case arch.RBP:
		return 1
	}
	return int(r-arch.R12) + 2
}

var slotRegs = [6]arch.Reg{arch.RBX, arch.RBP, arch.R12, arch.R13, arch.R14, arch.R15}

// Answers that are no rule.
var (
	notReached   = &codeRule{why: "the instructions from the function's start do not lead to PC"}
	notFollowed  = &codeRule{why: "the instructions from the function's start set the stack pointer to what can't be followed"}
	notCalled    = &codeRule{why: "the function that was called does not lead to PC"}
	notSymbolled = &codeRule{why: "no symbol says where the function starts"}
)

// newForward begins at a function's first instruction and stays between lo and hi.
func newForward(m *Module, start, lo, hi uint64) *forward {
	f := &forward{sim: simulation{module: m}, lo: lo, hi: hi, going: true,
		reached: map[uint64]*codeRule{}, rules: map[entryState]*codeRule{}}
	f.at = entryAt(start)
	return f
}

// entryAt is a function's first instruction.
func entryAt(pc uint64) (at entryWay) {
	at.pc = pc
	at.regs[rsp] = value{cfa, -8}
	return at
}

// ruleAt is what the code up to pc says.
func (f *forward) ruleAt(w *Walk, pc uint64) *codeRule {
	if r := f.reached[pc]; r != nil {
		return r
	}
	if f.going || len(f.ways)+len(f.waiting) > 0 {
		f.sim.w = w
		f.run(pc)
		f.sim.w = nil
		if r := f.reached[pc]; r != nil {
			return r
		}
	}
	if r := f.behind[pc]; r != nil {
		return r
	}
	return notReached
}

// size is how much is kept.
func (f *forward) size() int { return len(f.reached) + len(f.behind) + len(f.ways) + len(f.waiting) }

// run goes on until it comes to an address, or to all ends.
func (f *forward) run(to uint64) {
	var buf [aheadBytes]byte
	var code []byte
	at := &f.at
	for {
		if !f.going {
			if len(f.ways) == 0 {
				f.ways, f.waiting = f.waiting, nil
			}
			if len(f.ways) == 0 {
				f.rules = nil
				return
			}
			*at, code, f.going = f.ways[len(f.ways)-1], nil, true
			f.ways = f.ways[:len(f.ways)-1]
		}
		here := at.pc
		if here < f.lo || here >= f.hi || f.reached[here] != nil {
			f.going = false
			continue
		}
		f.reached[here] = f.rule(&at.entryState)
		if f.sim.count++; f.sim.count > startInstructions {
			f.going, f.ways, f.waiting = false, nil, nil
			continue
		}
		if len(code) < 15 {
			code = f.sim.read(here, buf[:])
		}
		in, n := decode(code)
		if f.going = n > 0; f.going {
			at.pc, code = here+uint64(n), code[n:]
			code = f.follow(&in, code)
		}
		if here == to {
			return
		}
	}
}

// follow does what an instruction does; f.at is already behind it, and code is what follows there. It returns what
// of that is still at f.at.
func (f *forward) follow(in *x86asm.Inst, code []byte) []byte {
	at := &f.at
	switch in.Op {
	case x86asm.RET:
		f.going = false
		return code
	case x86asm.HLT, x86asm.UD2:
		if f.behind == nil {
			f.behind = map[uint64]*codeRule{}
		}
		if f.behind[at.pc] == nil {
			f.behind[at.pc] = f.rule(&at.entryState)
		}
		f.going = false
		return code
	case x86asm.JMP:
		if to := f.sim.jumpsTo(in, at.pc); to != 0 {
			at.pc, code = to, nil
		}
		return code // a jump table: the cases, which usually follow, begin in this state
	case x86asm.CALL:
		at.step(in)
		if len(f.waiting) < startWays {
			f.waiting = append(f.waiting, *at)
			f.going = false
		}
		return code
	}
	if rel, ok := in.Args[0].(x86asm.Rel); ok && len(f.ways) < startWays {
		other := *at
		other.pc += uint64(int64(rel))
		f.ways = append(f.ways, other)
	}
	at.step(in)
	return code
}

// rule says a state in terms of the registers then. Equal states have one rule.
func (f *forward) rule(at *entryState) *codeRule {
	r := f.rules[*at]
	if r == nil {
		r = at.rule()
		f.rules[*at] = r
	}
	return r
}
