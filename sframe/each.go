package sframe

import (
	"dbg/row"
	"dbg/row/compiled"
)

// maxRepeats limits the rows that one call of EachRow makes of FDEs whose rows repeat. Real ones are PLTs,
// with a few thousand entries.
const maxRepeats = 1 << 16

// maxPattern limits the size of a block that repeats, in bytes.
const maxPattern = 1 << 12

// rowFunc is called with the row for the addresses from lo to hi, and its hash. r is nil if there is an
// error.
type rowFunc = func(lo, hi uint64, r *row.Row, hash uint64) bool

// eachRow is one call of EachRow.
type eachRow struct {
	t       *Table
	fn      rowFunc
	row     row.Row
	left    int // number of rows that may still be read: FDEs may share rows, and a hostile section does
	repeats int // number of repeated rows that may still be made
	block   []repeated
}

// repeated is a row of a block that repeats. Its addresses are offsets in the block.
type repeated struct {
	lo, hi uint64
	row    row.Row
	bad    bool
	hash   uint64
}

// EachRow calls fn with the rows of FDEs i to j-1, by ascending address, and their hashes, until it
// returns false. r is nil for addresses whose row has an error, and for FDEs with too many rows: ask RowAt
// there. It returns false if nothing is known of any address.
func (t *Table) EachRow(i, j int, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	x := t.sorted()
	each := eachRow{t: t, fn: fn, left: len(t.fres), repeats: maxRepeats}
	var e FDE
	for ; i < min(j, len(x.entries)); i++ {
		err := t.fde(int(x.entries[i]), &e)
		each.left -= e.FREs
		more := false
		switch {
		case err != nil || x.overlaps(i) || each.left < 0 || e.FREs == 0:
			more = fn(e.Lo, e.Hi, nil, 0)
		case e.Masked:
			more = each.repeat(&e)
		default:
			more = each.inOrder(&e)
		}
		if !more {
			return true
		}
	}
	return true
}

// repeat calls fn with the rows of an FDE whose rows repeat. It returns false if fn has.
func (x *eachRow) repeat(e *FDE) bool {
	size, step := e.Hi-e.Lo, uint64(e.Repeat)
	if step > maxPattern || !x.readBlock(e) {
		return x.fn(e.Lo, e.Hi, nil, 0)
	}
	n := (size + step - 1) / step
	if n > uint64(x.repeats) || n*uint64(len(x.block)) > uint64(x.repeats) {
		return x.fn(e.Lo, e.Hi, nil, 0)
	}
	x.repeats -= int(n) * len(x.block)
	for at := uint64(0); at < size; at += step {
		for i := range x.block {
			b := &x.block[i]
			lo, hi := e.Lo+min(at+b.lo, size), e.Lo+min(at+b.hi, size)
			if lo == hi {
				continue
			}
			r := &b.row
			r.Lo, r.Hi = lo, hi
			if b.bad {
				r = nil
			}
			if !x.fn(lo, hi, r, b.hash) {
				return false
			}
		}
	}
	return true
}

// readBlock reads the rows of a block that repeats. It returns false if one of them is malformed.
func (x *eachRow) readBlock(e *FDE) bool {
	x.block = x.block[:0]
	last := -1 // offset of the last row in the section
	for in := uint64(0); in < min(uint64(e.Repeat), e.Hi-e.Lo); in++ {
		var f FRE
		_, _, err := x.t.at(e, in, &f)
		switch {
		case err == ErrNotCovered:
			last = -1
			continue
		case err != nil:
			return false
		case f.Offset == last:
			x.block[len(x.block)-1].hi++
			continue
		}
		last = f.Offset
		b := repeated{lo: in, hi: in + 1}
		b.bad = x.t.Row(e, &f, &b.row) != nil
		b.hash = compiled.HashRow(&b.row)
		x.block = append(x.block, b)
	}
	return true
}

// inOrder calls fn with the rows of an FDE whose rows do not repeat. It returns false if fn has.
func (x *eachRow) inOrder(e *FDE) bool {
	size := e.Hi - e.Lo
	var f, next FRE
	c := x.t.Rows(e)
	for more := c.Next(&f); more; f = next {
		more = c.Next(&next)
		lo, hi := min(uint64(f.Start), size), size
		switch {
		case c.err != nil: // where the malformed row begins is not known
			return x.fn(e.Lo+lo, e.Hi, nil, 0)
		case more:
			hi = min(uint64(next.Start), size)
		}
		if lo < hi && !x.one(e, &f, e.Lo+lo, e.Lo+hi) {
			return false
		}
	}
	return c.err == nil || x.fn(e.Lo, e.Hi, nil, 0)
}

// one calls fn with a row.
func (x *eachRow) one(e *FDE, f *FRE, lo, hi uint64) bool {
	r := &x.row
	if x.t.Row(e, f, r) != nil {
		return x.fn(lo, hi, nil, 0)
	}
	r.Lo, r.Hi = lo, hi
	return x.fn(lo, hi, r, compiled.HashRow(r))
}
