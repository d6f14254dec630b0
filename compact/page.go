package compact

// PageKind is the kind of a second-level page.
type PageKind uint32

const (
	NoPage     PageKind = 0 // no page: the sentinel, or a gap
	Regular    PageKind = 2 // entries with an address and an opcode
	Compressed PageKind = 3 // one-word entries: 8 bits of opcode index, 24 bits of address relative to the page's first
)

// page is a second-level page.
type page struct {
	i       int // index of its first-level entry
	off     int // offset in the section
	kind    PageKind
	first   uint32 // address in the first-level entry, relative to the header
	end     uint64 // start of the next page, relative to the header
	endless bool   // there is no next page
	entries array
	local   array // palette of a compressed page

	// Set for pages that were looked up and are in order. starts also holds the opcodes, if no
	// entry has a defect.
	starts starts
	plain  bool
}

// page reads the header of the page of first-level entry i. If there is no page, it has no
// entries.
func (t *Table) page(i int, p *page) error {
	*p = page{i: i, first: t.first(i), off: int(t.pageAt(i)), end: 1 << 32}
	last := i == t.index.count-1
	if !last {
		p.end = uint64(t.first(i + 1))
	}
	if p.off == 0 {
		if last {
			p.end = uint64(p.first) // the sentinel: nothing is covered from here on
		}
		return nil
	}
	p.endless = last
	b, off := t.data, p.off
	if uint(off) > uint(len(b)-8) {
		return defect(t.indexOffset(i), "the page at 0x%x is not inside the section's %d bytes", off, len(b))
	}
	p.kind = PageKind(word(b, off))
	at, n := uint64(off)+uint64(half(b, off+4)), uint64(half(b, off+6))
	ok := true
	switch p.kind {
	case Regular:
		p.entries, ok = t.array(at, n, 8)
	case Compressed:
		if off > len(b)-12 {
			return defect(off, "the header of the page is not inside the section's %d bytes", len(b))
		}
		lat, ln := uint64(off)+uint64(half(b, off+8)), uint64(half(b, off+10))
		if p.local, ok = t.array(lat, ln, 4); !ok {
			return defect(off, "the %d opcodes of the page at 0x%x are not inside the section's %d bytes", ln, lat, len(b))
		}
		p.entries, ok = t.array(at, n, 4)
	default:
		return defect(off, "the page's kind is %d, not 2 (regular) or 3 (compressed)", p.kind)
	}
	if !ok {
		return defect(off, "the page's %d entries at 0x%x are not inside the section's %d bytes", n, at, len(b))
	}
	return nil
}

// size returns the size of an entry, in bytes.
func (p *page) size() int {
	if p.kind == Regular {
		return 8
	}
	return 4
}

// addr returns the address of entry k, relative to the header.
func (p *page) addr(k int) uint64 {
	if p.kind == Regular {
		return uint64(word(p.entries.data, 8*k))
	}
	return uint64(p.first) + uint64(word(p.entries.data, 4*k)&0xffffff)
}

// trusted returns the page of first-level entry i if its entries are in order. The result of the
// first call is saved.
func (t *Table) trusted(i int) (*page, error) {
	if p := t.pages[i].Load(); p != nil {
		return p, nil
	}
	p := new(page)
	if err := t.page(i, p); err != nil {
		return nil, err
	}
	if err := t.checkPage(p); err != nil {
		return nil, err
	}
	p.plain = t.makeStarts(p)
	if !t.pages[i].CompareAndSwap(nil, p) {
		if p.plain {
			t.cells.Add(-int64(p.entries.count))
		}
		return t.pages[i].Load(), nil
	}
	return p, nil
}

// makeStarts makes the starts of a page. It fails if an entry has a defect, or if pages share
// bytes: their entries would take much more memory than the section.
func (t *Table) makeStarts(p *page) bool {
	n := p.entries.count
	if t.cells.Add(int64(n)) > int64(len(t.data)/4) {
		t.cells.Add(-int64(n))
		return false
	}
	var e Entry
	ok := true
	p.starts = newStarts(p.first, p.end, n, 2, func(k int) uint64 {
		ok = ok && t.entry(p, k, &e) == nil
		return p.addr(k)<<32 | uint64(e.Opcode)
	})
	if !ok {
		p.starts = starts{}
		t.cells.Add(-int64(n))
	}
	return ok
}

// checkPage checks that the entries are in order, and within the range of the first-level
// entries.
func (t *Table) checkPage(p *page) error {
	prev := uint64(p.first)
	for k := range p.entries.count {
		a := p.addr(k)
		if a < prev {
			off := p.entries.off + k*p.size()
			if k == 0 {
				return defect(off, "the page's entries can't be trusted: the first is for 0x%x, before the page's first address 0x%x", a, prev)
			}
			return defect(off, "the page's entries are out of order: 0x%x after 0x%x", a, prev)
		}
		prev = a
	}
	if prev > p.end {
		return defect(p.entries.off+(p.entries.count-1)*p.size(),
			"the page's entries can't be trusted: the last is for 0x%x, after the page's end 0x%x", prev, p.end)
	}
	return nil
}

// search returns the last entry that does not begin after off, or -1.
func (p *page) search(off uint32) int {
	lo, hi := 0, p.entries.count
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); p.addr(m) <= uint64(off) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo - 1
}

// entry fills e with entry k of a page whose order is checked, as far as the entry is valid.
func (t *Table) entry(p *page, k int, e *Entry) error {
	e.Page, e.Index = p.i, k
	last := k+1 == p.entries.count
	if last {
		e.Hi = t.base + p.end
	}
	if p.kind == Regular {
		b := p.entries.data[8*k:]
		e.Offset = p.entries.off + 8*k
		e.Lo, e.Opcode = t.base+uint64(word(b, 0)), Opcode(word(b, 4))
		if !last {
			e.Hi = t.base + uint64(word(b, 8))
		}
	} else {
		b := p.entries.data[4*k:]
		e.Offset = p.entries.off + 4*k
		w, first := word(b, 0), t.base+uint64(p.first)
		e.Lo = first + uint64(w&0xffffff)
		if !last {
			e.Hi = first + uint64(word(b, 4)&0xffffff)
		}
		i, common := int(w>>24), t.common.count
		if i >= common+p.local.count {
			e.Opcode = 0
			return defect(e.Offset, "the entry's opcode %d is not among the %d common ones and the page's %d",
				i, common, p.local.count)
		}
		at := t.common.off
		if i >= common { // unpredictable: it is compiled without a jump
			at = p.local.off - 4*common
		}
		e.Opcode = Opcode(word(t.data, at+4*i))
	}
	if last && p.endless {
		return defect(e.Offset, "the end of the last entry is unknown: the table has no sentinel")
	}
	return nil
}
