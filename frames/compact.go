package frames

import (
	"errors"

	"dbg/arch"
	"dbg/cfi"
	"dbg/compact"
	"dbg/row"
)

// unwindInfo is the source of the module's __unwind_info; nil if it has none, or one that can't be read at all.
func (m *Module) unwindInfo(a *arch.Arch) *source {
	t, err := compact.New(compact.Config{Arch: a, Data: m.UnwindInfo.Data, Base: m.Header, Code: m.codeAt})
	if err != nil {
		return nil
	}
	s := &source{arch: a, how: Compact, size: len(m.UnwindInfo.Data), preserved: a.CalleeSavedSet}
	s.table = &bodies{t}
	return s
}

// bodies is __unwind_info as a table that takes the format at its word: a function's one row is that of all its
// instructions. Where it refers to __eh_frame it covers nothing, as that has been asked before.
type bodies struct{ *compact.Table }

func (b *bodies) Name() string { return "__unwind_info" }

func (b *bodies) RowAt(pc uint64, r *row.Row) error {
	var e compact.Entry
	err := b.Find(pc, &e)
	if err == nil {
		err = b.Row(&e, r)
	}
	return notCovered(err)
}

// notCovered is what the walk knows for all that leaves an address to others.
func notCovered(err error) error {
	var dwarf *compact.ErrDWARF
	if err == compact.ErrNotCovered || err == compact.ErrNone || errors.As(err, &dwarf) {
		return cfi.ErrNotCovered
	}
	return err
}

func (b *bodies) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	var e compact.Entry
	if b.Find(pc, &e) != nil {
		return 0, 0, false
	}
	return e.Lo, e.Hi, true
}

func (b *bodies) EachRow(i, j int, fn cfi.RowFunc) bool {
	rows := b.Rows()
	return b.Each(i, j, func(e *compact.Entry, err error) bool {
		if err != nil {
			return fn(e.Lo, e.Hi, nil, 0)
		}
		r, err := rows.Row(e)
		switch {
		case err == nil:
			return fn(e.Lo, e.Hi, &r.Row, r.Hash)
		case notCovered(err) == cfi.ErrNotCovered:
			return true
		}
		return fn(e.Lo, e.Hi, nil, 0)
	})
}
