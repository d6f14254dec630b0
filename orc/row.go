package orc

import (
	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// Offsets in struct pt_regs (arch/x86/include/uapi/asm/ptrace.h). The processor pushes the part from RIP on.
const (
	ptRIP = 128
	ptRSP = 152
)

// ptRegs lists the registers that struct pt_regs has below RIP, from offset 0 on. Between them and RIP is a
// word with the number of the system call or the error code.
var ptRegs = [...]arch.Reg{arch.R15, arch.R14, arch.R13, arch.R12, arch.RBP, arch.RBX, arch.R11, arch.R10, arch.R9,
	arch.R8, arch.RAX, arch.RCX, arch.RDX, arch.RSI, arch.RDI}

// RowAt fills r with the row at pc. It returns ErrNotCovered if no entry covers pc, or only a gap. Any other
// error means that the entry can't be used.
func (t *Table) RowAt(pc uint64, r *row.Row) error {
	i, err := t.find(pc)
	if err != nil {
		return err
	}
	var e Entry
	if err := t.Entry(i, &e); err != nil {
		return err
	}
	return t.Row(&e, r)
}

// SwitchesStack reports whether the entry at pc finds the caller's stack pointer in the word at RSP.
func (t *Table) SwitchesStack(pc uint64) bool {
	i, err := t.find(pc)
	if err != nil {
		return false
	}
	var e Entry
	return t.Entry(i, &e) == nil && e.SP == SPIndirect
}

// Row fills r with the row of an entry. It returns ErrNotCovered for a gap.
//
// The CFA is the address that the entry computes from a register. After a call that is the caller's stack
// pointer. In interrupted code it is the address of struct pt_regs, or of the part of it that the
// processor pushes; the caller's stack pointer is in there.
func (t *Table) Row(e *Entry, r *row.Row) error {
	r.Reset()
	r.Lo, r.Hi, r.RA, r.Source = e.Lo, e.Hi, arch.RIP, uint64(e.Index)*entrySize
	switch e.Type {
	case Gap:
		return ErrNotCovered
	case EndOfStack:
		r.Set(r.RA, row.Rule{Kind: row.Undefined})
		return nil
	}
	cfa, err := t.cfa(e)
	if err != nil {
		return &Error{e.Index, err}
	}
	r.CFA, r.Signal = cfa, e.Signal
	switch e.Type {
	case Call:
		r.Set(r.RA, row.Rule{Kind: row.At, N: -8})
	case Regs:
		for i, reg := range ptRegs {
			r.Set(reg, row.Rule{Kind: row.At, N: int64(8 * i)})
		}
		r.Set(arch.RSP, row.Rule{Kind: row.At, N: ptRSP})
		r.Set(r.RA, row.Rule{Kind: row.At, N: ptRIP})
	case RegsPartial:
		r.Set(arch.RSP, row.Rule{Kind: row.At, N: ptRSP - ptRIP})
		r.Set(r.RA, row.Rule{Kind: row.At})
	}
	switch e.BP {
	case PrevSP:
		r.Set(arch.RBP, row.Rule{Kind: row.At, N: int64(e.BPOffset)})
	case BP:
		r.Set(arch.RBP, row.Rule{Kind: row.AtExpr, Expr: t.expressions[keyOf(BP, e.BPOffset)]})
	default:
		if e.Type != Regs {
			r.Set(arch.RBP, row.Rule{Kind: row.Same})
		}
	}
	return nil
}

// registers has the base registers by their DWARF numbers. The kernel ignores the offset of all but SP and RBP.
var registers = [...]arch.Reg{DX: arch.RDX, DI: arch.RDI, BP: arch.RBP, SP: arch.RSP,
	R10: arch.R10, R13: arch.R13, AX: arch.RAX}

// cfa returns the rule for the address that an entry computes.
func (t *Table) cfa(e *Entry) (row.Rule, error) {
	n := int64(e.SPOffset)
	switch e.SP {
	case SP, BP:
		return row.Rule{Kind: row.InReg, Reg: registers[e.SP], N: n}, nil
	case AX, DX, DI, R10, R13:
		return row.Rule{Kind: row.InReg, Reg: registers[e.SP]}, nil
	case BPIndirect, SPIndirect:
		if e.SP == SPIndirect && n != 0 && t.sum == sumUnknown {
			return row.Rule{}, errSum
		}
		return row.Rule{Kind: row.ValExpr, Expr: t.expressions[keyOf(e.SP, e.SPOffset)]}, nil
	}
	return row.Rule{}, errBadSP
}

// EachRow calls fn for the rows of the entries from i up to but not including j, by ascending address; hash is
// compiled.HashRow. The row is valid until fn returns. A nil row means that RowAt returns the defect. Gaps have no
// rows. If fn returns false, EachRow stops and returns false.
func (t *Table) EachRow(i, j int, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	var e Entry
	var r row.Row
	for k := max(i, 0); k < min(j, t.count); k++ {
		err := t.Entry(k, &e)
		if e.Lo >= e.Hi {
			continue
		}
		if err == nil {
			if err = t.Row(&e, &r); err == ErrNotCovered {
				continue
			}
		}
		more := false
		if err != nil {
			more = fn(e.Lo, e.Hi, nil, 0)
		} else {
			more = fn(e.Lo, e.Hi, &r, compiled.HashRow(&r))
		}
		if !more {
			return false
		}
	}
	return true
}
