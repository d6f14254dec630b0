package cfi

import (
	"dbg/row"
	"dbg/row/compiled"
)

// RowFunc receives a row that is valid from lo up to but not including hi. The row is valid until
// RowFunc returns. Its own Lo and Hi come from its entry, and may be wider than [lo, hi) where
// entries overlap. hash is compiled.HashRow of it.
//
// A nil row means that the entry has a defect for these addresses, which RowAt returns.
//
// A result of false ends the iteration.
type RowFunc func(lo, hi uint64, r *row.Row, hash uint64) bool

// Entries returns the number of entries that EachRow iterates over. It is not the number of FDEs:
// empty and unreadable FDEs are not counted, and an FDE that others overlap counts once for each
// remaining part.
func (t *Table) Entries() int {
	t.indexOnce.Do(t.buildIndex)
	return len(t.index)
}

// EntryRange returns the range of addresses of entry i. Ranges ascend with i and do not overlap.
func (t *Table) EntryRange(i int) (lo, hi uint64) {
	t.indexOnce.Do(t.buildIndex)
	return t.index[i].lo, t.index[i].hi
}

// EachRow calls fn for all rows of the entries from i up to but not including j, by ascending
// address; ranges do not overlap. For every address the row equals that of RowAt, unless
// .eh_frame_hdr prefers another of several overlapping FDEs. EachRow returns false if fn did.
func (t *Table) EachRow(i, j int, fn RowFunc) bool {
	t.indexOnce.Do(t.buildIndex)
	x := t.exec()
	defer t.done(x)
	x.begin(&x.own)
	for k := max(i, 0); k < min(j, len(t.index)); k++ {
		s := &t.index[k]
		if t.costly[k] {
			if !fn(s.lo, s.hi, nil, 0) {
				return false
			}
		} else if !x.sweep(s, fn) {
			return false
		}
	}
	return true
}

// sweep passes the rows of one span of the index to fn.
func (x *exec) sweep(s *span, fn RowFunc) bool {
	var e entry
	k, err := x.entry(s.off, &e)
	if err == nil {
		err = x.start(&e, k)
	}
	if err != nil {
		return fn(s.lo, s.hi, nil, 0)
	}
	r := &x.own
	for lo := e.lo; lo < s.hi; {
		at, err := x.run()
		if err != nil {
			return fn(max(lo, s.lo), s.hi, nil, 0)
		}
		r.Lo, r.Hi = lo, min(at, e.hi)
		x.loc, lo = at, at
		if r.Hi <= s.lo {
			continue
		}
		if x.t.darwin {
			if d, err := x.darwinRow(); err != nil {
				if !fn(max(r.Lo, s.lo), min(r.Hi, s.hi), nil, 0) {
					return false
				}
			} else if !fn(max(r.Lo, s.lo), min(r.Hi, s.hi), d, compiled.HashRow(d)) {
				return false
			}
			continue
		}
		if !fn(max(r.Lo, s.lo), min(r.Hi, s.hi), r, x.hash()) {
			return false
		}
	}
	return true
}

// Batches returns the number of entries that EachBatch iterates over. It may exceed Entries, and
// may change after EachBatch has returned false.
func (t *Table) Batches() int {
	t.headerOnce.Do(func() { t.headerWhole.Store(t.search.count > 0 && t.countFDEs() == t.search.count) })
	if t.headerWhole.Load() {
		return t.search.count
	}
	return t.Entries()
}

// EachBatch is like EachRow, with all rows of an entry at once. It calls batch for each entry that
// an automaton of c can execute, and fn for the rows of the others, all by ascending address. A
// batch is valid until batch returns, the numbers in it until EachBatch returns. c saves the
// automaton for the next table.
//
// Entries are read once, in the order of .eh_frame_hdr, if that has as many entries as the section.
// If one of them does not follow the one before, EachBatch returns false. The caller then drops all
// rows of the table and calls EachBatch again, which uses the index.
func (t *Table) EachBatch(c *Compiler, i, j int, batch func(*compiled.Batch), fn RowFunc) bool {
	n := t.Batches()
	i, j = max(i, 0), min(j, n)
	x := t.exec()
	defer t.done(x)
	m := c.take()
	x.join(m)
	x.begin(&x.own)
	defer func() {
		m.version = x.last
		c.giveBack(m)
	}()
	b := batches{x, m, batch, fn}
	if t.headerWhole.Load() {
		if b.byHeader(i, j) {
			return true
		}
		t.headerWhole.Store(false)
		return false
	}
	if n != t.Entries() {
		return false // another goroutine has found the header wrong since
	}
	for k := i; k < j; k++ {
		s := &t.index[k]
		if t.costly[k] {
			fn(s.lo, s.hi, nil, 0)
			continue
		}
		var e entry
		c, err := x.entry(s.off, &e)
		b.add(c, &e, s, err)
	}
	return true
}

// batches holds the working state of EachBatch.
type batches struct {
	x     *exec
	m     *automaton
	batch func(*compiled.Batch)
	fn    RowFunc
}

// add emits the rows of an entry within s.
func (b *batches) add(k *cieState, e *entry, s *span, err error) {
	if err == nil && e.lo == s.lo && e.hi == s.hi && !b.x.t.darwin && b.m.batch(b.x, k, e) {
		b.batch(&b.m.out)
	} else {
		b.x.sweep(s, b.fn)
	}
}

// byHeader iterates over entries of .eh_frame_hdr. It returns false if one of them is wrong.
func (b *batches) byHeader(i, j int) bool {
	t := b.x.t
	var e entry
	last, end := uint64(0), uint64(0) // start of the previous entry, and end of the last nonempty one
	for k := i - 1; k >= 0 && end == 0; k-- {
		if _, err := b.x.entry(t.headerEntry(k, 1)-t.addr, &e); err != nil {
			return false
		}
		if last = max(last, e.lo); e.lo < e.hi {
			end = e.hi
		}
	}
	for k := i; k < j; k++ {
		c, err := b.x.entry(t.headerEntry(k, 1)-t.addr, &e)
		// Entries ascend, so each occurs once; their number equals the number of FDEs, so all
		// occur.
		if err != nil || k > 0 && e.lo <= last {
			return false
		}
		if last = e.lo; e.lo < e.hi {
			if e.lo < end {
				return false
			}
			end = e.hi
			b.add(c, &e, &e.span, nil)
		}
	}
	return true
}
