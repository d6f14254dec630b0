package mipseh

import (
	"errors"

	"dbg/arch"
	"dbg/row"
)

// Reasons why an entry has no row.
var (
	ErrCantUnwind = errors.New("the entry is marked as one that can't be unwound")
	ErrFDE        = errors.New("the entry refers to call frame information")
)

// Row fills r with the row of an entry. It is valid at the calls of the function.
func (t *Table) Row(e *Entry, r *row.Row) error {
	r.Reset()
	r.Lo, r.Hi, r.Source, r.RA = e.Lo, e.Hi, uint64(e.Offset), ra
	if e.Form == FDE {
		return ErrFDE
	}
	r.CFA = row.Rule{Kind: row.InReg, Reg: sp}
	pushed := int64(0) // bytes below the CFA of the first increment
	for i, op := range e.Ops() {
		switch op.Kind {
		case AddSP:
			n := int64(op.N) * t.ABI.stackAlign()
			r.CFA.N += n
			for j := range r.Regs { // registers that were saved before are below the part that is added
				r.Regs[j].N -= n
			}
		case SetSP, ResetSP:
			if r.CFA.N != 0 || len(r.Regs) > 0 {
				return t.defect(e, "the stack pointer is set after other instructions")
			}
			r.CFA.Reg = sp
			if op.Kind == SetSP {
				r.CFA.Reg = arch.Reg(op.Reg)
			}
		case Push:
			for _, reg := range op.Regs() {
				pushed -= t.ABI.registerSize()
				if r.Rule(arch.Reg(reg)).Kind != row.Unspecified {
					return t.defect(e, "register %s is saved twice", names[reg])
				}
				r.Set(arch.Reg(reg), row.Rule{Kind: row.At, N: pushed})
			}
		case Finish:
			return nil
		case Nop:
		case NoUnwind:
			return ErrCantUnwind
		default:
			return t.defect(e, "instruction 0x%02x is %s", e.Code[i], op.Text(t.ABI))
		}
	}
	return nil // inline code that fills the entry
}
