package ehabi

import "math/bits"

// index is the decoded form of the entries' addresses.
type index struct {
	starts []uint32 // by ascending address, without the bit for Thumb
	end    uint64   // of the last entry
	shift  uint8    // a block has 1<<shift bytes
	blocks []uint32 // of each block from starts[0] on: the last entry that begins at or before its start
	err    error    // the entries are out of order
}

// makeIndex decodes all addresses.
func (t *Table) makeIndex() *index {
	x := &index{}
	if t.count == 0 {
		return x
	}
	x.starts = make([]uint32, t.count)
	for i := range x.starts {
		x.starts[i] = uint32(t.start(i)) &^ 1
		if i > 0 && x.starts[i] < x.starts[i-1] {
			return &index{err: defect(i*entrySize, "the entries are out of order: 0x%x after 0x%x", x.starts[i], x.starts[i-1])}
		}
	}
	x.end = t.end(t.count - 1)
	span := uint64(x.starts[t.count-1] - x.starts[0])
	x.shift = uint8(max(0, bits.Len64(span)-bits.Len(uint(t.count))))
	x.blocks = make([]uint32, span>>x.shift+2)
	k := 0
	for b := range x.blocks {
		from := uint64(x.starts[0]) + uint64(b)<<x.shift
		for k+1 < t.count && uint64(x.starts[k+1]) <= from {
			k++
		}
		x.blocks[b] = uint32(k)
	}
	return x
}

// find returns the number of the entry that covers pc: the last one that begins at or before it.
func (t *Table) find(pc uint64) (int, error) {
	x := t.index.Load()
	if x == nil {
		x = t.makeIndex()
		t.index.Store(x) // a second goroutine may have made an equal one
	}
	if x.err != nil {
		return 0, x.err
	}
	if len(x.starts) == 0 || pc < uint64(x.starts[0]) || pc >= x.end {
		return 0, ErrNotCovered
	}
	b := (pc - uint64(x.starts[0])) >> x.shift
	if b >= uint64(len(x.blocks)-1) {
		return len(x.starts) - 1, nil
	}
	lo, hi := x.blocks[b], x.blocks[b+1] // the entry is among lo to hi
	for lo < hi {
		m := (lo + hi + 1) / 2
		if uint64(x.starts[m]) <= pc {
			lo = m
		} else {
			hi = m - 1
		}
	}
	return int(lo), nil
}
