package module

import (
	"bytes"
	"math"

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

// functionTable returns the source for the function table of a PE image, and that for functions
// without an entry, which comes after all other tables. They are nil if the processor has no such tables.
func (m *Module) functionTable(a *arch.Arch) (entries, leaves *Source) {
	c := &m.contents
	t, err := pdata.New(pdata.Config{Arch: a, Data: c.FunctionTable.Data, Addr: c.FunctionTable.Addr, Base: c.ImageBase, Read: c.ReadImage})
	if err != nil || len(c.FunctionTable.Data) == 0 {
		return nil, nil
	}
	entries = &Source{table: pdataTable{t}, arch: a, kind: KindPData, size: len(c.FunctionTable.Data), preserved: pdata.Preserved(a)}
	entries.maxMisses = int64(entries.size / 4) // making one row makes those of its function
	if c.Go {
		return entries, nil // Go's linker makes no entries for assembly, which may be anything but a leaf
	}
	var code []pdata.Range
	for _, s := range c.Code {
		code = append(code, pdata.Range{Lo: s.Addr, Hi: s.Addr + uint64(len(s.Data))})
	}
	leaves = &Source{table: leafTable{pdata.LeavesOf(t, code)}, arch: a, kind: KindPData, preserved: pdata.Preserved(a), leaves: true, derived: true}
	leaves.maxMisses = math.MaxInt64 // a row is made as fast as it is found
	return entries, leaves
}

// pdataTable is a Table that returns cfi.ErrNotCovered.
type pdataTable struct{ *pdata.Table }

func (t pdataTable) RowAt(pc uint64, r *row.Row) error { return notCovered(t.Table.RowAt(pc, r)) }

func (t pdataTable) EachRow(i, j int, fn cfi.RowFunc) bool { return t.Table.EachRow(i, j, fn) }

// leafTable has the rows of functions without an entry.
type leafTable struct{ *pdata.Leaves }

func (t leafTable) RowAt(pc uint64, r *row.Row) error { return notCovered(t.Leaves.RowAt(pc, r)) }

func (t leafTable) EachRow(i, j int, fn cfi.RowFunc) bool { return t.Leaves.EachRow(i, j, fn) }

func notCovered(err error) error {
	if err == pdata.ErrNotCovered {
		return cfi.ErrNotCovered
	}
	return err
}
