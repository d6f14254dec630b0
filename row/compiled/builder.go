package compiled

import (
	"slices"
	"sync"

	"dbg/row"
)

// Builder collects the rows of one part of a module, by ascending address. Several goroutines can
// build parts at the same time, each with its own Builder. Join makes a Table of the parts.
type Builder struct {
	base uint64
	end  uint64 // end of the row added last
	lo   []uint32
	rule []uint16 // NoRule, AskDecoder, or a number from in plus 1
	last uint16   // the last element of rule
	in   interner
	ids  []uint16     // maps a batch's rule numbers to numbers of rule; 0 if not known yet
	home *BuilderPool // where Join returns it; may be nil
}

// NewBuilder returns a Builder for about n rows.
func NewBuilder(n int) *Builder { return new(Builder).grow(n) }

func (b *Builder) grow(n int) *Builder {
	b.lo, b.rule = slices.Grow(b.lo, n), slices.Grow(b.rule, n)
	return b
}

// BuilderPool reuses the memory of builders: a program has many files. Join returns builders to the
// pool. The zero value is empty. Several goroutines may use a BuilderPool.
type BuilderPool struct{ free sync.Pool } // of *Builder

// New returns a Builder for about n rows.
func (p *BuilderPool) New(n int) *Builder {
	b, ok := p.free.Get().(*Builder)
	if !ok {
		b = &Builder{home: p}
	}
	return b.grow(n)
}

// release returns b to its pool, without the rows and their rules.
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

// Add appends a row that is valid from lo to hi. hash is HashRow of r. Rows must come by ascending
// address. Where a row overlaps earlier rows, the table will have AskDecoder.
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
		n = AskDecoder
	}
	b.put(lo, hi, n)
}

// AskDecoder sets the table's answer for the addresses from lo to hi to AskDecoder.
func (b *Builder) AskDecoder(lo, hi uint64) {
	switch {
	case lo >= hi:
	case lo < b.end:
		b.overlap(lo, hi)
	default:
		b.put(lo, hi, AskDecoder)
	}
}

// put appends a row with the rules n. It does not overlap those before it.
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

// start begins a row at lo.
func (b *Builder) start(lo uint64, n uint16) {
	b.lo = append(b.lo, uint32(lo-b.base))
	b.rule = append(b.rule, n)
}

// overlap replaces the rows from lo on by AskDecoder, up to hi or to the end of the last row.
func (b *Builder) overlap(lo, hi uint64) {
	end := max(hi, b.end)
	for len(b.lo) > 0 && b.base+uint64(b.lo[len(b.lo)-1]) >= lo {
		b.lo, b.rule = b.lo[:len(b.lo)-1], b.rule[:len(b.rule)-1]
	}
	b.end, b.last = lo, NoRule
	if len(b.rule) > 0 {
		b.last = b.rule[len(b.rule)-1]
	}
	b.put(lo, end, AskDecoder)
}
