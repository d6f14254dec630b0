package compact_test

import (
	"io"
	"testing"

	"dbg/arch"
	"dbg/compact"
	"dbg/row"
)

// Whatever the bytes: no panic, bounded time, and Find and All agree.
func FuzzTable(f *testing.F) {
	r := random(9)
	for _, a := range []*arch.Arch{arch.AMD64, arch.I386, arch.ARM64} {
		fs, end := randomFunctions(r, a, 60)
		f.Add(link(r, fs, end, 20, 2, 3).encode(), uint8(0), uint32(5))
	}
	f.Add(sample().encode(), uint8(1), uint32(0x123))
	archs := []*arch.Arch{arch.AMD64, arch.I386, arch.ARM64, arch.RISCV64}
	f.Fuzz(func(t *testing.T, data []byte, which uint8, off uint32) {
		a := archs[which%4]
		tab, err := compact.New(compact.Config{Arch: a, Data: data, Base: base, Code: func(addr uint64, n int) []byte {
			return []byte{0x48, 0x81, 0xec, 0, 1, 0, 0}[:n]
		}})
		if err != nil {
			return
		}
		agree(t, tab, base)
		var e compact.Entry
		var w row.Row
		rows := tab.Rows()
		for _, pc := range []uint64{base + uint64(off), base, base + 0x100, uint64(off)} {
			if tab.Find(pc, &e) == nil && (pc < e.Lo || pc >= e.Hi) {
				t.Fatalf("Find(%#x) is %+v", pc, e)
			}
		}
		for e, err := range tab.All() {
			if err != nil {
				continue
			}
			err1 := tab.Row(e, &w)
			u, err2 := rows.Row(e)
			if (err1 == nil) != (err2 == nil) || err1 == nil && w.Format(a) != u.Row.Format(a) {
				t.Fatalf("%+v: %v and %v", *e, err1, err2)
			}
			tab.LSDA(e)
			tab.Personality(e)
			_ = e.Opcode.String(a)
		}
		last := uint64(0)
		tab.EachFunction(func(lo, hi uint64, first *compact.Entry) bool {
			if lo < last || hi <= lo {
				t.Fatalf("function %#x to %#x behind %#x", lo, hi, last)
			}
			last = hi
			return true
		})
		for range tab.Pages() {
		}
		tab.Print(io.Discard)
	})
}
