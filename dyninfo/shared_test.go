package dyninfo

import (
	"testing"

	"dbg/arch"
	"dbg/row"
)

// TestSharedRegions: two procedures of different length have one list of regions, the last of which ends where the
// procedure ends (the manual's section on region descriptors).
func TestSharedRegions(t *testing.T) {
	e := newEncoder(layouts[0])
	first := e.regions([]Region{
		{Count: 2, Ops: []Op{{Tag: Add, Reg: rsp, Val: -24}}},
		{Count: -3, Ops: []Op{{Tag: Add, Reg: rsp, Val: 24, When: 1}}},
	})
	for _, size := range []uint64{8, 100} {
		p, err := e.ReadProcedure(&e.memory, Info{Start: 0x1000, End: 0x1000 + size, Regions: first})
		if err != nil {
			t.Fatal(err)
		}
		table, err := New(p, Config{Arch: arch.AMD64})
		if err != nil {
			t.Fatal(err)
		}
		for off, want := range map[uint64]int64{0: 8, 1: 32, 2: 32, size - 3: 32, size - 2: 32, size - 1: 8} {
			var r row.Row
			if err := table.RowAt(0x1000+off, &r); err != nil || r.CFA.N != want {
				t.Errorf("%d bytes, offset %d: CFA=rsp%+d, %v; want %+d", size, off, r.CFA.N, err, want)
			}
		}
	}
}
