package module

import (
	"sort"
	"sync"

	"dbg/arch"
	"dbg/cfi"
	"dbg/compact"
	"dbg/row"
)

// stubTable provides the rows of one of a Mach-O file's stub sections. No table covers those: the
// rows are derived from the code.
type stubTable struct {
	arch *arch.Arch
	name string
	kind compact.StubKind
	Section

	once sync.Once
	rows []row.Row
	hash []uint64
}

// stubs returns the sources for the module's stubs.
func (m *Module) stubs(a *arch.Arch) (list []*Source) {
	for _, s := range m.contents.Stubs {
		kind := compact.Stubs
		if s.Name == "__stub_helper" {
			kind = compact.StubHelper
		}
		t := &stubTable{arch: a, name: s.Name, kind: kind, Section: s.Section}
		list = append(list, &Source{table: t, arch: a, kind: KindCompact, size: len(s.Data), preserved: a.CalleeSavedSet, derived: true})
	}
	return list
}

func (t *stubTable) load() {
	t.once.Do(func() {
		compact.StubRows(t.arch, t.kind, t.Addr, t.Data, func(lo, hi uint64, r *row.Row, hash uint64) bool {
			n := len(t.rows)
			if n > 0 && t.hash[n-1] == hash && t.rows[n-1].Hi == lo {
				t.rows[n-1].Hi = hi
				return true
			}
			t.rows, t.hash = append(t.rows, row.Row{}), append(t.hash, hash)
			t.rows[n].CopyFrom(r)
			return true
		})
	})
}

func (t *stubTable) Name() string { return t.name }

func (t *stubTable) RowAt(pc uint64, r *row.Row) error {
	if pc-t.Addr >= uint64(len(t.Data)) {
		return cfi.ErrNotCovered
	}
	t.load()
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].Hi > pc })
	if i == len(t.rows) || pc < t.rows[i].Lo {
		return cfi.ErrNotCovered
	}
	r.CopyFrom(&t.rows[i])
	return nil
}

func (t *stubTable) Bounds(uint64) (lo, hi uint64, ok bool) { return 0, 0, false }

func (t *stubTable) Entries() int {
	t.load()
	return len(t.rows)
}

func (t *stubTable) EachRow(i, j int, fn cfi.RowFunc) bool {
	t.load()
	for k := max(i, 0); k < min(j, len(t.rows)); k++ {
		if r := &t.rows[k]; !fn(r.Lo, r.Hi, r, t.hash[k]) {
			return false
		}
	}
	return true
}
