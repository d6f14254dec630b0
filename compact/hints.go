package compact

// hints say for each of some hundred equal ranges of addresses which entries can cover them, so that a search
// is left with a few. Linkers' tables have an entry for some hundred bytes, and ranges of that size.
type hints struct {
	shift uint8
	at    []uint16 // the last entry that does not begin behind the range's first address; 0 if all do. One more than there are ranges
}

const maxHints = 2048

// newHints makes the hints for n entries in order, at most 65536, whose last one is at end; each is how many hints
// there may be for an entry.
func newHints(n, each int, end uint32, addr func(int) uint32) (h hints) {
	if n < 2 {
		return h
	}
	for end>>h.shift >= min(maxHints, uint32(n*each)) {
		h.shift++
	}
	h.at = make([]uint16, end>>h.shift+2)
	k := 0
	for i := range h.at {
		for k+1 < n && uint64(addr(k+1)) <= uint64(i)<<h.shift {
			k++
		}
		h.at[i] = uint16(k)
	}
	return h
}

// span is which of n entries can be the last that does not begin behind rel: count of them, from at.
func (h *hints) span(rel uint32, n int) (at, count int) {
	i := int(rel >> h.shift)
	if uint(i+1) >= uint(len(h.at)) {
		return 0, n
	}
	at = int(h.at[i])
	return at, int(h.at[i+1]) - at + 1
}
