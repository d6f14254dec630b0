package dyninfo

import (
	"errors"
	"fmt"
	"sort"

	"dbg/arch"
	"dbg/row"
)

// span is a range of addresses with one row, an alias, or an error.
type span struct {
	lo, hi uint64
	row    row.Row
	err    error

	isAlias bool
	alias   uint64 // the address of the code as which the code at lo behaves
}

// Table holds the rows of one procedure. Several goroutines may use it.
type Table struct {
	Procedure *Procedure
	config    Config
	spans     []span
}

// ErrNotCovered reports that an address is not in the procedure.
var ErrNotCovered = errors.New("no entry covers this address")

func (x *compiler) table() *Table { return &Table{x.p, x.Config, x.spans} }

// add adds a row, if the range is not empty.
func (x *compiler) add(lo, hi uint64, s *state, err error) {
	if lo >= hi {
		return
	}
	sp := span{lo: lo, hi: hi, err: err}
	if err == nil {
		sp.err = s.row(x.Arch, &sp.row)
		sp.row.Lo, sp.row.Hi, sp.row.Source = lo, hi, uint64(x.p.Addr)
	}
	if sp.err != nil {
		sp.err = fmt.Errorf("entry at %s: %w", x.p.Addr, sp.err)
	}
	x.spans = append(x.spans, sp)
}

func (x *compiler) addError(lo, hi uint64, err error) { x.add(lo, hi, nil, err) }

// Name returns the name of the list.
func (t *Table) Name() string { return ListSymbol }

// Bounds returns the procedure's addresses.
func (t *Table) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	return t.Procedure.Start, t.Procedure.End, t.Procedure.Covers(pc)
}

// Entries returns the number of entries: one.
func (t *Table) Entries() int { return 1 }

// RowAt fills r with the row that is valid at an address. ErrNotCovered means that the address is not in
// the procedure.
func (t *Table) RowAt(pc uint64, r *row.Row) error {
	s := t.find(pc)
	if s == nil {
		return ErrNotCovered
	}
	return t.rowOf(s, pc, r)
}

// EachRow calls fn for each range of addresses with one row, until it returns false. r is nil if the rows
// are those of other code, or an error.
func (t *Table) EachRow(fn func(lo, hi uint64, r *row.Row) bool) bool {
	for i := range t.spans {
		s := &t.spans[i]
		r := &s.row
		if s.err != nil || s.isAlias {
			r = nil
		}
		if !fn(s.lo, s.hi, r) {
			return false
		}
	}
	return true
}

// Errors returns the errors of the table's rows.
func (t *Table) Errors() (list []error) {
	for i := range t.spans {
		if t.spans[i].err != nil {
			list = append(list, t.spans[i].err)
		}
	}
	return list
}

func (t *Table) find(pc uint64) *span {
	if !t.Procedure.Covers(pc) {
		return nil
	}
	i := sort.Search(len(t.spans), func(i int) bool { return t.spans[i].hi > pc })
	if i == len(t.spans) || t.spans[i].lo > pc {
		return nil
	}
	return &t.spans[i]
}

func (t *Table) rowOf(s *span, pc uint64, r *row.Row) error {
	switch {
	case s.err != nil:
		return s.err
	case !s.isAlias:
		r.CopyFrom(&s.row)
		return nil
	}
	c := compiler{Config: t.config, p: t.Procedure}
	at := s.alias + (pc - s.lo)
	if err := c.aliasRow(at, r); err != nil {
		return fmt.Errorf("entry at %s: %w", t.Procedure.Addr, err)
	}
	// The row is valid at the same distances around pc, but only inside the region.
	r.Lo, r.Hi = pc-min(pc-s.lo, at-r.Lo), pc+min(s.hi-pc, r.Hi-at)
	r.Source = uint64(t.Procedure.Addr)
	return nil
}

// aliasRow fills r with the row of other code.
func (x *compiler) aliasRow(at uint64, r *row.Row) error {
	if x.Config.Alias == nil {
		return fmt.Errorf("alias of the code at 0x%x, which is not available", at)
	}
	if err := x.Config.Alias(at, r); err != nil {
		return fmt.Errorf("alias of the code at 0x%x: %w", at, err)
	}
	if at < r.Lo || at >= r.Hi {
		return fmt.Errorf("alias of the code at 0x%x: its row is for other code", at)
	}
	if r.RA != returnColumn(x.Arch) && x.Arch.LR == arch.NoReg {
		return fmt.Errorf("alias of the code at 0x%x: its return address is in column %d", at, r.RA)
	}
	return nil
}
