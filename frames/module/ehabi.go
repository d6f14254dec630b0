package module

import (
	"dbg/arch"
	"dbg/cfi"
	"dbg/ehabi"
	"dbg/image"
	"dbg/row"
)

// addExceptionIndex finds .ARM.exidx.
func (c *Contents) addExceptionIndex() {
	f := c.file
	s, ok := f.ExceptionIndex()
	if !ok {
		return
	}
	c.ExIdx = Section{Data: s.Data, Addr: uint64(s.Addr)}
	c.ExTab = func(addr uint64, n int) []byte { return f.BytesAt(image.Addr(addr), n) }
	for _, p := range f.Segments() {
		if p.Exec {
			c.CodeEnd = max(c.CodeEnd, uint64(p.Hi))
		}
	}
}

// ehabiSource returns the source for the module's .ARM.exidx, or nil if there is none.
func (m *Module) ehabiSource(a *arch.Arch) *Source {
	c := &m.contents
	if a != arch.ARM || len(c.ExIdx.Data) == 0 {
		return nil
	}
	t, err := ehabi.New(ehabi.Config{Data: c.ExIdx.Data, Addr: c.ExIdx.Addr, End: c.CodeEnd, Bytes: c.ExTab})
	if err != nil {
		return nil
	}
	size := len(c.ExIdx.Data)
	return &Source{table: ehabiTable{t}, arch: a, kind: KindEHABI, size: size, maxMisses: int64(size / bytesPerMiss), preserved: a.CalleeSavedSet}
}

// ehabiTable is a Table that returns cfi.ErrNotCovered.
type ehabiTable struct{ *ehabi.Table }

func (t ehabiTable) RowAt(pc uint64, r *row.Row) error {
	err := t.Table.RowAt(pc, r)
	if err == ehabi.ErrNotCovered {
		return cfi.ErrNotCovered
	}
	return err
}

func (t ehabiTable) EachRow(i, j int, fn cfi.RowFunc) bool { return t.Table.EachRow(i, j, fn) }
