package compact_test

import (
	"testing"

	"dbg/row"
	"dbg/row/compiled"
)

// BenchmarkRefine makes the rows of a whole file, of 9 MB, on one CPU: refined, and as the format has them.
func BenchmarkRefine(b *testing.B) {
	o := open(b, addon(b, "lightningcss-darwin-x64", "1.33.0"))
	for _, c := range []struct {
		name      string
		unrefined bool
	}{{"refined", false}, {"unrefined", true}} {
		b.Run(c.name, func(b *testing.B) {
			x := refiner(o)
			x.Unrefined = c.unrefined
			n := x.Entries()
			b.ReportAllocs()
			for b.Loop() {
				rows := compiled.NewBuilder(n)
				x.EachRow(0, n, func(lo, hi uint64, r *row.Row, hash uint64) bool {
					if r == nil {
						rows.AskDecoder(lo, hi)
					} else {
						rows.Add(lo, hi, r, hash)
					}
					return true
				})
				compiled.Join(o.file.Arch(), []*compiled.Builder{rows}, o.file.Arch().CalleeSavedSet)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/function")
		})
	}
}
