package module

import (
	"dbg/arch"
	"dbg/cfi"
	"dbg/compact"
	"dbg/row"
)

// unwindInfo returns the source for the module's __unwind_info, or nil if that is unreadable.
func (m *Module) unwindInfo(a *arch.Arch) *Source {
	t, err := compact.New(compact.Config{Arch: a, Data: m.contents.UnwindInfo.Data, Base: m.contents.Header, Code: m.CodeAt})
	if err != nil {
		return nil
	}
	var starts []uint64
	if m.contents.Starts != nil {
		starts = m.contents.Starts()
	}
	r := compact.NewRefiner(t, starts)
	r.Unrefined = m.contents.Unrefined
	if eh := m.tables.eh; eh != nil {
		r.Escape = eh.RowAt
	}
	s := &Source{table: compactTable{r}, arch: a, kind: KindCompact, size: len(m.contents.UnwindInfo.Data), preserved: a.CalleeSavedSet}
	s.maxMisses = int64(max(len(starts), s.size/4)) // refining one row refines its whole function
	return s
}

// compactTable is a Refiner that returns cfi.ErrNotCovered.
type compactTable struct{ *compact.Refiner }

func (c compactTable) RowAt(pc uint64, r *row.Row) error {
	err := c.Refiner.RowAt(pc, r)
	if err == compact.ErrNotCovered {
		return cfi.ErrNotCovered
	}
	return err
}

func (c compactTable) EachRow(i, j int, fn cfi.RowFunc) bool { return c.Refiner.EachRow(i, j, fn) }
