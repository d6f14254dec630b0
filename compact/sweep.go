package compact

import "iter"

// All yields every entry by rising address. Ranges do not overlap and are not empty. There may be
// gaps between them. An error is yielded with the range of addresses for which Find returns it
// too. The entry is valid until the next one.
func (t *Table) All() iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) { t.Each(0, t.Entries(), yield) }
}

// Entries returns the number of entries of all readable pages, including entries of no length.
func (t *Table) Entries() int {
	n := 0
	var p page
	for i := range t.index.count {
		if t.page(i, &p) == nil {
			if n += p.entries.count; t.tooMany(n) {
				return n - p.entries.count
			}
		}
	}
	return n
}

// tooMany reports that pages share bytes, since every entry has at least one word: otherwise the
// number of entries would have no limit.
func (t *Table) tooMany(entries int) bool { return entries > len(t.data)/4 }

func (t *Table) tooManyError(p *page) error {
	return defect(p.off, "the pages up to this one have more entries than the section has room for")
}

// Each calls fn like All, for the entries from number i up to but not including j, numbered as in
// Entries. The error of a page comes in place of its first entry. If fn returns false, Each stops
// and returns false.
func (t *Table) Each(i, j int, fn func(*Entry, error) bool) bool {
	total := t.Entries()
	mine := func(n int) bool { return n >= i && (n < j || j >= total) }
	if err := t.checkIndex(); err != nil {
		return !mine(0) || fn(&Entry{Lo: t.base, Hi: t.base + 1<<32, Offset: err.(*Error).Offset}, err)
	}
	var p page
	var e Entry
	n := 0 // number of entries before this page
	for g := range t.index.count {
		if n >= j && j < total {
			break
		}
		err := t.page(g, &p)
		end := n + p.entries.count
		full := t.tooMany(end)
		if full {
			err, p.end = t.tooManyError(&p), 1<<32
		} else if err == nil {
			err = t.checkPage(&p)
		}
		if err != nil {
			if mine(n) && uint64(p.first) < p.end {
				e = Entry{Lo: t.base + uint64(p.first), Hi: t.base + p.end, Page: g, Offset: err.(*Error).Offset}
				if !fn(&e, err) {
					return false
				}
			}
			if full {
				break
			}
		} else {
			for k := max(i-n, 0); k < min(j-n, p.entries.count); k++ {
				if err := t.entry(&p, k, &e); e.Lo < e.Hi && !fn(&e, err) {
					return false
				}
			}
		}
		n = end
	}
	return true
}

// Raw yields the entries unchanged, in page order, including entries of no length and entries out
// of order, whose Hi is not above Lo. An error is yielded with the readable part of the entry, or
// with an empty entry for an unreadable page.
func (t *Table) Raw() iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		var p page
		n := 0
		for g := range t.index.count {
			err := t.page(g, &p)
			if n += p.entries.count; t.tooMany(n) {
				yield(&Entry{Page: g, Offset: p.off}, t.tooManyError(&p))
				return
			}
			if err != nil {
				if !yield(&Entry{Page: g, Offset: err.(*Error).Offset}, err) {
					return
				}
				continue
			}
			var e Entry
			for k := range p.entries.count {
				if err := t.entry(&p, k, &e); !yield(&e, err) {
					return
				}
			}
		}
	}
}

// EachFunction calls fn for each range of addresses that begins with an entry that starts a
// function (usually all do) and continues through the entries that do not. A range may contain
// several functions, since neighbours with the same opcode share an entry. Untrusted entries are
// left out. If fn returns false, EachFunction stops.
func (t *Table) EachFunction(fn func(lo, hi uint64, first *Entry) bool) {
	var first Entry
	have := false
	hi := uint64(0)
	ok := t.Each(0, t.Entries(), func(e *Entry, err error) bool {
		if have && err == nil && e.Lo == hi && !e.Opcode.StartsFunction() {
			hi = e.Hi
			return true
		}
		if have && !fn(first.Lo, hi, &first) {
			return false
		}
		if have = err == nil; have {
			first, hi = *e, e.Hi
		}
		return true
	})
	if ok && have {
		fn(first.Lo, hi, &first)
	}
}
