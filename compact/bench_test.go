package compact_test

import (
	"encoding/binary"
	"testing"

	"dbg/arch"
	"dbg/compact"
)

// tenThousand is a table of 10,000 entries, and addresses in it at random.
func tenThousand(b *testing.B) (*compact.Table, []uint64) {
	r := random(7)
	fs, end := randomFunctions(r, arch.AMD64, 10000)
	tab, err := compact.New(compact.Config{Arch: arch.AMD64, Data: link(r, fs, end, 1000, 3).encode(), Base: base,
		Code: func(addr uint64, n int) []byte {
			return binary.LittleEndian.AppendUint32([]byte{0x48, 0x81, 0xec}, 4096)[:n]
		}})
	if err != nil {
		b.Fatal(err)
	}
	pcs := make([]uint64, 4096)
	for i := range pcs {
		pcs[i] = base + uint64(fs[r.IntN(len(fs))].addr)
	}
	return tab, pcs
}

func BenchmarkFind(b *testing.B) {
	tab, pcs := tenThousand(b)
	var e compact.Entry
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if tab.Find(pcs[i&4095], &e) != nil {
			b.Fatal(pcs[i&4095])
		}
	}
}

func BenchmarkAll(b *testing.B) {
	tab, _ := tenThousand(b)
	n := 0
	for b.Loop() {
		for range tab.All() {
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/entry")
}

func BenchmarkRows(b *testing.B) {
	tab, _ := tenThousand(b)
	n := 0
	for b.Loop() {
		rows := tab.Rows()
		for e := range tab.All() {
			rows.Row(e)
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/entry")
}
