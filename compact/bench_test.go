package compact_test

import (
	"os"
	"testing"

	"dbg/arch"
	"dbg/compact"
	"dbg/row/compiled"
)

// tenThousand is a table of 10,000 entries, and addresses in it at random.
func tenThousand(b *testing.B) (*compact.Table, []uint64) {
	r := random(7)
	fs, _ := randomFunctions(r, arch.AMD64, 10000)
	end := uint32(0x1000)
	for i := range fs { // without gaps, and a few of them long
		fs[i].addr = end
		end += 16 * uint32(1+r.ExpFloat64()*20)
	}
	tab, err := compact.New(compact.Config{Arch: arch.AMD64, Data: link(r, fs, end, 1000, 3).encode(), Base: base})
	if err != nil {
		b.Fatal(err)
	}
	pcs := make([]uint64, 4096)
	for i := range pcs {
		pcs[i] = base + uint64(fs[r.IntN(len(fs))].addr)
	}
	return tab, pcs
}

// BenchmarkFind looks up addresses at random, and those of one stack again and again.
func BenchmarkFind(b *testing.B) {
	tab, pcs := tenThousand(b)
	for name, n := range map[string]int{"random": 4096, "stack": 32} {
		b.Run(name, func(b *testing.B) {
			var e compact.Entry
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if tab.Find(pcs[i&(n-1)], &e) != nil {
					b.Fatal(pcs[i&(n-1)])
				}
			}
		})
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

// BenchmarkRows makes the rows of a table as linkers write them: some hundred different opcodes, few of them indirect.
func BenchmarkRows(b *testing.B) {
	r := random(8)
	var ops []uint32
	for len(ops) < 300 {
		if d := randomOpcode(r, arch.AMD64); d.kind != compact.FramelessIndirect || len(ops) < 3 {
			ops = append(ops, d.op)
		}
	}
	fs, end := randomFunctions(r, arch.AMD64, 10000)
	for i := range fs {
		fs[i].op = fs[i].op&(7<<28) | ops[r.IntN(len(ops))]
	}
	tab, err := compact.New(compact.Config{Arch: arch.AMD64, Data: link(r, fs, end, 1000, 3).encode(), Base: base,
		Code: func(addr uint64, n int) []byte { return []byte{0x48, 0x81, 0xec, 0, 16, 0, 0}[:n] }})
	if err != nil {
		b.Fatal(err)
	}
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

// BenchmarkFile compiles the whole table of files of 9 MB and 90 MB: rows of bodies, interned, from nothing but the section. A file
// that can't be had is left out.
func BenchmarkFile(b *testing.B) {
	for _, n := range append(addons[1:2:2], largeAddons...) {
		b.Run(n.name, func(b *testing.B) {
			o := open(b, addon(b, n.name, n.version))
			st, err := os.Stat(o.path)
			if err != nil {
				b.Fatal(err)
			}
			a := o.file.Arch()
			entries := 0
			b.ReportAllocs()
			for b.Loop() {
				tab, err := compact.New(o.config)
				if err != nil {
					b.Fatal(err)
				}
				rows := tab.Rows()
				t := compiled.NewBuilder(tab.Entries())
				for e, err := range tab.All() {
					entries++
					if err == nil {
						if u, err := rows.Row(e); err == nil {
							t.Add(e.Lo, e.Hi, &u.Row, u.Hash)
							continue
						}
					}
					t.AskDecoder(e.Lo, e.Hi)
				}
				if compiled.Join(a, []*compiled.Builder{t}, a.CalleeSavedSet) == nil {
					b.Fatal("no table")
				}
			}
			each := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(entries), "ns/entry")
			b.ReportMetric(each/1e6*40e6/float64(st.Size()), "ms/40MB")
		})
	}
}
