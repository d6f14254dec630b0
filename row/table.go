package row

import (
	"slices"

	"dbg/arch"
)

// Numbers of rules in a Table.
const (
	// NoRule is the number of addresses that no entry covers: a rule of its own, so that a
	// look-up never takes a neighbour's.
	NoRule uint16 = 0
	// AskEntry is the number of addresses for which the table has no answer of its own:
	// the entry is defective, overlaps another one, or there were too many different rules. Its
	// decoder must be asked.
	AskEntry uint16 = 0xffff

	maxRules = 0xfff0
)

// Table is the rows of a module, compiled: the addresses at which rows begin, the number of
// the rules that are valid from there on, and an index of pages. It never
// changes and may be used by several goroutines.
type Table struct {
	base  uint64 // of all offsets
	size  uint64 // what the table covers
	shift uint
	pages []uint32 // the row that is valid at the first address of each page
	lo    []uint32 // where a row begins, from base; the first is 0
	rule  []uint16
	plans []Plan // by number; that of NoRule says nothing
}

// Lookup returns the number of the rules at an address of the file, and the
// plan for it: nil for NoRule and AskEntry.
func (t *Table) Lookup(pc uint64) (*Plan, uint16) {
	off := pc - t.base
	if off >= t.size {
		return nil, NoRule
	}
	page := off >> t.shift
	i, last := int(t.pages[page]), int(t.pages[page+1])
	at := uint32(off)
	lo := t.lo[:last+1]
	for last-i > 8 { // many rows in one page
		mid := int(uint(i+last+1) / 2)
		if lo[mid] <= at {
			i = mid
		} else {
			last = mid - 1
		}
	}
	for i < last && lo[i+1] <= at {
		i++
	}
	n := t.rule[i]
	if n == NoRule || int(n) >= len(t.plans) {
		return nil, n
	}
	return &t.plans[n], n
}

// Rows is the number of rows, those of gaps included.
func (t *Table) Rows() int { return len(t.lo) }

// Rules is the number of different rules.
func (t *Table) Rules() int { return len(t.plans) - 1 }

// Bytes is about how much memory the table takes.
func (t *Table) Bytes() int { return 4*len(t.pages) + 6*len(t.lo) + 400*len(t.plans) }

// Builder collects rows for a Table: of one part of a module, by rising address. Parts can be
// built at the same time by different goroutines; Join makes one table of them.
type Builder struct {
	base uint64
	end  uint64 // of the row added last
	lo   []uint32
	rule []uint16 // 0 and AskEntry, or a number of in plus 1
	last uint16   // of rule
	in   interner
}

// NewBuilder makes a builder for about n rows.
func NewBuilder(n int) *Builder {
	return &Builder{lo: make([]uint32, 0, n), rule: make([]uint16, 0, n)}
}

// Add appends a row that is valid from lo to hi; hash is HashRow of it. Rows come by
// rising address; where one overlaps those before it, the entry must be asked.
func (b *Builder) Add(lo, hi uint64, r *Row, hash uint64) {
	if lo >= hi {
		return
	}
	if lo < b.end {
		b.overlap(lo, hi)
		return
	}
	n, ok := b.in.id(r, hash)
	if n++; !ok {
		n = AskEntry
	}
	b.put(lo, hi, n)
}

// Ask says that the entry must be asked from lo to hi.
func (b *Builder) Ask(lo, hi uint64) {
	switch {
	case lo >= hi:
	case lo < b.end:
		b.overlap(lo, hi)
	default:
		b.put(lo, hi, AskEntry)
	}
}

func (b *Builder) put(lo, hi uint64, n uint16) {
	switch {
	case len(b.lo) == 0:
		b.base = lo
	case lo != b.end:
		b.lo, b.rule = append(b.lo, uint32(b.end-b.base)), append(b.rule, NoRule)
	case n == b.last:
		b.end = hi
		return
	}
	b.lo, b.rule = append(b.lo, uint32(lo-b.base)), append(b.rule, n)
	b.last, b.end = n, hi
}

// overlap takes back what was said from lo on.
func (b *Builder) overlap(lo, hi uint64) {
	end := max(hi, b.end)
	for len(b.lo) > 0 && b.base+uint64(b.lo[len(b.lo)-1]) >= lo {
		b.lo, b.rule = b.lo[:len(b.lo)-1], b.rule[:len(b.rule)-1]
	}
	b.end, b.last = lo, NoRule
	if len(b.rule) > 0 {
		b.last = b.rule[len(b.rule)-1]
	}
	b.put(lo, end, AskEntry)
}

// from takes away what is before an address, which is before b's end.
func (b *Builder) from(addr uint64) {
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

// Join makes a table of parts that follow each other, which are used up. preserved are the registers
// that keep their value where a row says nothing of them. It is nil where there are no rows, or
// where they are too far apart for 32-bit offsets.
func Join(a *arch.Arch, parts []*Builder, preserved arch.RegSet) *Table {
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
	t := &Table{base: base, size: end - base, plans: make([]Plan, 1)}
	if len(parts) == 1 {
		t.lo, t.rule = clip(parts[0].lo), clip(parts[0].rule)
		for _, r := range parts[0].in.rows {
			t.plans = append(t.plans, *NewPlan(a, r, preserved))
		}
		t.index()
		return t
	}
	t.lo, t.rule = make([]uint32, 0, total), make([]uint16, 0, total)
	var all interner
	reached := base
	for _, b := range parts {
		reached = t.join(a, b, &all, preserved, reached)
	}
	t.index()
	return t
}

// join appends a part; reached is the end of what there is.
func (t *Table) join(a *arch.Arch, b *Builder, all *interner, preserved arch.RegSet, reached uint64) uint64 {
	var ids [1 << 16]uint16
	ids[AskEntry] = AskEntry
	for i, r := range b.in.rows {
		n, ok := all.id(r, b.in.hash[i])
		if ids[i+1] = n + 1; !ok {
			ids[i+1] = AskEntry
		} else if int(n)+1 == len(t.plans) {
			t.plans = append(t.plans, *NewPlan(a, r, preserved))
		}
	}
	first := b.base + uint64(b.lo[0])
	switch {
	case len(t.lo) == 0:
	case first > reached:
		t.lo, t.rule = append(t.lo, uint32(reached-t.base)), append(t.rule, NoRule)
	case first < reached: // what both have is nobody's
		for len(t.lo) > 0 && t.base+uint64(t.lo[len(t.lo)-1]) >= first {
			t.lo, t.rule = t.lo[:len(t.lo)-1], t.rule[:len(t.rule)-1]
		}
		t.lo, t.rule = append(t.lo, uint32(first-t.base)), append(t.rule, AskEntry)
		if b.end <= reached {
			return reached
		}
		b.from(reached)
	}
	shift := uint32(b.base - t.base)
	for i, lo := range b.lo {
		t.lo, t.rule = append(t.lo, lo+shift), append(t.rule, ids[b.rule[i]])
	}
	return b.end
}

// clip gives back memory where much of it is not used.
func clip[T any](s []T) []T {
	if cap(s)-len(s) > len(s)/4 {
		return append(make([]T, 0, len(s)), s...)
	}
	return s
}

// index makes the pages, so that there are about four rows in each.
func (t *Table) index() {
	for t.shift = 4; t.size>>t.shift > uint64(len(t.lo))/4+1; t.shift++ {
	}
	n := int((t.size-1)>>t.shift) + 2
	t.pages = make([]uint32, n)
	p := uint32(0)
	for i, lo := range t.lo {
		for first := uint32((uint64(lo) + 1<<t.shift - 1) >> t.shift); p < first; p++ { // pages that begin before this row
			t.pages[p] = uint32(i - 1)
		}
	}
	for ; int(p) < n; p++ {
		t.pages[p] = uint32(len(t.lo) - 1)
	}
}
