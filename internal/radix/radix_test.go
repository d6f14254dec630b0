package radix

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSort compares with the library's stable sort: few and many addresses, close together and far
// apart, with many equal ones.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, span := range []uint64{1, 2, 1000, 1 << 22, 1 << 40, 1<<64 - 1} {
		for _, n := range []int{0, 1, 2, 100, 10_000} {
			addr, num := make([]uint64, n), make([]uint32, n)
			low := r.Uint64N(1 << 20)
			for i := range addr {
				addr[i], num[i] = r.Uint64N(span), uint32(i)
				if span < 1<<60 {
					addr[i] += low
				}
			}
			want := slices.Clone(num)
			before := slices.Clone(addr)
			slices.SortStableFunc(want, func(a, b uint32) int {
				switch {
				case before[a] < before[b]:
					return -1
				case before[a] > before[b]:
					return 1
				}
				return 0
			})
			Sort(addr, num)
			if !slices.Equal(num, want) || !slices.IsSorted(addr) {
				t.Errorf("%d addresses within %d: wrong order", n, span)
			}
		}
	}
}
