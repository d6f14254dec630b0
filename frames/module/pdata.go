package module

import (
	"bytes"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/pdata"
	"dbg/row"
)

// addPE adds to the contents what only a PE image has.
func (c *Contents) addPE() {
	f := c.file
	if data, addr, ok := f.FunctionTable(); ok {
		c.FunctionTable = Section{Data: data, Addr: uint64(addr)}
	}
	c.ImageBase = uint64(f.ImageBase())
	c.ReadImage = func(addr uint64, n int) []byte { return f.Bytes(image.Addr(addr), n) }
	for _, s := range f.Segments() {
		if b := f.ContentsFrom(s.Lo); s.Exec && s.Name != ".text" && b != nil {
			c.Code = append(c.Code, Section{Data: b, Addr: uint64(s.Lo)})
		}
	}
	if s := sectionOf(f, ".data"); s.Data != nil {
		c.Go = bytes.HasPrefix(s.Data, []byte("\xff Go buildinf:")) || f.HasSection(".go.buildinfo")
	}
}

// functionTable returns the source for the function table of a PE image, or nil if the processor
// has none.
func (m *Module) functionTable(a *arch.Arch) *Source {
	c := pdata.Config{Arch: a, Data: m.contents.FunctionTable.Data, Addr: m.contents.FunctionTable.Addr, Base: m.contents.ImageBase,
		Read: m.contents.ReadImage}
	// Go's linker makes no entries for assembly, which may be anything but a leaf.
	if !m.contents.Go {
		for _, s := range m.contents.Code {
			c.Leaves = append(c.Leaves, pdata.Range{Lo: s.Addr, Hi: s.Addr + uint64(len(s.Data))})
		}
	}
	t, err := pdata.New(c)
	if err != nil {
		return nil
	}
	s := &Source{table: pdataTable{t}, arch: a, kind: KindPData, size: len(c.Data), preserved: pdata.Preserved(a)}
	s.maxMisses = int64(s.size / 4) // making one row makes those of its function
	return s
}

// pdataTable is a Table that returns cfi.ErrNotCovered.
type pdataTable struct{ *pdata.Table }

func (t pdataTable) RowAt(pc uint64, r *row.Row) error {
	err := t.Table.RowAt(pc, r)
	if err == pdata.ErrNotCovered {
		return cfi.ErrNotCovered
	}
	return err
}

func (t pdataTable) EachRow(i, j int, fn cfi.RowFunc) bool { return t.Table.EachRow(i, j, fn) }
