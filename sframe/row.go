package sframe

import (
	"iter"

	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// maxRepeats limits the rows that EachRow makes of one FDE whose rows repeat. Real ones are PLTs, with
// a few thousand entries.
const maxRepeats = 1 << 16

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
		return e.Hi, defect(e.Offset, "it has no rows: it marks an outermost frame, or a function that the format can't describe")
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

// EachRow calls fn with the rows of FDEs i to j-1, by ascending address, and their hashes, until it
// returns false. r is nil for addresses whose row has an error, or whose FDE has too many. It returns
// false if nothing is known of any address.
func (t *Table) EachRow(i, j int, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	x := t.sorted()
	var e FDE
	var r row.Row
	for ; i < min(j, len(x.entries)); i++ {
		if err := t.fde(int(x.entries[i]), &e); err != nil || x.overlaps(i) {
			if e.Lo < e.Hi && !fn(e.Lo, e.Hi, nil, 0) {
				return true
			}
			continue
		}
		if !t.eachRowOf(&e, &r, fn) {
			return true
		}
	}
	return true
}

// eachRowOf calls fn with the rows of an FDE. It returns false if fn has.
func (t *Table) eachRowOf(e *FDE, r *row.Row, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	if e.Masked && (e.Hi-e.Lo)/uint64(e.Repeat)*uint64(e.FREs) > maxRepeats || t.byMask(e) && e.Hi-e.Lo > maxRepeats {
		return fn(e.Lo, e.Hi, nil, 0)
	}
	if !e.Masked {
		return t.inOrder(e, r, fn)
	}
	for pc := e.Lo; pc < e.Hi; {
		end, err := t.rowAt(e, pc, r)
		switch {
		case err == ErrNotCovered:
			pc++
			continue
		case end == 0:
			return fn(pc, e.Hi, nil, 0)
		}
		more := false
		if err != nil {
			more = fn(pc, end, nil, 0)
		} else {
			more = fn(pc, end, r, compiled.HashRow(r))
		}
		if !more {
			return false
		}
		pc = end
	}
	return true
}

// inOrder calls fn with the rows of an FDE whose rows do not repeat. It reads each row once.
func (t *Table) inOrder(e *FDE, r *row.Row, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	size := e.Hi - e.Lo
	var f, next FRE
	c := t.Rows(e)
	for more := c.Next(&f); more; f = next {
		more = c.Next(&next)
		lo, hi := min(uint64(f.Start), size), size
		if more {
			hi = min(uint64(next.Start), size)
		}
		if c.err != nil || lo == hi {
			if c.err != nil {
				break
			}
			continue
		}
		r.Reset()
		if t.Row(e, &f, r) != nil {
			if !fn(e.Lo+lo, e.Lo+hi, nil, 0) {
				return false
			}
			continue
		}
		r.Lo, r.Hi = e.Lo+lo, e.Lo+hi
		if !fn(r.Lo, r.Hi, r, compiled.HashRow(r)) {
			return false
		}
	}
	if c.err != nil || e.FREs == 0 { // where the malformed row begins is not known
		return fn(e.Lo, e.Hi, nil, 0)
	}
	return true
}
