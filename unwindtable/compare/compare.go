package compare

import (
	"context"
	"iter"

	"dbg/arch"
	"dbg/code"
	"dbg/frames/module"
)

// Difference is a range of addresses at which two tables disagree in the same way.
type Difference struct {
	Lo, Hi   uint64 // addresses from Lo up to but not including Hi, in the file's address space
	Function uint64 // the start of the entry of the first table
	Class    Class  // the gravest of Items
	Items    []Item // empty if Broken
	BrokenA  bool   // Broken: it is the first table that has no row
}

// Summary counts bytes of code, unless stated otherwise.
type Summary struct {
	A, B        string // names of the tables
	InA, InB    uint64 // covered
	Both        uint64 // covered by both
	Compared    uint64 // of Both: where rows were compared
	Conflict    uint64 // of Compared
	Either      uint64 // of Compared
	Broken      uint64 // of Both
	Padding     uint64 // of Both: differences in padding between instructions, which never runs
	Functions   int    // entries of the first table that overlap one of the second
	Disagreeing int    // of Functions: those with a Conflict
	Differences int    // ranges with a Conflict
	MayDisagree int    // ranges of class Either
	Unreadable  int    // ranges of class Broken
	AtCallsOnly bool   // one table has rows for calls only: Compared, Conflict and Either count calls
	OutOfOrder  error  // a table ended early
}

// Agree returns the share of what was compared that has no conflict, or 1 if nothing was compared.
func (s *Summary) Agree() float64 {
	if s.Compared == 0 {
		return 1
	}
	return 1 - float64(s.Conflict)/float64(s.Compared)
}

// pair compares two tables.
type pair struct {
	f       *File
	a, b    side
	sum     Summary
	each    func(*Difference) error
	open    Difference // not reported yet: it may go on
	isOpen  bool
	regs    []arch.Reg
	items   []Item
	fn      uint64 // of the first table
	fnHi    uint64
	counted bool // fn is counted as one that disagrees
	calls   *callFinder
}

// Run compares two tables of a file, named as in Tables, and calls each with every difference by
// ascending address, until it returns an error. A Difference is valid until each returns; Items may
// be kept.
func Run(ctx context.Context, f *File, a, b string, each func(*Difference) error) (*Summary, error) {
	x, err := f.table(a)
	if err != nil {
		return nil, err
	}
	y, err := f.table(b)
	if err != nil {
		return nil, err
	}
	p := &pair{f: f, a: side{x, f.arch}, b: side{y, f.arch}, each: each}
	p.sum.A, p.sum.B = x.Name(), y.Name()
	if x.Kind() == module.KindEHABI || y.Kind() == module.KindEHABI {
		p.calls = &callFinder{f: f}
		p.sum.AtCallsOnly = true
	}
	if err := p.sweep(ctx); err != nil {
		return nil, err
	}
	return &p.sum, nil
}

// cursor is one of the two streams of rows.
type cursor struct {
	next func() (*span, error, bool)
	*span
	covered *uint64
	err     error
}

func (c *cursor) advance() {
	s, err, ok := c.next()
	if !ok || err != nil {
		c.span, c.err = nil, err
		return
	}
	c.span = s
	*c.covered += s.hi - s.lo
}

// sweep goes through both tables by ascending address.
func (p *pair) sweep(ctx context.Context) error {
	nextA, stopA := iter.Pull2(spans(p.a.table))
	defer stopA()
	nextB, stopB := iter.Pull2(spans(p.b.table))
	defer stopB()
	a, b := cursor{next: nextA, covered: &p.sum.InA}, cursor{next: nextB, covered: &p.sum.InB}
	a.advance()
	b.advance()
	for n := 0; a.span != nil || b.span != nil; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case b.span == nil || a.span != nil && a.hi <= b.lo:
			a.advance()
			continue
		case a.span == nil || b.hi <= a.lo:
			b.advance()
			continue
		}
		if err := p.overlap(max(a.lo, b.lo), min(a.hi, b.hi), a.span, b.span); err != nil {
			return err
		}
		if a.hi <= b.hi {
			a.advance()
		} else {
			b.advance()
		}
	}
	if p.sum.OutOfOrder = a.err; a.err == nil {
		p.sum.OutOfOrder = b.err
	}
	return p.flush()
}

// overlap compares the rows of a range that both tables cover.
func (p *pair) overlap(lo, hi uint64, a, b *span) error {
	p.sum.Both += hi - lo
	if lo >= p.fnHi {
		p.fn, p.fnHi, p.counted = a.lo, a.hi, false
		if l, h, ok := p.a.table.Bounds(lo); ok {
			p.fn, p.fnHi = l, h
		}
		p.sum.Functions++
	}
	d := Difference{Lo: lo, Hi: hi, Function: p.fn}
	size := hi - lo
	switch {
	case a.bad && b.bad:
		return p.flush() // nothing to compare
	case a.bad || b.bad:
		p.sum.Broken += size
		d.Class, d.BrokenA = Broken, a.bad
		return p.add(&d)
	}
	if p.calls != nil {
		if size = p.calls.count(p.fn, lo, hi); size == 0 {
			return nil
		}
	}
	p.items = p.compare(p.items[:0], &a.row, &b.row)
	if len(p.items) > 0 && p.calls == nil && p.isPadding(lo, hi) {
		p.sum.Padding += size
		return nil
	}
	p.sum.Compared += size
	if len(p.items) == 0 {
		return p.flush()
	}
	for i := range p.items {
		d.Class = max(d.Class, p.items[i].Class)
	}
	if d.Class == Conflict {
		p.sum.Conflict += size
	} else {
		p.sum.Either += size
	}
	d.Items = p.items
	return p.add(&d)
}

// maxPadding limits the range that is looked at for padding.
const maxPadding = 256

// isPadding reports whether a range has nothing but what compilers and linkers put between
// instructions. One table has it in the body, another after the return that comes before.
func (p *pair) isPadding(lo, hi uint64) bool {
	if hi-lo > maxPadding {
		return false
	}
	text := p.f.module.CodeAt(lo, int(hi-lo))
	return text != nil && code.Padding(p.f.arch, text) == len(text)
}

// add reports a difference, or extends the one before it.
func (p *pair) add(d *Difference) error {
	o := &p.open
	if p.isOpen && o.Hi == d.Lo && o.Function == d.Function && o.Class == d.Class && o.BrokenA == d.BrokenA && sameItems(o.Items, d.Items) {
		o.Hi = d.Hi
		return nil
	}
	if err := p.flush(); err != nil {
		return err
	}
	d.Items = append([]Item(nil), d.Items...)
	*o, p.isOpen = *d, true
	switch d.Class {
	case Broken:
		p.sum.Unreadable++
	case Either:
		p.sum.MayDisagree++
	default:
		p.sum.Differences++
		if !p.counted {
			p.sum.Disagreeing++
			p.counted = true
		}
	}
	return nil
}

func sameItems(a, b []Item) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// flush reports the difference that does not go on.
func (p *pair) flush() error {
	if !p.isOpen {
		return nil
	}
	p.isOpen = false
	return p.each(&p.open)
}
