package pdata

import (
	"errors"

	"dbg/arch"
	"dbg/row"
)

// place is an address: the value of a register in the frame, plus a number.
type place struct {
	reg arch.Reg
	off int64
}

// state is the effect of the operations that were undone so far: where the stack pointer was before
// them, and where the registers of that time are.
type state struct {
	arch  *arch.Arch
	sp    place
	regs  []savedReg
	has   arch.RegSet
	ended bool // a hardware frame or a context was undone: nothing may come after it

	signed  bool // the return address is signed
	precise bool // the caller was interrupted: its PC is not a return address
	ra      arch.Reg
}

type savedReg struct {
	reg arch.Reg
	at  place
}

var (
	errAfterFrame  = errors.New("an operation follows a frame of the processor or a context")
	errFrameLost   = errors.New("the frame register is restored before it is used")
	errStackPlaces = errors.New("the stack pointer moves out of range")
)

// start makes s the state before anything is undone.
func (s *state) start(a *arch.Arch) {
	*s = state{arch: a, sp: place{reg: a.SP}, regs: s.regs[:0], ra: a.LR}
	if a.LR == arch.NoReg {
		s.ra = a.PC
	}
}

// alloc undoes the allocation of n bytes.
func (s *state) alloc(n int64) error {
	if s.ended {
		return errAfterFrame
	}
	if s.sp.off += n; s.sp.off > 1<<40 || s.sp.off < -1<<40 {
		return errStackPlaces
	}
	return nil
}

// save undoes the saving of a register at an address.
func (s *state) save(reg arch.Reg, at place) error {
	if s.ended {
		return errAfterFrame
	}
	s.set(reg, at)
	return nil
}

func (s *state) set(reg arch.Reg, at place) {
	if s.has.Has(reg) {
		for i := range s.regs {
			if s.regs[i].reg == reg {
				s.regs[i].at = at
				return
			}
		}
	}
	s.has.Add(reg)
	s.regs = append(s.regs, savedReg{reg, at})
}

// setSP undoes the setting of a frame register to the stack pointer plus n.
func (s *state) setSP(reg arch.Reg, n int64) error {
	if s.ended {
		return errAfterFrame
	}
	if s.has.Has(reg) {
		return errFrameLost
	}
	s.sp = place{reg, -n}
	return nil
}

// fill makes the row of the state. cfa is the distance from the stack pointer at the function's entry
// to the CFA.
func (s *state) fill(r *row.Row, cfa int64) {
	r.Reset()
	r.RA = s.ra
	r.Signal, r.Signed = s.precise, s.signed
	r.CFA = row.Rule{Kind: row.InReg, Reg: s.sp.reg, N: s.sp.off + cfa}
	if s.arch.LR == arch.NoReg && !s.ended {
		r.Regs = append(r.Regs, row.RegRule{Reg: s.ra, Rule: row.Rule{Kind: row.At, N: -int64(s.arch.PtrSize)}})
	}
	for _, g := range s.regs {
		rule := row.Rule{Kind: row.At, N: g.at.off - r.CFA.N}
		if g.at.reg != s.sp.reg {
			rule = row.Rule{Kind: row.AtExpr, Expr: address(g.at)}
		}
		r.Regs = append(r.Regs, row.RegRule{Reg: g.reg, Rule: rule})
	}
}

// DW_OP_breg0 (DWARF 5, section 7.7.1). All registers that hold a stack address have numbers below 32.
const opBreg0 = 0x70

// address returns the DWARF expression for a place.
func address(p place) []byte {
	b := []byte{opBreg0 + byte(p.reg)}
	for v := p.off; ; {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
