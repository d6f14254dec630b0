package compiled

import (
	"slices"

	"dbg/arch"
)

// Join makes a Table of consecutive parts, which must not be used afterwards. The preserved
// registers keep their value if a row has no rule for them. Where parts overlap, the table has
// AskDecoder. Join returns nil if there are no rows, or if they are too far apart for 32-bit
// offsets.
func Join(a *arch.Arch, parts []*Builder, preserved arch.RegSet) *Table {
	defer func(all []*Builder) {
		for _, b := range all {
			b.release()
		}
	}(slices.Clone(parts))
	parts = slices.DeleteFunc(parts, func(b *Builder) bool { return len(b.lo) == 0 })
	if len(parts) == 0 {
		return nil
	}
	base, end := parts[0].base, parts[0].end
	total := 0
	for _, b := range parts {
		if b.end-b.base >= 1<<32 || b.base < base {
			return nil
		}
		end = max(end, b.end)
		total += len(b.lo) + 1
	}
	if end-base >= 1<<32 {
		return nil
	}
	t := &Table{base: base, size: end - base}
	if len(parts) == 1 {
		t.plans = plansOf(a, parts[0].in.rows, preserved)
		t.index(parts[0].lo, parts[0].rule)
		return t
	}
	j := joined{t, make([]uint32, 0, total), make([]uint16, 0, total), interner{}, base}
	for _, b := range parts {
		j.add(b)
	}
	t.plans = plansOf(a, j.all.rows, preserved)
	t.index(j.lo, j.rule)
	return t
}

// joined holds the rows of the parts that have been added so far.
type joined struct {
	*Table
	lo      []uint32
	rule    []uint16
	all     interner
	reached uint64 // the end of the last row
}

// add appends the rows of a part.
func (t *joined) add(b *Builder) {
	var ids [1 << 16]uint16
	ids[AskDecoder] = AskDecoder
	for i, r := range b.in.rows {
		n, ok := t.all.find(b.in.hash[i])
		if !ok {
			n, ok = t.all.add(r, b.in.hash[i])
		}
		if ids[i+1] = n + 1; !ok {
			ids[i+1] = AskDecoder
		}
	}
	first := b.base + uint64(b.lo[0])
	switch {
	case len(t.lo) == 0:
	case first > t.reached:
		t.lo, t.rule = append(t.lo, uint32(t.reached-t.base)), append(t.rule, NoRule)
	case first < t.reached: // both have rows there: ask the decoder
		for len(t.lo) > 0 && t.base+uint64(t.lo[len(t.lo)-1]) >= first {
			t.lo, t.rule = t.lo[:len(t.lo)-1], t.rule[:len(t.rule)-1]
		}
		t.lo, t.rule = append(t.lo, uint32(first-t.base)), append(t.rule, AskDecoder)
		if b.end <= t.reached {
			return
		}
		b.trimBefore(t.reached)
	}
	shift := uint32(b.base - t.base)
	for i, lo := range b.lo {
		t.lo = append(t.lo, lo+shift)
		t.rule = append(t.rule, ids[b.rule[i]])
	}
	t.reached = b.end
}

// trimBefore drops the rows before addr, which is before the end of the last row.
func (b *Builder) trimBefore(addr uint64) {
	if len(b.lo) == 0 || b.base >= addr {
		return
	}
	n := 0
	for n+1 < len(b.lo) && b.base+uint64(b.lo[n+1]) <= addr {
		n++
	}
	b.lo, b.rule = b.lo[n:], b.rule[n:]
	b.lo[0] = uint32(addr - b.base)
}
