package compact

// starts holds the addresses at which entries begin, in order, in a form for fast searches. A
// search with a loop takes a different number of rounds each time, which a processor can't
// predict: that costs as much as everything else together. Instead, a hint for each of some
// hundred equal address ranges gives the place to search, and a window of addresses there is
// compared at once. Linkers' tables have an entry for every few hundred bytes, and the ranges
// have that size.
type starts struct {
	lo    uint32 // start of the first range
	shift uint8  // a range has 1<<shift bytes
	n     int
	hints []uint16 // the last entry that does not begin after the range's first address, or 0; the last hint is for the end of the ranges
	cells []uint64 // address<<32 | payload; then end markers to fill a window
}

const (
	window   = 4
	maxHints = 2048
)

// newStarts makes the starts of n entries. cell returns the cells, in order, none below lo<<32.
// end is the address after the last entry. each limits the number of hints per entry. There are
// no hints if the entry numbers are too large for them.
func newStarts(lo uint32, end uint64, n, each int, cell func(int) uint64) starts {
	x := starts{lo: lo, n: n, cells: make([]uint64, n+window)}
	for i := range x.cells {
		if i < n {
			x.cells[i] = cell(i)
		} else if x.cells[i] = end << 32; end>>32 != 0 {
			x.cells[i] = 1<<64 - 1
		}
	}
	if n > 1<<16 {
		return x
	}
	last := lo
	if n > 0 {
		last = uint32(x.cells[n-1] >> 32)
	}
	for (last-lo)>>x.shift >= uint32(max(1, min(maxHints, n*each))) {
		x.shift++
	}
	x.hints = make([]uint16, (last-lo)>>x.shift+2)
	k := 0
	for i := range x.hints {
		for k+1 < n && x.cells[k+1]>>32 <= uint64(lo)+uint64(i)<<x.shift {
			k++
		}
		x.hints[i] = uint16(k)
	}
	return x
}

// find returns the last entry that does not begin after addr, which must not be below lo. It
// returns -1 if all begin after it.
func (x *starts) find(addr uint32) int {
	key := uint64(addr)<<32 | (1<<32 - 1)
	if len(x.hints) < 2 {
		return x.search(0, x.n, key)
	}
	i := min(uint((addr-x.lo)>>(x.shift&31)), uint(len(x.hints)-2)) // there is no entry after the last entry's address
	h := (*[2]uint16)(x.hints[i:])
	at, last := int(h[0]), int(h[1])
	if last-at >= window {
		return x.search(at, last-at+1, key)
	}
	c := (*[window]uint64)(x.cells[at:])
	return min(at-1+notAbove(c[0], key)+notAbove(c[1], key)+notAbove(c[2], key)+notAbove(c[3], key), x.n-1)
}

// search is find among n entries from index at on, without jumps that depend on the data.
func (x *starts) search(at, n int, key uint64) int {
	for n > 1 {
		h := n >> 1
		at += h & -notAbove(x.cells[at+h], key)
		n -= h
	}
	return at - 1 + notAbove(x.cells[at], key)
}

// notAbove returns 1 if v is not above key, else 0. It is compiled without a jump.
func notAbove(v, key uint64) int {
	n := 0
	if v <= key {
		n = 1
	}
	return n
}
