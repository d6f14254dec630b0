package dyninfo

import (
	"testing"

	"dbg/arch"
	"dbg/row"
)

// BenchmarkRowAt measures a look-up.
func BenchmarkRowAt(b *testing.B) {
	var regions []Region
	for range 20 {
		regions = append(regions, Region{Count: 10, Ops: []Op{{Tag: Add, Reg: rsp, Val: -8, When: 3}, {Tag: SpillSPRel,
			Reg: rbx, When: 3}}})
	}
	table, err := New(&Procedure{Info: Info{Start: 0x1000, End: 0x10c8}, Regions: regions}, Config{Arch: arch.AMD64})
	if err != nil {
		b.Fatal(err)
	}
	var r row.Row
	if n := testing.AllocsPerRun(100, func() { table.RowAt(0x1064, &r) }); n != 0 {
		b.Errorf("a look-up allocates %v times", n)
	}
	i := uint64(0)
	for b.Loop() {
		table.RowAt(0x1000+i%200, &r)
		i += 37
	}
}

// FuzzProcedure compiles whatever memory contains.
func FuzzProcedure(f *testing.F) {
	for i, l := range layouts {
		e := newEncoder(l)
		e.regions([]Region{call, {Count: 8, Ops: []Op{{Tag: Add, Reg: rsp, Val: -8}, {Tag: LabelState, Val: 3,
			When: -1}}}, {Count: 9, Ops: []Op{{Tag: PopFrames, Val: 1}}},
			{Count: -4, Ops: []Op{{Tag: CopyState, Val: 3, When: -1}, {Tag: Alias, Val: 0x1004, When: -1}}}})
		f.Add(e.data, uint8(i), uint64(0x1000), uint64(0x1040))
	}
	f.Fuzz(func(t *testing.T, data []byte, kind uint8, start, end uint64) {
		l := layouts[kind%4]
		m := &memory{0x10000, data}
		l.ReadList(m, Header{First: 0x10000})
		x := Info{Start: start, End: max(start, end), Regions: 0x10000}
		p, err := l.ReadProcedure(m, x)
		if err != nil {
			return
		}
		a := arch.All()[int(kind/4)%len(arch.All())]
		depth := 0
		var table *Table
		table, err = New(p, Config{Arch: a, Alias: func(pc uint64, r *row.Row) error {
			if depth++; depth > 4 || table == nil {
				return ErrNotCovered
			}
			return table.RowAt(pc, r)
		}})
		if err != nil {
			return
		}
		at := x.Start
		for i := range table.spans {
			s := &table.spans[i]
			if s.lo != at || s.hi <= s.lo {
				t.Fatalf("row %d covers 0x%x..0x%x, after 0x%x", i, s.lo, s.hi, at)
			}
			at = s.hi
			var r row.Row
			depth = 0
			if err := table.RowAt(s.lo, &r); err == nil && (r.Lo > s.lo || r.Hi <= s.lo) {
				t.Fatalf("the row of 0x%x covers 0x%x..0x%x", s.lo, r.Lo, r.Hi)
			}
		}
		if at != x.End {
			t.Fatalf("the rows end at 0x%x instead of 0x%x", at, x.End)
		}
	})
}
