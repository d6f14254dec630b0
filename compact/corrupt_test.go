package compact_test

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/compact"
)

// sample is a table of three pages: 0x100 to 0x300, 0x300 to 0x500, 0x500 to 0x700.
func sample() *section {
	const frame = 0x01000000
	return &section{
		common:        []uint32{frame, 0x02010000},
		personalities: []uint32{0x8000},
		pages: []page{
			{kind: 2, first: 0x100, entries: []entry{{0x100, frame | opLSDA | 1<<28, 0}, {0x200, 0x02020000, 0}}},
			{kind: 3, first: 0x300, entries: []entry{{0x300, 0, 2}, {0x380, 0, 0}, {0x400, 0, 1}}, local: []uint32{0x02030000 | opLSDA}, lsdas: 1},
			{kind: 2, first: 0x500, entries: []entry{{0x500, frame, 0}, {0x600, 0, 0}}, lsdas: 2},
		},
		end:   0x700,
		lsdas: []lsda{{0x100, 0x9000}, {0x300, 0x9100}},
	}
}

// What corrupt or strange sections come to: section 5 of the article, and what it leaves open. For each address, found is the opcode that Find
// must give, or what its error must say; "-" is ErrNotCovered.
func TestCorrupt(t *testing.T) {
	const frame = "frame"
	type found map[uint64]string
	whole := found{0xff: "-", 0x100: frame, 0x1ff: frame, 0x200: "CFA=rsp+16", 0x2ff: "CFA=rsp+16", 0x300: "CFA=rsp+24", 0x380: frame, 0x400: "CFA=rsp+8",
		0x4ff: "CFA=rsp+8", 0x500: frame, 0x600: "none", 0x6ff: "none", 0x700: "-"}
	but := func(f found) found {
		m := found{}
		for k, v := range whole {
			m[k] = v
		}
		for k, v := range f {
			if m[k] = v; v == "" {
				delete(m, k)
			}
		}
		return m
	}
	set := func(off int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[off:], v); return b }
	}
	l := sample().layout()
	pages := l.lsdas + 16 // where the pages begin: the first has 8 + 16 bytes, the second 12 + 12 + 4
	second, third := pages+24, pages+24+28
	for name, c := range map[string]struct {
		change func(s *section)
		patch  func(b []byte) []byte
		err    string // of New
		found  found
	}{
		"as it is": {found: whole},

		// Errors of New.
		"version 0":                    {patch: set(0, 0), err: "at 0x0: unsupported version 0, expected 1"},
		"version 2":                    {patch: set(0, 2), err: "version 2"},
		"cut header":                   {patch: func(b []byte) []byte { return b[:27] }, err: "27 bytes"},
		"no section":                   {patch: func(b []byte) []byte { return nil }, err: "0 bytes"},
		"common opcodes outside":       {patch: set(4, 1<<30), err: "at 0x4: the 2 common opcodes at 0x40000000"},
		"too many common opcodes":      {patch: set(8, 1<<30), err: "common opcodes"},
		"personalities outside":        {patch: set(12, 0xffffffff), err: "at 0xc: the 1 personality routines"},
		"index outside":                {patch: set(20, 1<<20), err: "at 0x14: the 4 first-level entries"},
		"too many first-level entries": {patch: set(24, 0xffffffff), err: "first-level entries"},
		"cut index":                    {patch: func(b []byte) []byte { return b[:l.index+20] }, err: "first-level entries"},

		// Allowed.
		"more than three personality routines": {change: func(s *section) { s.personalities = make([]uint32, 9) }, found: whole},
		"two entries of one address": {change: func(s *section) {
			s.pages[0].entries = append(s.pages[0].entries[:1:1], entry{0x200, 0x02090000, 0}, entry{0x200, 0x02020000, 0})
		}, found: whole},
		"three at a page's end": {change: func(s *section) {
			s.pages[0].entries = append(s.pages[0].entries, entry{0x300, 0x02090000, 0}, entry{0x300, 0x02080000, 0}, entry{0x300, 0x02070000, 0})
		}, found: whole},
		"a page of no length": {change: func(s *section) {
			s.pages = append(s.pages[:1:1], page{kind: 2, first: 0x300, entries: []entry{{0x300, 0x02090000, 0}}, lsdas: 1}, s.pages[1], s.pages[2])
		}, found: whole},
		"an empty array far away": {patch: func(b []byte) []byte { set(12, 1<<31)(b); return set(16, 0)(b) }, found: whole},
		"unused local opcodes":    {change: func(s *section) { s.pages[1].local = append(s.pages[1].local, make([]uint32, 300)...) }, found: whole},
		"no common opcodes": {change: func(s *section) {
			s.common = nil
			s.pages[1].local = []uint32{0x01000000, 0x02010000, 0x02030000}
		}, found: whole},

		// Errors of a page.
		"page of kind 7":    {patch: set(second, 7), found: but(found{0x300: "kind is 7", 0x380: "kind is 7", 0x400: "kind is 7", 0x4ff: "kind is 7"})},
		"page outside":      {patch: set(l.index+12+4, 1<<24), found: but(found{0x300: "not inside", 0x380: "not inside", 0x400: "not inside", 0x4ff: "not inside"})},
		"page at the end":   {patch: func(b []byte) []byte { return set(l.index+12+4, uint32(len(b)-4))(b) }, found: but(found{0x300: "not inside", 0x380: "not inside", 0x400: "not inside", 0x4ff: "not inside"})},
		"cut page header":   {patch: func(b []byte) []byte { return append(set(l.index+12+4, uint32(len(b)))(b), 3, 0, 0, 0, 0, 0, 0, 0) }, found: but(found{0x300: "header", 0x380: "header", 0x400: "header", 0x4ff: "header"})},
		"entries outside":   {patch: set(third+4, 8|2000<<16), found: but(found{0x500: "2000 entries", 0x600: "2000 entries", 0x6ff: "2000 entries"})},
		"local opcodes out": {patch: set(second+8, 24|999<<16), found: but(found{0x300: "999 opcodes", 0x380: "999 opcodes", 0x400: "999 opcodes", 0x4ff: "999 opcodes"})},
		"entries out of order": {change: func(s *section) { s.pages[1].entries[1].addr = 0x480 }, found: but(found{0x300: "order: 0x400 after 0x480",
			0x380: "order", 0x400: "order", 0x4ff: "order"})},
		"an entry before its page": {change: func(s *section) { s.pages[2].entries[0].addr = 0x4f0 },
			found: but(found{0x500: "before the page's first", 0x600: "before", 0x6ff: "before"})},
		"an entry behind its page": {change: func(s *section) { s.pages[0].entries[1].addr = 0x301 },
			found: but(found{0x100: "after the page's end", 0x1ff: "after the page's end", 0x200: "after the page's end", 0x2ff: "after the page's end"})},
		"an address of more than 32 bits": {change: func(s *section) {
			s.pages[1].first, s.pages[2].first, s.end = 0xfffffff0, 0xfffffffa, 0xffffffff
			s.pages[1].entries = []entry{{0xfffffff0, 0, 0}, {0x10, 0, 0}}
			s.pages[2].entries = []entry{{0xfffffffa, 0x01000000, 0}}
		}, found: found{0xffffffef: "CFA=rsp+16", 0xfffffff1: "after the page's end", 0xfffffffb: frame, 0xfffffffe: frame, 0xffffffff: "-"}},

		// Errors of an entry.
		"a local opcode too far": {change: func(s *section) { s.pages[1].entries[1].index = 3 },
			found: but(found{0x380: "opcode 3 is not among the 2 common ones and the page's 1"})},
		"opcode 255": {change: func(s *section) { s.pages[1].entries[0].index = 255 }, found: but(found{0x300: "opcode 255"})},

		// First-level entries.
		"first-level entries out of order": {change: func(s *section) { s.pages[1].first = 0x550 },
			found: found{0x100: "first-level", 0x400: "first-level", 0x600: "first-level", 0xfff: "first-level", 0: "first-level"}},
		"a sentinel too early": {change: func(s *section) { s.end = 0x4ff }, found: found{0x100: "first-level"}},
		"a null page": {change: func(s *section) { s.pages[1] = page{kind: 0, first: 0x300, lsdas: 1} },
			found: but(found{0x300: "-", 0x380: "-", 0x400: "-", 0x4ff: "-"})},
		"two null pages": {change: func(s *section) {
			s.pages = append(s.pages[:2:2], page{first: 0x480}, page{first: 0x4a0}, page{kind: 2, first: 0x500, entries: []entry{{0x500, 0x01000000, 0}, {0x600, 0, 0}}})
		}, found: but(found{0x47f: "CFA=rsp+8", 0x480: "-", 0x4a0: "-", 0x4ff: "-"})},
		"a null page before the others": {change: func(s *section) { s.pages[0] = page{first: 0x100} },
			found: but(found{0x100: "-", 0x1ff: "-", 0x200: "-", 0x2ff: "-"})},
		"two sentinels": {change: func(s *section) { s.pages = append(s.pages, page{first: 0x6f0}) }, found: but(found{0x6ef: "none", 0x6f0: "-", 0x6ff: "-"})},
		"an empty page": {change: func(s *section) { s.pages[1].entries = nil }, found: but(found{0x300: "-", 0x380: "-", 0x400: "-", 0x4ff: "-"})},
		"a gap at a page's begin": {change: func(s *section) { s.pages[1].entries = s.pages[1].entries[1:] },
			found: but(found{0x300: "-", 0x37f: "-"})},
		"no sentinel": {change: func(s *section) { s.noSentinel = true }, found: but(found{0x600: "no sentinel", 0x6ff: "no sentinel", 0x700: "no sentinel", 0xffffffff: "no sentinel"})},
		"no sentinel, last page empty": {change: func(s *section) { s.noSentinel = true; s.pages[2].entries = nil },
			found: but(found{0x500: "-", 0x600: "-", 0x6ff: "-"})},
		"sentinel only":          {change: func(s *section) { s.pages, s.lsdas = nil, nil }, found: found{0x100: "-", 0x6ff: "-", 0x700: "-"}},
		"no first-level entries": {change: func(s *section) { s.pages, s.lsdas, s.noSentinel = nil, nil, true }, found: found{0: "-", 0x100: "-", 0x700: "-"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sample()
			if c.change != nil {
				c.change(s)
			}
			b := s.encode()
			if c.patch != nil {
				b = c.patch(b)
			}
			tab, err := compact.New(compact.Config{Arch: arch.AMD64, Data: b, Base: base})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("New: %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var e compact.Entry
			for pc, want := range c.found {
				got := "-"
				if err := tab.Find(base+pc, &e); err == nil {
					got = e.Opcode.String(arch.AMD64)
				} else if err != compact.ErrNotCovered {
					got = err.Error()
				}
				if !strings.Contains(got, want) {
					t.Errorf("at %#x: %q, want %q", pc, got, want)
				}
			}
			agree(t, tab, base)
			if err := tab.Print(new(strings.Builder)); err != nil {
				t.Error(err)
			}
		})
	}
}

// agree checks that All and Find say the same of the ends and the middle of each range, and of what is between.
func agree(t *testing.T, tab *compact.Table, base uint64) {
	t.Helper()
	var f compact.Entry
	gap := func(lo, hi uint64) {
		if lo >= hi {
			return
		}
		for _, pc := range []uint64{lo, lo + (hi-lo)/2, hi - 1} {
			if err := tab.Find(pc, &f); err != compact.ErrNotCovered {
				t.Fatalf("All has nothing at %#x, Find: %+v, %v", pc, f, err)
			}
		}
	}
	at := base
	for e, err := range tab.All() {
		if err != nil && strings.Contains(err.Error(), "room for") {
			return
		}
		if e.Lo < at || e.Lo >= e.Hi {
			t.Fatalf("All gives %#x to %#x behind %#x (%v)", e.Lo, e.Hi, at, err)
		}
		gap(at, e.Lo)
		at = e.Hi
		for _, pc := range []uint64{e.Lo, e.Lo + (e.Hi-e.Lo)/2, e.Hi - 1} {
			ferr := tab.Find(pc, &f)
			if err != nil {
				if ferr == nil || ferr.Error() != err.Error() {
					t.Fatalf("at %#x All says %v, Find %v", pc, err, ferr)
				}
			} else if ferr != nil || f != *e {
				t.Fatalf("at %#x All says %+v, Find %+v, %v", pc, *e, f, ferr)
			}
		}
	}
	gap(at, base+1<<32)
}

func TestCorruptLSDA(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *section)
		patch  func(l layout, b []byte)
		want   string
	}{
		"not in the index": {change: func(s *section) { s.lsdas[0].function = 0x104 }, want: "the LSDA index has none for 0x100000100"},
		"index outside":    {patch: func(l layout, b []byte) { binary.LittleEndian.PutUint32(b[l.index+12+8:], 1<<20) }, want: "not inside"},
		"index backwards":  {patch: func(l layout, b []byte) { binary.LittleEndian.PutUint32(b[l.index+8:], 1<<20) }, want: "invalid bounds of the LSDA index"},
		"half an entry":    {patch: func(l layout, b []byte) { b[l.index+12+8] += 4 }, want: "invalid bounds of the LSDA index"},
		"no sentinel":      {change: func(s *section) { s.noSentinel = true; s.pages = s.pages[:1] }, want: "no sentinel"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sample()
			if c.change != nil {
				c.change(s)
			}
			b := s.encode()
			if c.patch != nil {
				c.patch(s.layout(), b)
			}
			tab := newTable(t, arch.AMD64, b, base)
			var e compact.Entry
			if err := tab.Find(base+0x100, &e); err != nil {
				t.Fatal(err)
			}
			addr, ok, err := tab.LSDA(&e)
			var d *compact.Error
			if ok || !errors.As(err, &d) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%#x, %v, %v; want %q", addr, ok, err, c.want)
			}
		})
	}
	s := sample()
	s.pages[0].entries[0].op |= 3 << 28
	tab := newTable(t, arch.AMD64, s.encode(), base)
	var e compact.Entry
	tab.Find(base+0x100, &e)
	if slot, ok, err := tab.Personality(&e); err == nil || !strings.Contains(err.Error(), "3 is not among the table's 1") {
		t.Errorf("%#x, %v, %v", slot, ok, err)
	}
}

// LLVM's linker puts functions that are left to __eh_frame into the LSDA index and leaves their opcode's bit clear. What the index says of them
// is not true.
func TestUnsaidLSDA(t *testing.T) {
	for _, op := range []uint32{0x04000010, 0x01000000} {
		s := sample()
		s.pages[0].entries[0].op = op
		tab := newTable(t, arch.AMD64, s.encode(), base)
		var e compact.Entry
		if err := tab.Find(base+0x100, &e); err != nil {
			t.Fatal(err)
		}
		if addr, ok, err := tab.LSDA(&e); ok || err != nil {
			t.Errorf("opcode %#x: %#x, %v, %v", op, addr, ok, err)
		}
	}
}

// What look-ups keep is in proportion to the section, though 2,000 pages have the same 5,000 entries.
func TestSharedPagesKeepLittle(t *testing.T) {
	const pages, entries = 2000, 5000
	s := &section{common: []uint32{0x01000000}, end: pages << 16}
	p := page{kind: 3}
	for i := range uint32(entries) {
		p.entries = append(p.entries, entry{addr: 2 * i})
	}
	s.pages = append(s.pages, p)
	for i := range uint32(pages - 1) {
		s.pages = append(s.pages, page{kind: 0, first: (i + 1) << 16})
	}
	b := s.encode()
	l := s.layout()
	for i := 1; i < pages; i++ {
		copy(b[l.index+12*i+4:][:4], b[l.index+4:])
	}
	tab := newTable(t, arch.AMD64, b, base)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var e compact.Entry
	for i := range uint64(pages) {
		for _, off := range []uint64{0, 777, 2*entries - 1, 0xffff} {
			lo, hi := off&^1, off&^1+2
			if off >= 2*(entries-1) {
				lo, hi = 2*(entries-1), 1<<16
			}
			lo, hi = base+i<<16+lo, base+i<<16+hi
			if err := tab.Find(base+i<<16+off, &e); err != nil || e.Lo != lo || e.Hi != hi || e.Opcode != 0x01000000 {
				t.Fatalf("page %d, offset %d: %+v, %v; want %#x to %#x", i, off, e, err, lo, hi)
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > 2<<20 {
		t.Errorf("%d bytes are kept of a section of %d", n, len(b))
	}
	runtime.KeepAlive(tab)
}

// More pages than hints can number.
func TestManyPages(t *testing.T) {
	const pages = 70_000
	s := &section{common: []uint32{0x01000000}, end: pages << 4}
	for i := range uint32(pages) {
		s.pages = append(s.pages, page{kind: 3, first: i << 4, entries: []entry{{addr: i << 4}}})
	}
	tab := newTable(t, arch.AMD64, s.encode(), base)
	var e compact.Entry
	for off := uint64(0); off < pages<<4; off += 5 {
		if err := tab.Find(base+off, &e); err != nil || e.Lo != (base+off)&^15 || e.Hi != e.Lo+16 {
			t.Fatalf("Find(%#x): %+v, %v", base+off, e, err)
		}
	}
	if err := tab.Find(base+pages<<4, &e); err != compact.ErrNotCovered {
		t.Error(err)
	}
}

// Pages that share bytes could be endlessly many entries.
func TestSharedPages(t *testing.T) {
	s := sample()
	s.pages = nil
	for i := range uint32(1000) {
		s.pages = append(s.pages, page{kind: 0, first: i << 16})
	}
	s.end = 1000 << 16
	b := s.encode()
	p := page{kind: 3, local: []uint32{0x01000000}}
	for i := range uint32(10000) {
		p.entries = append(p.entries, entry{addr: i, index: 2})
	}
	off := len(b)
	b = append(b, p.encode()...)
	for i := range 1000 {
		binary.LittleEndian.PutUint32(b[s.layout().index+12*i+4:], uint32(off))
	}
	tab := newTable(t, arch.AMD64, b, base)
	n := 0
	var last error
	for _, err := range tab.All() {
		n++
		last = err
	}
	if n > len(b)/4+1 || last == nil || !strings.Contains(last.Error(), "room for") {
		t.Errorf("%d entries of %d bytes, %v", n, len(b), last)
	}
	var e compact.Entry
	if err := tab.Find(base+999<<16+7, &e); err != nil || e.Lo != base+999<<16+7 {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestHeaderTooHigh(t *testing.T) {
	if _, err := compact.New(compact.Config{Arch: arch.AMD64, Data: sample().encode(), Base: 1<<64 - 4096}); err == nil {
		t.Error("no error")
	}
}
