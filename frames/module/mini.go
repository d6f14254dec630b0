package module

import (
	"sync"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/row"
)

// miniDebug returns the file in .gnu_debugdata, or nil if it is missing or unreadable. The first
// call inflates it.
func (m *Module) miniDebug() *image.File {
	m.miniOnce.Do(func() {
		if m.contents.file != nil && m.contents.file.Format() == image.ELF {
			m.contents.reading.Lock()
			defer m.contents.reading.Unlock()
			m.mini, _ = m.contents.file.MiniDebug() // package symbols reports the error
		}
	})
	return m.mini
}

// miniTable is the .debug_frame in .gnu_debugdata. Opening it takes a while, so it is opened at the
// first query that no other table answers.
type miniTable struct {
	m    *Module
	arch *arch.Arch
	once sync.Once
	cfi  *cfi.Table // nil if the section is missing
}

// miniSource returns the source for the module's miniTable, which is the last one.
func (m *Module) miniSource(a *arch.Arch) *Source {
	s := &Source{arch: a, kind: KindCFI, preserved: a.CalleeSavedSet, table: &miniTable{m: m, arch: a}}
	if m.contents.Go {
		s.preserved = arch.RegSet{}
	}
	m.contents.reading.Lock()
	defer m.contents.reading.Unlock()
	packed, _ := m.contents.file.SectionData(".gnu_debugdata")
	s.maxMisses = int64(len(packed) / bytesPerMiss)
	return s
}

func (t *miniTable) open() *cfi.Table {
	t.once.Do(func() {
		if f := t.m.miniDebug(); f != nil {
			t.m.contents.reading.Lock()
			defer t.m.contents.reading.Unlock()
			if d := sectionOf(f, ".debug_frame"); len(d.Data) > 0 {
				t.cfi = cfi.New(cfi.Config{Arch: t.arch, Data: d.Data, Addr: d.Addr, Debug: true})
			}
		}
	})
	return t.cfi
}

func (t *miniTable) Name() string { return ".debug_frame" }

func (t *miniTable) RowAt(pc uint64, r *row.Row) error {
	if c := t.open(); c != nil {
		return c.RowAt(pc, r)
	}
	return cfi.ErrNotCovered
}

func (t *miniTable) Bounds(pc uint64) (lo, hi uint64, ok bool) {
	if c := t.open(); c != nil {
		return c.Bounds(pc)
	}
	return 0, 0, false
}

func (t *miniTable) Entries() int {
	if c := t.open(); c != nil {
		return c.Entries()
	}
	return 0
}

func (t *miniTable) EachRow(i, j int, fn cfi.RowFunc) bool {
	if c := t.open(); c != nil {
		return c.EachRow(i, j, fn)
	}
	return true
}
