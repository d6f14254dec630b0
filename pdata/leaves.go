package pdata

import (
	"dbg/row"
	"dbg/row/compiled"
)

// Range is a half-open range of addresses.
type Range struct{ Lo, Hi uint64 }

// Leaves are the functions without an entry. The ABI permits that to functions that change neither the
// stack pointer nor a preserved register and call nothing ("x64 exception handling", RUNTIME_FUNCTION;
// "ARM64 exception handling", Leaf functions). Their row is right unless the function has called.
type Leaves struct {
	table *Table
	code  []Range
}

// LeavesOf returns the leaves in ranges of code, which must be ordered by address.
func LeavesOf(t *Table, code []Range) *Leaves { return &Leaves{t, code} }

// Name returns the name of the section that has no entry for them.
func (l *Leaves) Name() string { return l.table.Name() }

// Entries returns the number of ranges of code.
func (l *Leaves) Entries() int { return len(l.code) }

// Bounds returns the bounds of the code around an address that has no entry. It may be that of
// several functions.
func (l *Leaves) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	t := l.table
	t.once.Do(t.load)
	for _, r := range l.code {
		if pc < r.Lo || pc >= r.Hi {
			continue
		}
		lo, hi = r.Lo, r.Hi
		i := t.find(pc)
		if i >= 0 {
			lo = max(lo, t.config.Base+uint64(t.cells[i].hi))
		}
		if i+1 < len(t.cells) {
			hi = min(hi, t.config.Base+uint64(t.cells[i+1].lo))
		}
		return lo, hi, lo <= pc && pc < hi
	}
	return 0, 0, false
}

// RowAt fills r with the row of the leaf at pc. ErrNotCovered means that an entry covers pc, or that
// it is in no range of code.
func (l *Leaves) RowAt(pc uint64, r *row.Row) error {
	lo, hi, ok := l.Bounds(pc)
	if !ok {
		return ErrNotCovered
	}
	l.row(lo, hi, r)
	return nil
}

func (l *Leaves) row(lo, hi uint64, r *row.Row) {
	a := l.table.config.Arch
	var s state
	s.start(a)
	s.fill(r, entryCFA(a))
	r.Lo, r.Hi, r.Source = lo, hi, uint64(len(l.table.config.Data))
}

// EachRow calls fn as Table.EachRow does, for the leaves in ranges i to j-1.
func (l *Leaves) EachRow(i, j int, fn func(lo, hi uint64, r *row.Row, hash uint64) bool) bool {
	t := l.table
	t.once.Do(t.load)
	for _, c := range l.code[max(i, 0):min(j, len(l.code))] {
		for at := c.Lo; at < c.Hi; {
			lo, hi, ok := l.Bounds(at)
			if !ok { // an entry covers it
				k := t.find(at)
				if at = max(at+1, t.config.Base+uint64(t.cells[max(k, 0)].hi)); k < 0 {
					break
				}
				continue
			}
			var r row.Row
			l.row(lo, hi, &r)
			if !fn(lo, hi, &r, compiled.HashRow(&r)) {
				return false
			}
			at = hi
		}
	}
	return true
}
