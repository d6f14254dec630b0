package sframe

import (
	"cmp"
	"math/bits"
	"slices"
)

// index is the decoded form of the FDEs' addresses.
type index struct {
	starts  []uint64 // by ascending address
	ends    []uint64 // of the functions
	entries []uint32 // their numbers in the section
	reach   []uint64 // of each function: the highest end of those before it; nil if no functions overlap
	shift   uint8    // a block has 1<<shift bytes
	blocks  []uint32 // of each block from starts[0] on: the last function that begins at or before its start
}

// sorted returns the index. It is made once.
func (t *Table) sorted() *index {
	x := t.index.Load()
	if x == nil {
		x = t.makeIndex()
		t.index.Store(x) // a second goroutine may have made an equal one
	}
	return x
}

// makeIndex decodes all addresses. The flag for sorted FDEs is not needed, and so need not be right.
// Functions of no size are left out.
func (t *Table) makeIndex() *index {
	x := &index{}
	for i := range t.FDEs {
		if lo, size := t.start(i), t.size(i); size > 0 && lo+size > lo {
			x.entries = append(x.entries, uint32(i))
		}
	}
	slices.SortStableFunc(x.entries, func(a, b uint32) int { return cmp.Compare(t.start(int(a)), t.start(int(b))) })
	n := len(x.entries)
	if n == 0 {
		return x
	}
	x.starts, x.ends = make([]uint64, n), make([]uint64, n)
	reach, overlap := make([]uint64, n), false
	for i, entry := range x.entries {
		x.starts[i] = t.start(int(entry))
		x.ends[i] = x.starts[i] + t.size(int(entry))
		if i > 0 {
			reach[i] = max(reach[i-1], x.ends[i-1])
			overlap = overlap || x.starts[i] < reach[i]
		}
	}
	if overlap {
		x.reach = reach
	}
	x.makeBlocks()
	return x
}

func (x *index) makeBlocks() {
	n := len(x.starts)
	span := x.starts[n-1] - x.starts[0]
	x.shift = uint8(max(0, bits.Len64(span)-bits.Len(uint(n))))
	x.blocks = make([]uint32, span>>x.shift+2)
	k := 0
	for b := range x.blocks {
		from := x.starts[0] + uint64(b)<<x.shift
		for k+1 < n && x.starts[k+1] <= from {
			k++
		}
		x.blocks[b] = uint32(k)
	}
	x.blocks[len(x.blocks)-1] = uint32(n - 1) // its start may be outside of the address space
}

// overlaps reports whether addresses of function i of the index belong to other functions too.
func (x *index) overlaps(i int) bool {
	return x.reach != nil && (x.starts[i] < x.reach[i] || i+1 < len(x.starts) && x.starts[i+1] < x.ends[i])
}

// find returns the number of the FDE that covers pc: the last one that begins at or before it.
func (t *Table) find(pc uint64) (int, error) {
	x := t.sorted()
	if len(x.starts) == 0 || pc < x.starts[0] {
		return 0, ErrNotCovered
	}
	lo, hi := uint32(len(x.starts)-1), uint32(len(x.starts)-1)
	if b := (pc - x.starts[0]) >> x.shift; b < uint64(len(x.blocks)-1) {
		lo, hi = x.blocks[b], x.blocks[b+1] // the function is among lo to hi
	}
	for lo < hi {
		m := (lo + hi + 1) / 2
		if x.starts[m] <= pc {
			lo = m
		} else {
			hi = m - 1
		}
	}
	switch {
	case x.reach != nil && pc < x.reach[lo]:
		at := t.fdes + int(x.entries[lo])*fdeSizes[t.Version]
		return 0, defect(at, "the function at 0x%x begins inside of another function", x.starts[lo])
	case pc >= x.ends[lo]:
		return 0, ErrNotCovered
	}
	return int(x.entries[lo]), nil
}
