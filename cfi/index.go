package cfi

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// maxParts limits how many parts of one FDE, between FDEs that overlap it, EachRow decodes: each
// part costs the whole entry.
const maxParts = 16

// buildIndex reads every FDE once.
func (t *Table) buildIndex() {
	x := t.exec()
	defer t.done(x)
	list := t.indexByHeader(x)
	if list == nil {
		list = t.indexByScan(x)
	}
	for i := 1; i < len(list); i++ {
		if list[i].lo < list[i-1].hi {
			list = flatten(list)
			t.costly = costly(list)
			break
		}
	}
	t.index = slices.Clip(list)
}

// indexByHeader builds the index in the order of .eh_frame_hdr, whose table is sorted. It returns
// nil if an FDE is missing there or an entry is wrong.
func (t *Table) indexByHeader(x *exec) []span {
	n := t.search.count
	if n == 0 || t.countFDEs() != n {
		return nil
	}
	list := make([]span, 0, n)
	last := uint64(0)
	var e entry
	for i := range n {
		lo := t.headerEntry(i, 0)
		_, err := x.entry(t.headerEntry(i, 1)-t.addr, &e)
		if err != nil || e.lo != lo || i > 0 && lo <= last {
			return nil
		}
		last = lo
		if e.lo < e.hi {
			list = append(list, e.span)
		}
	}
	return list
}

// countFDEs returns the number of FDEs in .eh_frame, or -1 if it cannot count them quickly.
func (t *Table) countFDEs() (n int) {
	if !t.little {
		return -1
	}
	for b := t.data; len(b) >= 4; {
		size := uint64(binary.LittleEndian.Uint32(b))
		switch {
		case size == 0:
		case size < 4 || size >= 0xfffffff0 || size > uint64(len(b)-4):
			return -1
		case binary.LittleEndian.Uint32(b[4:]) != 0:
			n++
		}
		b = b[4+size:]
	}
	return n
}

// indexByScan reads the whole section and sorts the FDEs.
func (t *Table) indexByScan(x *exec) []span {
	var list []span
	add := func(e *entry) {
		if e.lo < e.hi {
			list = append(list, e.span)
		}
	}
	var e entry
	for off := uint64(0); off < uint64(len(t.data)); {
		// For common entries it is enough to read the head.
		if k := x.commonEntry(off, &e); k != nil {
			add(&e)
			off = uint64(e.instr[1])
			continue
		}
		h, err := t.header(off, false)
		if err != nil && h.end <= int(off) {
			break
		}
		if err == nil && !h.empty && !h.isCIE {
			if _, err := x.entry(off, &e); err == nil { // a defect of one entry leaves the others valid
				add(&e)
			}
		}
		off = uint64(h.end)
	}
	if !slices.IsSortedFunc(list, byLo) {
		slices.SortStableFunc(list, byLo) // equal starts stay in the section's order
	}
	return list
}

func byLo(a, b span) int { return cmp.Compare(a.lo, b.lo) }

// flatten splits overlapping spans into disjoint ones. An address belongs to the span that covers
// it and begins last, which is the innermost.
func flatten(list []span) []span {
	var out, open []span // open: spans that may continue, innermost last
	pos := uint64(0)
	upTo := func(end uint64) {
		for pos < end && len(open) > 0 {
			top := open[len(open)-1]
			if to := min(top.hi, end); pos < to {
				out = append(out, span{pos, to, top.off})
				pos = to
			}
			if top.hi > end {
				break
			}
			open = open[:len(open)-1]
		}
		pos = end
	}
	for _, s := range list {
		upTo(s.lo)
		open = append(open, s)
	}
	upTo(1<<64 - 1)
	return out
}

// costly returns the indices of the spans beyond maxParts of one FDE.
func costly(list []span) map[int]bool {
	parts := map[uint64]int{}
	var d map[int]bool
	for i := range list {
		if parts[list[i].off]++; parts[list[i].off] > maxParts {
			if d == nil {
				d = map[int]bool{}
			}
			d[i] = true
		}
	}
	return d
}

// scan calls f for each entry until f returns false. It skips terminators: linkers that join
// sections leave them in the middle (the one in crtend.o is meant to be last). An entry with a
// wrong length ends the scan with an error, because the start of the next entry is then unknown.
func (t *Table) scan(f func(*header) bool) error {
	var h header
	var err error
	for off := uint64(0); off+4 <= uint64(len(t.data)); {
		h, err = t.header(off, false)
		if err != nil && h.end <= int(off) {
			return err
		}
		if err == nil && !h.empty && !f(&h) {
			return nil
		}
		off = uint64(h.end)
	}
	return nil
}

// searchIndex returns the offset of the innermost FDE that covers pc.
func (t *Table) searchIndex(pc uint64) (off uint64, ok bool) {
	t.indexOnce.Do(t.buildIndex)
	lo, hi := 0, len(t.index) // the first span above pc is in [lo, hi]
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if t.index[mid].lo > pc {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == 0 || pc >= t.index[lo-1].hi {
		return 0, false
	}
	return t.index[lo-1].off, true
}
