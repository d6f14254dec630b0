package orc

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"dbg/row"
)

func benchmarkTable(tb testing.TB, n int, shuffled bool) (*Table, []uint64) {
	r := rand.New(rand.NewPCG(1, 2))
	x := encoder{version: V4, ipAddr: base + 1<<26}
	addrs := make([]uint64, n)
	at := uint64(base)
	for i := range addrs {
		addrs[i] = at
		at += 1 + r.Uint64N(30)
	}
	order := r.Perm(n)
	for i := range n {
		if !shuffled {
			order[i] = i
		}
		x.add(addrs[order[i]], randomEntry(r, V4))
	}
	table, err := New(x.config())
	if err != nil {
		tb.Fatal(err)
	}
	r.Shuffle(n, func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	return table, addrs
}

func TestLookupDoesNotAllocate(t *testing.T) {
	table, addrs := benchmarkTable(t, 10000, false)
	var r row.Row
	for _, a := range addrs {
		_ = table.RowAt(a, &r)
	}
	i := 0
	if n := testing.AllocsPerRun(5000, func() { _ = table.RowAt(addrs[i], &r); i++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{10_000, 400_000} {
		for _, shuffled := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/shuffled=%v", n, shuffled), func(b *testing.B) {
				table, addrs := benchmarkTable(b, n, shuffled)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if i == 4096 {
						i = 0
					}
					if _, err := table.find(addrs[i]); err != nil && err != ErrNotCovered {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
