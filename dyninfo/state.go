package dyninfo

import (
	"fmt"
	"math"

	"dbg/arch"
	"dbg/row"
)

// state is the frame state at an instruction. Places on the stack are kept relative to the CFA, since
// operations give them relative to registers that move.
type state struct {
	sp      int64 // CFA = SP + sp
	spKnown bool

	frame    arch.Reg // the register with a copy of SP (save_reg of SP), or NoReg
	frameOff int64    // CFA = frame + frameOff

	cfa row.Rule // of an aliased row without either; Kind is Unspecified otherwise

	regs    []row.RegRule // never shared between states that may change
	stacked arch.RegSet   // registers with a place on the stack
}

// enclosing is the stack of the states at the starts of the regions around an instruction. It is
// immutable, so that labels share it.
type enclosing struct {
	outer *enclosing
	entry state
}

// clone returns a copy that can be changed.
func (s *state) clone() state {
	c := *s
	c.regs = append([]row.RegRule(nil), s.regs...)
	return c
}

// set sets the rule of a register.
func (s *state) set(r arch.Reg, rule row.Rule, stacked bool) {
	s.stacked.Remove(r)
	if stacked {
		s.stacked.Add(r)
	}
	for i := range s.regs {
		if s.regs[i].Reg == r {
			s.regs[i].Rule = rule
			return
		}
	}
	s.regs = append(s.regs, row.RegRule{Reg: r, Rule: rule})
}

// maxOffset bounds offsets from registers, so that sums do not overflow.
const maxOffset = 1 << 40

func checkOffset(n int64) error {
	if n > maxOffset || n < -maxOffset {
		return fmt.Errorf("the offset %d is absurd", n)
	}
	return nil
}

// apply changes the state by an operation that concerns a register.
func (s *state) apply(a *arch.Arch, op *Op) error {
	r, ok := registerOf(a, int64(op.Reg))
	if !ok {
		return fmt.Errorf("%s of the unknown register %d", op.Tag, op.Reg)
	}
	if op.Tag == SaveReg {
		to, ok := registerOf(a, op.Val)
		if !ok {
			return fmt.Errorf("save_reg to the unknown register %d", op.Val)
		}
		return s.save(a, r, to)
	}
	if err := checkOffset(op.Val); err != nil {
		return fmt.Errorf("%s: %w", op.Tag, err)
	}
	if op.Tag == Add {
		return s.add(a, r, op.Val)
	}
	return s.spill(a, r, op)
}

// save is save_reg. A copy of SP is a frame pointer. A copy of a register in itself ends an earlier one.
func (s *state) save(a *arch.Arch, r, to arch.Reg) error {
	switch {
	case r != a.SP && to == a.SP:
		return fmt.Errorf("save_reg of %s to the stack pointer", a.RegName(r))
	case r != a.SP && to == r:
		s.set(r, row.Rule{Kind: row.Same}, false)
	case r != a.SP:
		s.set(r, row.Rule{Kind: row.InReg, Reg: to}, false)
	case !s.spKnown:
		return fmt.Errorf("save_reg of the stack pointer, whose distance from the CFA is not known")
	case to == a.SP:
		s.frame = arch.NoReg
	default:
		s.frame, s.frameOff = to, s.sp
	}
	return nil
}

// add is add: SP moves away from the CFA.
func (s *state) add(a *arch.Arch, r arch.Reg, n int64) error {
	switch {
	case r == a.SP:
		s.sp -= n
		if s.spKnown {
			return checkOffset(s.sp)
		}
	case r == s.frame:
		s.frameOff -= n
		return checkOffset(s.frameOff)
	default:
		return fmt.Errorf("add to %s, which is neither the stack pointer nor the frame pointer", a.RegName(r))
	}
	return nil
}

// spill is spill_sp_rel and spill_fp_rel. Without a copy of SP the frame pointer is the register that
// the ABI has for it, and the place is an expression.
func (s *state) spill(a *arch.Arch, r arch.Reg, op *Op) error {
	switch {
	case r == a.SP:
		return fmt.Errorf("%s of the stack pointer", op.Tag)
	case op.Tag == SpillSPRel && !s.spKnown:
		return fmt.Errorf("spill_sp_rel, but the distance of the stack pointer from the CFA is not known")
	case op.Tag == SpillSPRel:
		s.set(r, row.Rule{Kind: row.At, N: op.Val - s.sp}, true)
	case s.frame != arch.NoReg:
		s.set(r, row.Rule{Kind: row.At, N: op.Val - s.frameOff}, true)
	default:
		s.set(r, row.Rule{Kind: row.AtExpr, Expr: breg(a.FP, op.Val)}, true)
	}
	return nil
}

// pop returns the state after pop_frames: the one at the start of a region around the instruction.
// Registers that were saved in registers stay there until the region ends.
func (s *state) pop(n int64, around *enclosing) (state, *enclosing, error) {
	if n <= 0 {
		return state{}, nil, fmt.Errorf("pop_frames of %d frames", n)
	}
	for ; n > 1 && around != nil; n-- {
		around = around.outer
	}
	if around == nil {
		return state{}, nil, fmt.Errorf("pop_frames of more frames than there are regions")
	}
	c := around.entry.clone()
	for _, r := range s.regs {
		if r.Kind == row.InReg {
			c.set(r.Reg, r.Rule, false)
		}
	}
	return c, around, nil
}

// row writes the state as a row.
func (s *state) row(a *arch.Arch, r *row.Row) error {
	r.Reset()
	r.RA = returnColumn(a)
	switch {
	case s.frame != arch.NoReg:
		r.CFA = row.Rule{Kind: row.InReg, Reg: s.frame, N: s.frameOff}
	case s.cfa.Kind != row.Unspecified:
		r.CFA = s.cfa
	case s.spKnown:
		r.CFA = row.Rule{Kind: row.InReg, Reg: a.SP, N: s.sp}
	default:
		return fmt.Errorf("no operation leads to the CFA")
	}
	for _, x := range s.regs {
		r.Set(x.Reg, x.Rule)
	}
	if a.LR == arch.NoReg && r.Rule(r.RA).Kind == row.Unspecified {
		return fmt.Errorf("no operation has saved the return address yet")
	}
	return nil
}

// stateOf is the state that a row describes: the entry state after an alias.
func stateOf(a *arch.Arch, r *row.Row) state {
	s := state{frame: arch.NoReg, sp: math.MinInt32, cfa: r.CFA}
	if r.CFA.Kind == row.InReg {
		s.cfa = row.Rule{}
		if r.CFA.Reg == a.SP {
			s.sp, s.spKnown = r.CFA.N, true
		} else {
			s.frame, s.frameOff = r.CFA.Reg, r.CFA.N
		}
	}
	for _, x := range r.Regs {
		s.set(x.Reg, x.Rule, x.Kind == row.At || x.Kind == row.AtExpr)
	}
	return s
}

// breg is the expression for register r plus n: DW_OP_bregr, for r below 32.
func breg(r arch.Reg, n int64) []byte {
	b := []byte{0x70 + byte(r)}
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
