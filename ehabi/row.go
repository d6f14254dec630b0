package ehabi

import (
	"math/bits"

	"dbg/arch"
	"dbg/row"
	"dbg/row/compiled"
)

// Core registers: their DWARF numbers are their own.
const (
	sp = 13
	lr = 14
	pc = 15

	d0 = 64 // arch's number of D0
)

// maxBases limits how often the instructions may set vsp to something else than vsp plus an offset.
const maxBases = 4

// frame is the virtual register set of EHABI32, section 10.3, in terms of the registers at PC.
type frame struct {
	base   [maxBases]place // what vsp was set to; their offsets are 0
	bases  uint8           // number of them, at least 1
	vsp    int64           // offset from the last base
	saved  uint64          // bits 0 to 15 core registers, 32 to 63 D registers
	places [64]slot        // by bit
}

// slot is where a register is saved.
type slot struct {
	base uint8
	off  int64
}

// Row fills r with the row that is valid at calls in the body of the function to which e belongs. Lo
// and Hi are those of the entry. Registers that the instructions do not pop are unchanged.
//
// The error is ErrCantUnwind, ErrRefuses, a PersonalityError, or an Error.
func (t *Table) Row(e *Entry, r *row.Row) error {
	switch {
	case e.Model == CantUnwind:
		return ErrCantUnwind
	case e.Model == Generic && e.Code.Len() == 0:
		return &PersonalityError{e.Personality}
	}
	f := frame{bases: 1}
	f.base[0].reg = sp
	for i := 0; i < e.Code.Len(); {
		op := e.Code.Op(i)
		if op.Kind == Finish {
			break
		}
		if err := f.execute(e, &op, i); err != nil {
			return err
		}
		i += op.Size
	}
	f.fill(r)
	r.Lo, r.Hi, r.Source = e.Lo, e.Hi, uint64(e.Offset)
	return nil
}

// execute executes the instruction at byte i.
func (f *frame) execute(e *Entry, op *Op, i int) error {
	switch op.Kind {
	case MoveVSP:
		f.vsp += op.N
		if f.vsp != int64(int32(f.vsp)) {
			return defect(e.Offset, "the instruction at byte %d moves vsp out of the address space", i)
		}
	case SetVSP:
		if !f.setVSP(op.First) {
			return defect(e.Offset, "the instruction at byte %d sets vsp for the %dth time", i, f.bases)
		}
	case PopCore:
		f.pop(uint64(op.Mask), 4)
		if op.Mask&(1<<sp) != 0 && !f.setVSP(sp) {
			return defect(e.Offset, "the instruction at byte %d sets vsp for the %dth time", i, f.bases)
		}
	case PopVFP, PopVFPX:
		f.pop((1<<op.Count-1)<<(32+op.First), 8)
		if op.Kind == PopVFPX {
			f.vsp += 4
		}
	case PopWMMX:
		f.vsp += 8 * int64(op.Count)
	case PopWMMXControl:
		f.vsp += 4 * int64(bits.OnesCount16(op.Mask))
	case PopRAAuth:
		f.vsp += 4
	case PACModifier:
	case Refuse:
		return ErrRefuses
	case CutShort:
		return defect(e.Offset, "the instruction 0x%02x at byte %d is cut short", e.Code.At(i), i)
	case TooFar:
		return defect(e.Offset, "the instruction at byte %d moves vsp out of the address space", i)
	default:
		return defect(e.Offset, "the instruction 0x%02x at byte %d is reserved", e.Code.At(i), i)
	}
	return nil
}

// pop notes that registers are saved at vsp, the lowest one first.
func (f *frame) pop(mask uint64, size int64) {
	f.saved |= mask
	for ; mask != 0; mask &= mask - 1 {
		f.places[bits.TrailingZeros64(mask)] = slot{f.bases - 1, f.vsp}
		f.vsp += size
	}
}

// setVSP sets vsp to a core register: to its value at PC, or to the word from which it was popped. It
// returns false if that is too deep.
func (f *frame) setVSP(n uint8) bool {
	to, ok := place{reg: arch.Reg(n)}, true
	if f.saved&(1<<n) != 0 {
		to, ok = f.at(f.places[n]).load()
	}
	if !ok || f.bases == maxBases {
		return false
	}
	f.base[f.bases], f.vsp = to, 0
	f.bases++
	return true
}

// at returns the place of a slot.
func (f *frame) at(s slot) place {
	p := f.base[s.base]
	p.off += s.off
	return p
}

// fill makes the row. The CFA is vsp at the end: the caller's stack pointer.
func (f *frame) fill(r *row.Row) {
	r.Reset()
	last := f.bases - 1
	cfa := f.at(slot{last, f.vsp})
	r.CFA = row.Rule{Kind: row.InReg, Reg: cfa.reg, N: cfa.off}
	if cfa.loads > 0 {
		r.CFA = row.Rule{Kind: row.ValExpr, Expr: cfa.expr()}
	}
	r.RA = lr // section 10.3: finish copies r14 to r15 if r15 was not popped
	if f.saved&(1<<pc) != 0 {
		r.RA = pc
	}
	for m := f.saved &^ (1 << sp); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		s := f.places[i]
		rule := row.Rule{Kind: row.At}
		if n, ok := f.at(s).from(cfa); ok {
			rule.N = n
		} else {
			rule = row.Rule{Kind: row.AtExpr, Expr: f.at(s).expr()}
		}
		r.Regs = append(r.Regs, row.RegRule{Reg: register(i), Rule: rule})
	}
}

// register returns the register of a bit in frame.saved.
func register(bit int) arch.Reg {
	if bit >= 32 {
		return arch.Reg(bit - 32 + d0)
	}
	return arch.Reg(bit)
}

// RowAt fills r with the row that covers pc. Errors are those of Find and Row.
func (t *Table) RowAt(pc uint64, r *row.Row) error {
	var e Entry
	if err := t.Find(pc, &e); err != nil {
		return err
	}
	return t.Row(&e, r)
}

// EachRow calls fn with the rows of entries i to j-1 and their hashes, until it returns false. r is
// nil for an entry without a row. Entries of no length are left out. It returns false if the entries
// are out of order: then nothing is known of any address.
func (t *Table) EachRow(i, j int, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	if _, err := t.find(0); err != nil && err != ErrNotCovered {
		return false
	}
	var e Entry
	var r row.Row
	for ; i < min(j, t.count); i++ {
		err := t.entry(i, &e)
		if e.Lo >= e.Hi {
			continue
		}
		if err == nil {
			err = t.Row(&e, &r)
		}
		more := false
		if err != nil {
			more = fn(e.Lo, e.Hi, nil, 0)
		} else {
			more = fn(e.Lo, e.Hi, &r, compiled.HashRow(&r))
		}
		if !more {
			return true
		}
	}
	return true
}
