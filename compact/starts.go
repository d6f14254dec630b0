package compact

// starts are the addresses at which entries begin, in order, in a form in which they are found fast. A search that is a loop
// ends after another number of rounds each time, which a processor can't foresee: that costs it as much as all the rest. Here a hint
// says for each of some hundred equal ranges of addresses where to look, and there a window of addresses is compared at once.
// Linkers' tables have an entry for some hundred bytes, and ranges of that size.
type starts struct {
	lo    uint32 // where the first range begins
	shift uint8  // a range has 1<<shift bytes
	n     int
	hints []uint16 // the last entry that does not begin behind the range's first address; 0 if all do. The last is for the ranges' end
	cells []uint64 // address<<32 and what belongs to it; then as many ends as a window needs
}

const (
	window   = 4
	maxHints = 2048
)

// newStarts makes the starts of n entries, of which cell gives the cells, in order, none below lo<<32; what is behind the last is
// at end. Each is how many hints there may be for an entry; there are none if their numbers are too large for it.
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

// find is the last entry that does not begin behind addr, which is not below lo; -1 if all do.
func (x *starts) find(addr uint32) int {
	key := uint64(addr)<<32 | (1<<32 - 1)
	if len(x.hints) < 2 {
		return x.search(0, x.n, key)
	}
	i := min(uint((addr-x.lo)>>(x.shift&31)), uint(len(x.hints)-2)) // behind the last entry's address there is no other
	h := (*[2]uint16)(x.hints[i:])
	at, last := int(h[0]), int(h[1])
	if last-at >= window {
		return x.search(at, last-at+1, key)
	}
	c := (*[window]uint64)(x.cells[at:])
	return min(at-1+notAbove(c[0], key)+notAbove(c[1], key)+notAbove(c[2], key)+notAbove(c[3], key), x.n-1)
}

// search is find among n entries from number at on, without jumps that depend on what it finds.
func (x *starts) search(at, n int, key uint64) int {
	for n > 1 {
		h := n >> 1
		at += h & -notAbove(x.cells[at+h], key)
		n -= h
	}
	return at - 1 + notAbove(x.cells[at], key)
}

// notAbove is 1 if v is not above key, else 0. It is compiled to no jump.
func notAbove(v, key uint64) int {
	n := 0
	if v <= key {
		n = 1
	}
	return n
}
