package compact

import "iter"

// A first-level entry: the address of the first function, the offset of the second-level page,
// and the offset of the page's first LSDA.
const indexSize = 12

func (t *Table) first(i int) uint32    { return word(t.index.data, i*indexSize) }
func (t *Table) pageAt(i int) uint32   { return word(t.index.data, i*indexSize+4) }
func (t *Table) lsdaAt(i int) uint32   { return word(t.index.data, i*indexSize+8) }
func (t *Table) indexOffset(i int) int { return t.index.off + i*indexSize }

// orderedIndex returns the starts of the first-level entries, if they are in order. A defect is
// not saved: each call finds it again, and returns its error.
func (t *Table) orderedIndex() (*starts, error) {
	if x := t.indexStarts.Load(); x != nil {
		return x, nil
	}
	if err := t.checkIndex(); err != nil {
		return nil, err
	}
	var lo uint32
	if t.index.count > 0 {
		lo = t.first(0)
	}
	x := newStarts(lo, 1<<32, t.index.count, 64, func(i int) uint64 { return uint64(t.first(i)) << 32 })
	t.indexStarts.Store(&x)
	return &x, nil
}

// checkIndex checks that the first-level entries are in order.
func (t *Table) checkIndex() error {
	if t.indexStarts.Load() != nil {
		return nil
	}
	for i := 1; i < t.index.count; i++ {
		if a, b := t.first(i-1), t.first(i); b < a {
			return defect(t.indexOffset(i), "first-level entries out of order: 0x%x after 0x%x", b, a)
		}
	}
	return nil
}

// Page is a first-level entry and the header of its second-level page.
type Page struct {
	Index  int
	Offset int    // of the first-level entry in the section
	First  uint64 // first address, from the first-level entry
	Page   uint32 // offset of the second-level page; 0 for the sentinel or a gap
	LSDAs  uint32 // offset of the LSDA entries of this page; they end where those of the next page begin

	Kind    PageKind
	Entries int // number of its entries
	Local   int // number of opcodes in its own palette
}

// Pages yields the first-level entries in order, including the sentinel. An entry whose page
// can't be read is yielded with the error.
func (t *Table) Pages() iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for i := range t.index.count {
			g := Page{Index: i, Offset: t.indexOffset(i), First: t.base + uint64(t.first(i)), Page: t.pageAt(i), LSDAs: t.lsdaAt(i)}
			var p page
			err := t.page(i, &p)
			if err == nil {
				g.Kind, g.Entries, g.Local = p.kind, p.entries.count, p.local.count
			}
			if !yield(g, err) {
				return
			}
		}
	}
}

// CommonOpcodes returns the palette that all pages share.
func (t *Table) CommonOpcodes() []Opcode {
	ops := make([]Opcode, t.common.count)
	for i := range ops {
		ops[i] = Opcode(word(t.common.data, 4*i))
	}
	return ops
}
