package module

import (
	"math"

	"dbg/arch"
	"dbg/cfi"
	"dbg/image"
	"dbg/orc"
	"dbg/row"
)

// ORC holds the unwind tables of a Linux kernel or of a module that it has loaded.
type ORC struct {
	IP, Unwind, Header Section
	Release            string // the kernel's, or ""
}

// addORC adds the sections of a linked kernel.
func (c *Contents) addORC() {
	if f := c.file; f.Kind() != image.Relocatable && f.HasSection(".orc_unwind") {
		c.ORC = ORC{IP: sectionOf(f, ".orc_unwind_ip"), Unwind: sectionOf(f, ".orc_unwind"), Header: sectionOf(f, ".orc_header"),
			Release: f.KernelRelease()}
	}
}

// orcSources returns the source for the module's ORC, and one for those of its entries that switch the stack in
// inline assembly, which .debug_frame does not know of. They are nil if there is none that can be used. Functions
// preserve no register for them but those that they describe: entries do not tell where the others are.
func (m *Module) orcSources(a *arch.Arch) (all, switches *Source) {
	c := &m.contents.ORC
	if a != arch.AMD64 || len(c.Unwind.Data) == 0 {
		return nil, nil
	}
	t, err := orc.New(orc.Config{IP: c.IP.Data, IPAddr: c.IP.Addr, Unwind: c.Unwind.Data, Header: c.Header.Data,
		Release: c.Release})
	if err != nil {
		return nil, nil
	}
	size := len(c.Unwind.Data) + len(c.IP.Data)
	all = &Source{table: orcTable{t}, arch: a, kind: KindORC, size: size, maxMisses: int64(size / bytesPerMiss)}
	switches = &Source{table: switchTable{orcTable{t}}, arch: a, kind: KindORC, derived: true, maxMisses: math.MaxInt64}
	return all, switches
}

// orcTable is a Table that returns cfi.ErrNotCovered. Its entries are parts of functions, and bound none.
type orcTable struct{ *orc.Table }

func (t orcTable) RowAt(pc uint64, r *row.Row) error {
	err := t.Table.RowAt(pc, r)
	if err == orc.ErrNotCovered {
		return cfi.ErrNotCovered
	}
	return err
}

func (t orcTable) Bounds(uint64) (lo, hi uint64, ok bool) { return 0, 0, false }

func (t orcTable) EachRow(i, j int, fn cfi.RowFunc) bool { return t.Table.EachRow(i, j, fn) }

// switchTable has those entries that find the caller's stack pointer in memory at SP.
type switchTable struct{ orcTable }

func (t switchTable) RowAt(pc uint64, r *row.Row) error {
	if !t.SwitchesStack(pc) {
		return cfi.ErrNotCovered
	}
	return t.orcTable.RowAt(pc, r)
}

func (t switchTable) EachRow(i, j int, fn cfi.RowFunc) bool {
	return t.Table.EachRow(i, j, func(lo, hi uint64, r *row.Row, hash uint64) bool {
		return !t.SwitchesStack(lo) || fn(lo, hi, r, hash)
	})
}
