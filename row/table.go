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
	plans []*Plan // by number; that of NoRule is nil
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
	if int(n) < len(t.plans) {
		return t.plans[n], n
	}
	return nil, n
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
	starts []uint64
	rules  []uint16 // 0 and AskEntry, or a number of in plus 1
	in     interner
	end    uint64 // of the row added last
	done   uint64 // of the entries that were begun
	last   *Row   // the interned row of the one added last
	lastID uint16
}

// Add appends a row that is valid from lo to hi; hash is HashRow of it. Rows come by
// rising address. What a row shares with one before it is given to neither: the entry
// must be asked.
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
	if len(b.starts) > 0 {
		if lo > b.end {
			b.starts, b.rules = append(b.starts, b.end), append(b.rules, NoRule)
		} else if b.rules[len(b.rules)-1] == n {
			b.end = hi
			return
		}
	}
	b.starts, b.rules = append(b.starts, lo), append(b.rules, n)
	b.end = hi
}

// overlap takes back what was said from lo on.
func (b *Builder) overlap(lo, hi uint64) {
	end := max(hi, b.end)
	for len(b.starts) > 0 && b.starts[len(b.starts)-1] >= lo {
		b.starts, b.rules = b.starts[:len(b.starts)-1], b.rules[:len(b.rules)-1]
	}
	b.end = lo
	b.put(lo, end, AskEntry)
}

// Join makes a table of parts, which are used up. preserved are the registers
// that keep their value where a row says nothing of them. It is nil where there are no rows, or
// where they are too far apart for 32-bit offsets.
func Join(a *arch.Arch, parts []*Builder, preserved arch.RegSet) *Table {
	parts = slices.DeleteFunc(parts, func(b *Builder) bool { return len(b.starts) == 0 })
	if len(parts) == 0 {
		return nil
	}
	slices.SortStableFunc(parts, func(x, y *Builder) int {
		if x.starts[0] < y.starts[0] {
			return -1
		}
		return 1
	})
	base, end := parts[0].starts[0], parts[0].end
	total := 0
	for _, b := range parts {
		total += len(b.starts) + 1
		end = max(end, b.end)
	}
	if end-base >= 1<<32-1 {
		return nil
	}
	t := &Table{base: base, size: end - base, plans: []*Plan{nil}}
	t.lo, t.rule = make([]uint32, 0, total), make([]uint16, 0, total)
	var all interner
	var ends uint64
	for _, b := range parts {
		ids := make([]uint16, len(b.in.rows))
		for i, r := range b.in.rows {
			n, ok := all.id(r, b.in.hash[i])
			if ids[i] = n + 1; !ok {
				ids[i] = AskEntry
			} else if int(n)+1 == len(t.plans) {
				t.plans = append(t.plans, NewPlan(a, r, preserved))
			}
		}
		first := b.starts[0]
		switch {
		case len(t.lo) == 0:
		case first > ends:
			t.lo, t.rule = append(t.lo, uint32(ends-base)), append(t.rule, NoRule)
		case first < ends:
			// Parts overlap: what is beyond the start of the second must ask.
			for len(t.lo) > 0 && uint64(t.lo[len(t.lo)-1])+base >= first {
				t.lo, t.rule = t.lo[:len(t.lo)-1], t.rule[:len(t.rule)-1]
			}
			t.lo, t.rule = append(t.lo, uint32(first-base)), append(t.rule, AskEntry)
			if b.end <= ends {
				continue
			}
			// Of the second what the first has covered is left out.
			n := 0
			for n < len(b.starts) && (n+1 == len(b.starts) && b.end <= ends || n+1 < len(b.starts) && b.starts[n+1] <= ends) {
				n++
			}
			b.starts, b.rules = b.starts[n:], b.rules[n:]
			b.starts[0] = ends
		}
		for i, s := range b.starts {
			n := b.rules[i]
			if n != NoRule && n != AskEntry {
				n = ids[n-1]
			}
			t.lo, t.rule = append(t.lo, uint32(s-base)), append(t.rule, n)
		}
		ends = max(ends, b.end)
	}
	t.index()
	return t
}

// index makes the pages, so that there are about four rows in each.
func (t *Table) index() {
	for t.shift = 4; t.size>>t.shift > uint64(len(t.lo))/4+1; t.shift++ {
	}
	n := int((t.size-1)>>t.shift) + 2
	t.pages = make([]uint32, n)
	row := 0
	for p := range t.pages {
		at := uint64(p) << t.shift
		for row+1 < len(t.lo) && uint64(t.lo[row+1]) <= at {
			row++
		}
		t.pages[p] = uint32(row)
	}
	t.pages[n-1] = uint32(len(t.lo) - 1)
}
