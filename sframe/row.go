package sframe

import (
	"iter"

	"dbg/arch"
	"dbg/row"
)

// noRows is the defect of an FDE without rows: see the comment of the package.
const noRows = "it has no rows: it marks an outermost frame, or a function that the format can't describe"

// RowAt fills r with the row that covers pc. Errors are those of Find and an Error.
func (t *Table) RowAt(pc uint64, r *row.Row) error {
	var e FDE
	if err := t.Find(pc, &e); err != nil {
		return err
	}
	_, err := t.rowAt(&e, pc, r)
	return err
}

// rowAt fills r with the row of e that covers pc. end is where the range of the row, or of the error,
// ends, or 0 if that is not known.
func (t *Table) rowAt(e *FDE, pc uint64, r *row.Row) (end uint64, err error) {
	if e.FREs == 0 {
		return e.Hi, defect(e.Offset, noRows)
	}
	var f FRE
	begin, stop, err := t.at(e, pc-e.Lo, &f)
	if err != nil {
		return 0, err
	}
	rules, err := t.Rules(e, &f)
	if err == nil {
		err = t.fill(e, &f, &rules, r)
	}
	r.Lo, r.Hi = e.Lo+begin, e.Lo+stop
	return e.Lo + stop, err
}

// Row fills r with the rules of a row of e. Lo and Hi are those of the row if e's rows do not repeat.
func (t *Table) Row(e *FDE, f *FRE, r *row.Row) error {
	rules, err := t.Rules(e, f)
	if err != nil {
		return err
	}
	return t.fill(e, f, &rules, r)
}

// fill makes the row.
func (t *Table) fill(e *FDE, f *FRE, rules *Rules, r *row.Row) error {
	regs := registersOf[t.ABI]
	r.Reset()
	r.RA, r.Signal, r.Signed, r.Source = regs.ra, e.Signal, f.Mangled, uint64(e.Offset)
	if f.Outermost() {
		r.Set(regs.ra, row.Rule{Kind: row.Undefined})
		return nil
	}
	for _, rule := range []*Rule{&rules.CFA, &rules.RA, &rules.FP} {
		if rule.ByReg && rule.Reg == arch.NoReg {
			return defect(f.Offset, "one of its registers does not exist")
		}
	}
	r.CFA = rules.CFA.ofCFA()
	if rules.RA.Set { // otherwise it is still in the link register
		r.Set(regs.ra, rules.RA.ofRegister())
	}
	if rules.FP.Set {
		r.Set(regs.fp, rules.FP.ofRegister())
	} else {
		r.Set(regs.fp, row.Rule{Kind: row.Same})
	}
	if t.ABI == S390X {
		r.Set(regs.sp, row.Rule{Kind: row.Val, N: -s390xBias})
	}
	return nil
}

// ofCFA returns the rule as that of the CFA.
func (r *Rule) ofCFA() row.Rule {
	if r.Deref {
		return row.Rule{Kind: row.ValExpr, Expr: append(r.address(), opDeref)}
	}
	return row.Rule{Kind: row.InReg, Reg: r.Reg, N: r.Offset}
}

// ofRegister returns the rule as that of a register.
func (r *Rule) ofRegister() row.Rule {
	switch {
	case !r.ByReg && r.Deref:
		return row.Rule{Kind: row.At, N: r.Offset}
	case !r.ByReg:
		return row.Rule{Kind: row.Val, N: r.Offset}
	case r.Deref:
		return row.Rule{Kind: row.AtExpr, Expr: r.address()}
	case r.Offset == 0:
		return row.Rule{Kind: row.InReg, Reg: r.Reg}
	}
	return row.Rule{Kind: row.ValExpr, Expr: r.address()}
}

// Operations of DWARF expressions (DWARF 5, section 2.5.1).
const (
	opDeref = 0x06
	opBreg0 = 0x70
	opBregx = 0x92
)

// address returns the expression for the base register plus the offset.
func (r *Rule) address() []byte {
	e := make([]byte, 0, 16)
	if r.Reg < 32 {
		e = append(e, opBreg0+byte(r.Reg))
	} else {
		e = append(e, opBregx, byte(r.Reg))
	}
	v := r.Offset
	for v < -64 || v >= 64 {
		e = append(e, byte(v)|0x80)
		v >>= 7
	}
	return append(e, byte(v)&0x7f)
}

// RowsOf iterates over the rows of an FDE, or, if they repeat, over those of the first block. A malformed
// row comes as nil with its error, and is the last. The row belongs to the iterator.
func (t *Table) RowsOf(e *FDE) iter.Seq2[*row.Row, error] {
	return func(yield func(*row.Row, error) bool) {
		size := e.Hi - e.Lo
		if e.Masked {
			size = min(size, uint64(e.Repeat))
		}
		var r row.Row
		var f, next FRE
		c := t.Rows(e)
		for more := c.Next(&f); more; f = next {
			more = c.Next(&next)
			if err := t.Row(e, &f, &r); err != nil {
				yield(nil, err)
				return
			}
			r.Lo, r.Hi = e.Lo+min(uint64(f.Start), size), e.Lo+size
			if more {
				r.Hi = e.Lo + min(uint64(next.Start), size)
			}
			if !yield(&r, nil) {
				return
			}
		}
		if c.err != nil {
			yield(nil, c.err)
		}
	}
}
