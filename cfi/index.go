package cfi

import (
	"cmp"
	"slices"
)

// indexed is an FDE of the index.
type indexed struct {
	lo, hi uint64
	maxHi  uint64 // the greatest hi of this and all before it
	off    uint64
}

// maxBack bounds how many overlapping FDEs are looked at for one address.
const maxBack = 4096

// buildIndex scans the section once.
func (t *Table) buildIndex() {
	var list []indexed
	var cie CIE
	t.scan(func(h *header) bool {
		var f FDE
		if h.isCIE || t.fde(h.off, &f, &cie) != nil {
			return true // the others may be good
		}
		cie = f.CIE
		if f.Lo < f.Hi {
			list = append(list, indexed{lo: f.Lo, hi: f.Hi, off: f.Offset})
		}
		return true
	})
	slices.SortStableFunc(list, func(a, b indexed) int { return cmp.Compare(a.lo, b.lo) })
	var top uint64
	for i := range list {
		top = max(top, list[i].hi)
		list[i].maxHi = top
	}
	t.index = slices.Clip(list)
}

// scan calls f for each entry until it returns false. A terminator is stepped
// over: linkers that join sections leave them in the middle (crtend.o's is meant to be
// last). An entry whose length is wrong ends the scan, for nobody knows where the next begins.
func (t *Table) scan(f func(*header) bool) {
	for off := uint64(0); off+4 <= uint64(len(t.data)); {
		h, err := t.header(off, false)
		if err != nil && h.end <= int(off) {
			return
		}
		if err == nil && !h.empty && !f(&h) {
			return
		}
		off = uint64(h.end)
	}
}

// searchIndex finds the innermost FDE that covers pc: of those that overlap the
// one that begins last.
func (t *Table) searchIndex(pc uint64, f *FDE) bool {
	t.indexOnce.Do(t.buildIndex)
	i, _ := slices.BinarySearchFunc(t.index, pc, func(e indexed, pc uint64) int {
		if e.lo > pc {
			return 1
		}
		return -1
	})
	for n := 0; i > 0 && n < maxBack; n++ {
		i--
		e := &t.index[i]
		if e.maxHi <= pc {
			return false
		}
		if pc < e.hi {
			return t.fde(e.off, f, nil) == nil
		}
	}
	return false
}
