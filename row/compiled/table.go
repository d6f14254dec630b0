package compiled

import (
	"slices"
	"sync"

	"dbg/arch"
	"dbg/row"
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

// Table is the rows of a module, compiled: for each page of addresses the places in it at which rows begin, with
// the number of the rules that are valid from there on. It never
// changes and may be used by several goroutines.
type Table struct {
	base  uint64   // of all offsets
	size  uint64   // what the table covers
	shift uint     // of a page; at most 16
	count int      // of rows
	pages []uint32 // the first of each page's marks, and the end of the last's
	marks []mark
	plans []Plan // by number; that of NoRule says nothing
}

// mark is where a row begins, or a page, from the page's start, and the number of the rules there.
type mark uint32

func newMark(off uint32, rule uint16) mark { return mark(off<<16 | uint32(rule)) }

// Lookup returns the number of the rules at an address of the file, and the
// plan for it: nil for NoRule and AskEntry.
func (t *Table) Lookup(pc uint64) (*Plan, uint16) {
	off := pc - t.base
	if off >= t.size {
		return nil, NoRule
	}
	page := off >> t.shift
	i, end := t.pages[page], t.pages[page+1]
	at := newMark(uint32(off&(1<<t.shift-1)), 0xffff)
	marks := t.marks[:end]
	for end-i > 12 { // many rows in one page
		if mid := (i + end) / 2; marks[mid] <= at {
			i = mid
		} else {
			end = mid
		}
	}
	for i++; i < end && marks[i] <= at; i++ {
	}
	n := uint16(marks[i-1])
	if n == NoRule || int(n) >= len(t.plans) {
		return nil, n
	}
	return &t.plans[n], n
}

// Rows is the number of rows, those of gaps included.
func (t *Table) Rows() int { return t.count }

// Rules is the number of different rules.
func (t *Table) Rules() int { return len(t.plans) - 1 }

// Bytes is about how much memory the table takes.
func (t *Table) Bytes() int { return 4*len(t.pages) + 4*len(t.marks) + 400*len(t.plans) }

// Builder collects rows for a Table: of one part of a module, by rising address. Parts can be
// built at the same time by different goroutines; Join makes one table of them.
type Builder struct {
	base uint64
	end  uint64 // of the row added last
	lo   []uint32
	rule []uint16 // 0 and AskEntry, or a number of in plus 1
	last uint16   // of rule
	in   interner
	ids  []uint16  // those of a batch's rules, 0 where not known yet
	home *Builders // that it returns to; nil if it is garbage after Join
}

// NewBuilder makes a builder for about n rows.
func NewBuilder(n int) *Builder { return new(Builder).grow(n) }

func (b *Builder) grow(n int) *Builder {
	b.lo, b.rule = slices.Grow(b.lo, n), slices.Grow(b.rule, n)
	return b
}

// Builders saves the memory of builders that Join has used up for the next of a program's many
// files. The zero value is empty. It may be used by several goroutines.
type Builders struct{ free sync.Pool } // of *Builder

// New is NewBuilder with memory that was used before, if there is any. Join returns it.
func (p *Builders) New(n int) *Builder {
	b, ok := p.free.Get().(*Builder)
	if !ok {
		b = &Builder{home: p}
	}
	return b.grow(n)
}

// release returns a builder to its Builders, without what it has interned.
func (b *Builder) release() {
	if b.home == nil {
		return
	}
	clear(b.ids)
	clear(b.in.slots)
	*b = Builder{home: b.home, lo: b.lo[:0], rule: b.rule[:0], ids: b.ids,
		in: interner{hash: b.in.hash[:0], slots: b.in.slots}}
	b.home.free.Put(b)
}

// Add appends a row that is valid from lo to hi; hash is HashRow of it. Rows come by
// rising address; where one overlaps those before it, the entry must be asked.
func (b *Builder) Add(lo, hi uint64, r *row.Row, hash uint64) {
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
		b.start(b.end, NoRule)
	case n == b.last:
		b.end = hi
		return
	}
	b.start(lo, n)
	b.last, b.end = n, hi
}

// start begins a row.
func (b *Builder) start(lo uint64, n uint16) {
	b.lo = append(b.lo, uint32(lo-b.base))
	b.rule = append(b.rule, n)
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
		t.plans = ownPlans(a, parts[0].in.rows, preserved)
		t.index(parts[0].lo, parts[0].rule)
		return t
	}
	j := joined{t, make([]uint32, 0, total), make([]uint16, 0, total), interner{}, base}
	for _, b := range parts {
		j.add(b)
	}
	t.plans = ownPlans(a, j.all.rows, preserved)
	t.index(j.lo, j.rule)
	return t
}

// joined is the rows of the parts so far.
type joined struct {
	*Table
	lo      []uint32
	rule    []uint16
	all     interner
	reached uint64 // the end of what there is
}

func (t *joined) add(b *Builder) {
	var ids [1 << 16]uint16
	ids[AskEntry] = AskEntry
	for i, r := range b.in.rows {
		n, ok := t.all.find(b.in.hash[i])
		if !ok {
			n, ok = t.all.add(r, b.in.hash[i])
		}
		if ids[i+1] = n + 1; !ok {
			ids[i+1] = AskEntry
		}
	}
	first := b.base + uint64(b.lo[0])
	switch {
	case len(t.lo) == 0:
	case first > t.reached:
		t.lo, t.rule = append(t.lo, uint32(t.reached-t.base)), append(t.rule, NoRule)
	case first < t.reached: // what both have is nobody's
		for len(t.lo) > 0 && t.base+uint64(t.lo[len(t.lo)-1]) >= first {
			t.lo, t.rule = t.lo[:len(t.lo)-1], t.rule[:len(t.rule)-1]
		}
		t.lo, t.rule = append(t.lo, uint32(first-t.base)), append(t.rule, AskEntry)
		if b.end <= t.reached {
			return
		}
		b.from(t.reached)
	}
	shift := uint32(b.base - t.base)
	for i, lo := range b.lo {
		t.lo = append(t.lo, lo+shift)
		t.rule = append(t.rule, ids[b.rule[i]])
	}
	t.reached = b.end
}

// index makes the pages, so that there are some four rows in each.
func (t *Table) index(lo []uint32, rule []uint16) {
	t.count = len(lo)
	for t.shift = 4; t.shift < 16 && t.size>>t.shift > uint64(len(lo))/rowsPerPage+1; t.shift++ {
	}
	n := int((t.size-1)>>t.shift) + 1
	t.pages = make([]uint32, n+1)
	marks := make([]mark, len(lo)+n)
	page, k, before := uint32(0), 0, NoRule
	shift, mask := t.shift&31, uint32(1)<<t.shift-1
	rule = rule[:len(lo)]
	for i, at := range lo {
		for p := at >> shift; page < p; {
			// The next page begins with the row from before, if this one does not begin there.
			page++
			t.pages[page] = uint32(k)
			if page < p || at&mask != 0 {
				marks[k] = newMark(0, before)
				k++
			}
		}
		before = rule[i]
		marks[k] = newMark(at&mask, before)
		k++
	}
	for page++; page < uint32(n); page++ {
		t.pages[page] = uint32(k)
		marks[k] = newMark(0, before)
		k++
	}
	t.marks = marks[:k]
	t.pages[n] = uint32(k)
}

// rowsPerPage is about how many rows a page has.
const rowsPerPage = 6
