package cfi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
)

// covers compares the entries that a table finds for addresses with the expected offsets; -1 means
// none. Find, RowAt and EachRow must agree.
func covers(t *testing.T, table *cfi.Table, want map[uint64]int) {
	t.Helper()
	swept := map[uint64]int{}
	table.EachRow(0, table.Entries(), func(lo, hi uint64, r *row.Row, _ uint64) bool {
		for pc := range want {
			if r != nil && lo <= pc && pc < hi {
				swept[pc] = int(r.Source) + 1
			}
		}
		return true
	})
	for pc, off := range want {
		f, ok := table.Find(pc)
		if ok != (off >= 0) || ok && int(f.Offset) != off {
			t.Errorf("0x%x: entry 0x%x, %v; want 0x%x", pc, f.Offset, ok, off)
		}
		var r row.Row
		err := table.RowAt(pc, &r)
		if off < 0 && err != cfi.ErrNotCovered || off >= 0 && (err != nil || int(r.Source) != off) {
			t.Errorf("RowAt(0x%x): entry 0x%x, %v; want 0x%x", pc, r.Source, err, off)
		}
		if swept[pc]-1 != off {
			t.Errorf("EachRow: 0x%x: entry 0x%x; want 0x%x", pc, swept[pc]-1, off)
		}
	}
}

// TestTortureSection has the lines of the torture list about the layout of entries in a section.
func TestTortureSection(t *testing.T) {
	t.Run("zero-length FDEs", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		b.fde(c, 0x1000, 0)
		whole := b.fde(c, 0x1000, 0x100)
		b.fde(c, 0x1000, 0)
		b.fde(c, 0x1080, 0)
		b.fde(c, 0x2000, 0)
		table := b.table()
		covers(t, table, map[uint64]int{0xfff: -1, 0x1000: whole, 0x1080: whole, 0x10ff: whole, 0x1100: -1, 0x2000: -1})
		if n := table.Entries(); n != 1 {
			t.Errorf("%d entries", n)
		}
		b = &builder{a: arch.AMD64} // where nothing overlaps
		b.fde(b.cie(plain...), 0x1000, 0)
		if n := b.table().Entries(); n != 0 {
			t.Errorf("%d entries of one without length", n)
		}
	})
	t.Run("overlapping FDEs", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		inner := b.fde(c, 0x1400, 0x100)
		outer := b.fde(c, 0x1000, 0x1000)
		crossing := b.fde(c, 0x1480, 0x200)
		again := b.fde(c, 0x1000, 0x10) // begins with another entry: the later one counts
		covers(t, b.table(), map[uint64]int{0x1000: again, 0x1010: outer, 0x13ff: outer, 0x1400: inner, 0x147f: inner,
			0x1480: crossing, 0x14ff: crossing, 0x1500: crossing, 0x167f: crossing, 0x1680: outer, 0x1fff: outer, 0x2000: -1})
	})
	t.Run("overlapping FDEs, more than maxParts", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		outer := b.fde(c, 0x1000, 0x1000, 0x41, 0x0e, 16)
		for i := range uint64(40) {
			b.fde(c, 0x1010+i*0x20, 0x10)
		}
		table := b.table()
		asked, given := 0, 0
		table.EachRow(0, table.Entries(), func(lo, hi uint64, r *row.Row, _ uint64) bool {
			if r == nil {
				asked++
			} else if int(r.Source) == outer {
				given++
			}
			var at row.Row
			if err := table.RowAt(lo, &at); err != nil {
				t.Errorf("0x%x: %v", lo, err)
			}
			return true
		})
		// The outer one has 41 parts, of which 16 are decoded; the first has both rows.
		if asked != 25 || given != 17 {
			t.Errorf("%d parts to ask for, %d rows given", asked, given)
		}
	})
	t.Run("adjoining FDEs", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		first := b.fde(c, 0x1000, 0x10)
		second := b.fde(c, 0x1010, 0x10)
		covers(t, b.table(), map[uint64]int{0x100f: first, 0x1010: second, 0x101f: second, 0x1020: -1})
	})
	t.Run("a zero terminator in mid-section", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		before := b.fde(c, 0x1000, 0x10)
		b.b = append(b.b, 0, 0, 0, 0)
		after := b.fde(c, 0x2000, 0x10)
		b.b = append(b.b, 0, 0, 0, 0, 0, 0, 0, 0)
		last := b.fde(b.cie(plain...), 0x3000, 0x10)
		covers(t, b.table(), map[uint64]int{0x1000: before, 0x2000: after, 0x3000: last})
	})
	t.Run("CIE after its FDE", func(t *testing.T) {
		for _, debug := range []bool{false, true} {
			b := &builder{a: arch.AMD64, debug: debug}
			f := b.fde(24, 0x1000, 0x10) // 24 is the offset of the next entry
			if b.cie(plain...) != 24 {
				t.Fatal("the CIE is not where it was to be")
			}
			covers(t, b.table(), map[uint64]int{0x1000: f})
		}
	})
	t.Run("CIE pointers that loop", func(t *testing.T) {
		for _, debug := range []bool{false, true} {
			b := &builder{a: arch.AMD64, debug: debug}
			b.fde(24, 0x1000, 0x10)       // its CIE is the next FDE,
			b.fde(0, 0x1000, 0x10)        // whose CIE is the first one
			b.fde(len(b.b), 0x1000, 0x10) // and its own
			good := b.fde(b.cie(plain...), 0x2000, 0x10)
			covers(t, b.table(), map[uint64]int{0x1000: -1, 0x2000: good})
		}
		// An FDE that differs from a CIE only in its id.
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		disguised := b.rawFDE(c, plain...)
		b.fde(disguised, 0x1000, 0x10)
		covers(t, b.table(), map[uint64]int{0x1000: -1})
	})
	t.Run("DWARF64", func(t *testing.T) {
		for _, debug := range []bool{false, true} {
			b := &builder{a: arch.AMD64, debug: debug, wide: true}
			f := b.fde(b.cie(plain...), 0x1000, 0x10)
			b.wide = false
			g := b.fde(b.cie(plain...), 0x2000, 0x10)
			covers(t, b.table(), map[uint64]int{0x1000: f, 0x2000: g})
		}
	})
	t.Run("DWARF64 .eh_frame with ids of 8 bytes", func(t *testing.T) {
		// The LSB has 4, binutils writes 8.
		b := &builder{a: arch.AMD64, wide: true}
		c, _ := b.entry(0, 8, plain...)
		idPos := len(b.b) + 12
		f, _ := b.entry(uint64(idPos-c), 8, slices.Concat(u64(0x1000), u64(0x10))...)
		covers(t, b.table(), map[uint64]int{0x1000: f})
	})
	t.Run(".debug_frame versions 1, 3 and 4, segment size not 0", func(t *testing.T) {
		b := &builder{a: arch.AMD64, debug: true}
		tail := []byte{0x0c, 7, 8, 0x90, 1}
		one := b.fde(b.cie(plain...), 0x1000, 0x10)
		three := b.fde(b.cie(append([]byte{3, 0, 1, 0x78, 0x90, 0x00}, tail...)...), 0x2000, 0x10) // RA as a LEB128 of two bytes
		four := b.fde(b.cie(append([]byte{4, 0, 8, 0, 1, 0x78, 16}, tail...)...), 0x3000, 0x10)
		segment := b.rawFDE(b.cie(append([]byte{4, 0, 8, 2, 1, 0x78, 16}, tail...)...),
			slices.Concat([]byte{7, 0}, u64(0x4000), u64(0x10), []byte{0x01, 7, 0}, u64(0x4008), []byte{0x0e, 16})...)
		short := b.rawFDE(b.cie(append([]byte{4, 0, 4, 0, 1, 0x78, 16}, tail...)...), slices.Concat(u32(0x5000), u32(0x10))...)
		table := b.table()
		covers(t, table, map[uint64]int{0x1000: one, 0x2000: three, 0x3000: four, 0x4000: segment, 0x5000: short})
		var r row.Row
		if err := table.RowAt(0x4008, &r); err != nil || r.CFA.N != 16 || r.Lo != 0x4008 {
			t.Errorf("set_loc with a segment: %s, %v", r.Format(arch.AMD64), err)
		}
		if f, ok := table.Find(0x2000); !ok || f.CIE.RAColumn != 16 {
			t.Errorf("version 3: RA is column %d", f.CIE.RAColumn)
		}
	})
	t.Run("addresses of 2^63 and above", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		kernel := b.fde(c, 0xffffffff_81000000, 0x10, 0x41, 0x0e, 16)
		middle := b.fde(c, 1<<63-8, 0x10)
		b.fde(c, 0xffffffff_fffffff0, 0x20) // beyond the end
		low := b.fde(c, 0x1000, 0x10)
		var more [8]int
		for i := range more { // alternately below and above
			more[i] = b.fde(c, 0x2000+uint64(i)*0x100+uint64(i%2)<<63, 0x10)
		}
		table := b.table()
		for i, off := range more {
			covers(t, table, map[uint64]int{0x2008 + uint64(i)*0x100 + uint64(i%2)<<63: off})
		}
		errs := 0
		for _, err := range table.FDEs() {
			if err != nil && strings.Contains(err.Error(), "exceeds the address space") {
				errs++
			}
		}
		if errs != 1 {
			t.Errorf("the one beyond the end is said %d times", errs)
		}
		covers(t, table, map[uint64]int{0xffffffff_81000000: kernel, 0xffffffff_8100000f: kernel, 0xffffffff_81000010: -1,
			1<<63 - 1: middle, 1 << 63: middle, 0xffffffff_fffffff8: -1, 0x8: -1, 0x1000: low})
		var r row.Row
		if err := table.RowAt(0xffffffff_81000001, &r); err != nil || r.CFA.N != 16 {
			t.Errorf("%s, %v", r.Format(arch.AMD64), err)
		}
	})
	t.Run("32-bit wrap-around", func(t *testing.T) {
		// An offset below 0 counts from the top, and one above the end from the bottom.
		b := &builder{a: arch.I386}
		c := b.cie(1, 'z', 'R', 0, 1, 0x7c, 8, 1, 0x1b, 0x0c, 4, 4, 0x88, 1)
		at := uint32(sectionAddr + len(b.b) + 8)
		top := b.rawFDE(c, slices.Concat(u32(0xffff_f000-at), u32(0x10), []byte{0})...)
		at = uint32(sectionAddr + len(b.b) + 8)
		b.rawFDE(c, slices.Concat(u32(0xffff_fff0-at), u32(0x20), []byte{0})...) // beyond the end
		at = uint32(sectionAddr + len(b.b) + 8)
		last := b.rawFDE(c, slices.Concat(u32(0xffff_ff00-at), u32(0x100), []byte{0})...) // up to the end
		covers(t, b.table(), map[uint64]int{0xffff_f008: top, 0xffff_ffff: last, 0xffff_ff00: last, 0xffffffff_fffff008: -1, 0x1_0000_0000: -1, 0: -1})
	})
	t.Run("x32", func(t *testing.T) {
		// 64-bit registers, with 4-byte addresses in .debug_frame, which has no size of its own,
		// and in .eh_frame as absolute pointers.
		for _, debug := range []bool{false, true} {
			b := &builder{a: arch.AMD64, debug: debug}
			f := b.rawFDE(b.cie(plain...), slices.Concat(u32(0x1000), u32(0x10), []byte{0x01}, u32(0x1008), []byte{0x0e, 16})...)
			conf := b.config()
			conf.PtrSize = 4
			table := cfi.New(conf)
			covers(t, table, map[uint64]int{0x1000: f, 0x100f: f, 0x1010: -1})
			var r row.Row
			if err := table.RowAt(0x1008, &r); err != nil || r.CFA.N != 16 {
				t.Errorf("%s, %v", r.Format(arch.AMD64), err)
			}
		}
	})
	t.Run("a length that is wrong ends the section and is said", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		good := b.fde(b.cie(plain...), 0x1000, 0x10)
		bad := len(b.b)
		b.b = append(b.b, 0, 1, 0, 0, 9, 9)
		table := b.table()
		covers(t, table, map[uint64]int{0x1000: good})
		var last error
		var at uint64
		for f, err := range table.FDEs() {
			last, at = err, f.Offset
		}
		var e *cfi.Error
		if !errors.As(last, &e) || int(at) != bad || !strings.Contains(e.Error(), "length exceeds the section") {
			t.Errorf("0x%x: %v", at, last)
		}
	})
}

// TestTortureHeader has the lines about .eh_frame_hdr. The result is right for any contents of the
// header.
func TestTortureHeader(t *testing.T) {
	b := &builder{a: arch.AMD64}
	c := b.cie(plain...)
	var pairs [][2]uint64
	want := map[uint64]int{0xfff: -1}
	for i := range uint64(20) {
		lo := 0x1000 + 0x100*i
		off := b.fde(c, lo, 0x80)
		pairs = append(pairs, [2]uint64{lo, sectionAddr + uint64(off)})
		want[lo], want[lo+0x7f], want[lo+0x80] = off, off, -1
	}
	without := slices.Concat(pairs[:5], pairs[9:])
	reversed := slices.Clone(pairs)
	slices.Reverse(reversed)
	shifted, elsewhere, odd := slices.Clone(pairs), slices.Clone(pairs), slices.Clone(pairs)
	for i := range pairs {
		shifted[i][1] = pairs[(i+1)%len(pairs)][1] // the FDE of the next function
		elsewhere[i][1] += 0x10_0000_0000          // outside the section
		odd[i][1] += 3                             // in the middle of an entry
	}
	repeated := slices.Concat(pairs[:1], pairs[:1], pairs[1:])
	instead := slices.Concat(pairs[:6], pairs[5:6], pairs[7:])
	for name, hdr := range map[string][]byte{
		"header missing":                    nil,
		"header of length 1":                {1},
		"a gap in .eh_frame_hdr":            searchHeader(0x3b, without...),
		"header unsorted":                   searchHeader(0x3b, reversed...),
		"header wrong: shifted":             searchHeader(0x3b, shifted...),
		"header wrong: outside the section": searchHeader(0x3c, elsewhere...),
		"header wrong: inside entries":      searchHeader(0x3b, odd...),
		"header wrong: repeated":            searchHeader(0x3b, repeated...),
		"header wrong: instead of another":  searchHeader(0x3b, instead...),
		"header wrong: count too great":     slices.Concat(searchHeader(0x3b, pairs...)[:8], u32(1<<31-1), searchHeader(0x3b, pairs...)[12:]),
		"header wrong: count 0":             slices.Concat(searchHeader(0x3b, pairs...)[:8], u32(0), searchHeader(0x3b, pairs...)[12:]),
		"header right":                      searchHeader(0x3b, pairs...),
		"header with sdata8 entries":        searchHeader(0x3c, pairs...),
		"header with udata4 entries":        searchHeader(0x03, pairs...),
		"header with udata8 entries":        searchHeader(0x04, pairs...),
		"header with pcrel entries":         searchHeader(0x1b, pairs...),
	} {
		t.Run(name, func(t *testing.T) {
			conf := b.config()
			conf.Hdr, conf.HdrAddr = hdr, 0x300000
			covers(t, cfi.New(conf), want)
			if err := sameBatches(cfi.New(conf)); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("header is used: an FDE that only it reaches", func(t *testing.T) {
		// The scan of the section finds nothing after an entry with a wrong length.
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		b.b = append(b.b, 0xf0, 0xff, 0xff, 0xff)
		f := b.fde(c, 0x1000, 0x10)
		for _, enc := range []byte{0x3b, 0x3c} {
			conf := b.config()
			conf.Hdr, conf.HdrAddr = searchHeader(enc, [2]uint64{0x1000, sectionAddr + uint64(f)}), 0x300000
			if got, ok := cfi.New(conf).Find(0x1008); !ok || int(got.Offset) != f {
				t.Errorf("encoding 0x%x: not found", enc)
			}
		}
	})
	t.Run("header of a 32-bit file is used, with wrap-around", func(t *testing.T) {
		b := &builder{a: arch.I386}
		c := b.cie(1, 0, 1, 0x7c, 8, 0x0c, 4, 4, 0x88, 1)
		b.b = append(b.b, 0xf0, 0xff, 0xff, 0xff)
		f := b.fde(c, 0xffff_f000, 0x10)
		conf := b.config()
		conf.Hdr, conf.HdrAddr = searchHeader(0x3b, [2]uint64{0xffff_f000, sectionAddr + uint64(f)}), 0x300000
		if got, ok := cfi.New(conf).Find(0xffff_f008); !ok || int(got.Offset) != f {
			t.Error("not found")
		}
	})
	t.Run("header of a 32-bit file", func(t *testing.T) {
		b := &builder{a: arch.I386}
		f := b.fde(b.cie(1, 0, 1, 0x7c, 8, 0x0c, 4, 4, 0x88, 1), 0x1000, 0x10)
		conf := b.config()
		conf.Hdr, conf.HdrAddr = searchHeader(0x3b, [2]uint64{0x1000, sectionAddr + uint64(f)}), 0x300000
		covers(t, cfi.New(conf), map[uint64]int{0x1000: f, 0x1010: -1})
	})
}

// TestTorturePointers has the lines about pointer encodings and augmentations.
func TestTorturePointers(t *testing.T) {
	cie := func(b *builder, enc byte) int { return b.cie(1, 'z', 'R', 0, 1, 0x78, 16, 1, enc, 0x0c, 7, 8) }
	t.Run("set_loc with pc-relative encoding", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := cie(b, 0x1b)
		at := len(b.b) + 8
		body := slices.Concat(u32(uint32(0x5000-(sectionAddr+at))), u32(0x40), []byte{0, 0x01})
		body = append(body, u32(uint32(0x5010-(sectionAddr+at+len(body))))...)
		b.rawFDE(c, append(body, 0x0e, 16)...)
		var r row.Row
		if err := b.table().RowAt(0x5010, &r); err != nil || r.Lo != 0x5010 || r.CFA.N != 16 {
			t.Errorf("%s, %v", r.Format(arch.AMD64), err)
		}
		if err := b.table().RowAt(0x500f, &r); err != nil || r.Hi != 0x5010 || r.CFA.N != 8 {
			t.Errorf("%s, %v", r.Format(arch.AMD64), err)
		}
	})
	t.Run("set_loc with funcrel encoding", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := cie(b, 0x43)
		b.rawFDE(c, slices.Concat(u32(0x5000), u32(0x40), []byte{0, 0x01}, u32(0x10), []byte{0x0e, 16})...)
		var r row.Row
		if err := b.table().RowAt(0x5010, &r); err != nil || r.Lo != 0x5010 || r.CFA.N != 16 {
			t.Errorf("%s, %v", r.Format(arch.AMD64), err)
		}
	})
	for _, c := range []struct {
		name string
		enc  byte
		lo   uint64 // the pointer as stored
		want bool
	}{
		{"pointer encoding textrel", 0x23, 0x4000, true},   // .text is at 0x1000
		{"pointer encoding datarel", 0x33, 0x1000, false},  // the base is 0x9000: 0xa000
		{"pointer encoding indirect", 0x83, 0x5000, false}, // needs memory
		{"pointer encoding omit", 0xff, 0x5000, false},
		{"pointer encoding unknown format", 0x0d, 0x5000, false},
		{"pointer encoding unknown base", 0x63, 0x5000, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &builder{a: arch.AMD64}
			b.rawFDE(cie(b, c.enc), slices.Concat(u32(uint32(c.lo)), u32(0x40), []byte{0})...)
			after := b.fde(b.cie(plain...), 0x20000, 0x10)
			if _, ok := b.table().Find(0x5020); ok != c.want {
				t.Errorf("found: %v", ok)
			}
			errs := 0
			for _, err := range b.table().FDEs() {
				if err != nil {
					errs++
				}
			}
			if want := !c.want && c.enc != 0x33; (errs == 1) != want {
				t.Errorf("%d entries can't be read", errs)
			}
			if f, ok := b.table().Find(0xa020); ok != (c.enc == 0x33) {
				t.Errorf("datarel: %v 0x%x", ok, f.Lo)
			}
			if f, ok := b.table().Find(0x20000); !ok || int(f.Offset) != after {
				t.Error("the entry after it is lost")
			}
		})
	}
	t.Run("pointer encoding aligned", func(t *testing.T) {
		for pad := range 8 {
			b := &builder{a: arch.AMD64}
			b.b = append(b.b, make([]byte, 4*(pad%2))...) // a terminator shifts the following entries
			c := b.cie(append([]byte{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x50, 0x0c, 7, 8}, make([]byte, pad)...)...)
			gap := -(len(b.b) + 8) & 7
			b.rawFDE(c, slices.Concat(make([]byte, gap), u64(0x5000), u64(0x40), []byte{0})...)
			if f, ok := b.table().Find(0x5020); !ok || f.Lo != 0x5000 || f.Hi != 0x5040 {
				t.Errorf("with %d bytes before it: 0x%x..0x%x, %v", gap, f.Lo, f.Hi, ok)
			}
		}
	})
	t.Run("pointer encoding aligned: personality routine", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		body := []byte{1, 'z', 'P', 'R', 0, 1, 0x78, 16, 0, 0x50} // the encoding; then padding to a multiple of 8
		at := len(b.b) + 8 + len(body)
		body = append(body, make([]byte, -at&7)...)
		body = append(append(body, u64(0x7777)...), 0x03)
		body[8] = byte(len(body) - 9)
		b.rawFDE(b.cie(append(body, 0x0c, 7, 8)...), slices.Concat(u32(0x5000), u32(0x40), []byte{0})...)
		if f, ok := b.table().Find(0x5020); !ok || f.Lo != 0x5000 {
			t.Errorf("0x%x, %v", f.Lo, ok)
		}
	})
	t.Run("a range of more than half of its format is not negative", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		f := b.rawFDE(cie(b, 0x0a), 0x00, 0x10, 0x00, 0x90, 0) // sdata2: 0x1000, 0x9000
		covers(t, b.table(), map[uint64]int{0x1000: f, 0x9fff: f, 0xa000: -1})
	})
	t.Run("zPLR without LSDA", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x03, 0x0c, 7, 8)
		body := func(lo uint32, aug ...byte) []byte {
			return slices.Concat(u32(lo), u32(0x10), []byte{byte(len(aug))}, aug, []byte{0x0e, 32})
		}
		b.rawFDE(c, body(0x1000)...)             // no data at all
		b.rawFDE(c, body(0x2000, 0, 0, 0, 0)...) // a null pointer
		b.rawFDE(c, body(0x3000, 1, 0, 0, 0)...) // relative to its own address
		b.rawFDE(c, body(0x4000, 1, 2)...)       // too short for a pointer
		for lo, want := range map[uint64]bool{0x1000: false, 0x2000: false, 0x3000: true, 0x4000: false} {
			f, ok := b.table().Find(lo)
			if !ok || f.HasLSDA != want {
				t.Errorf("0x%x: found %v, LSDA %v", lo, ok, f.HasLSDA)
			}
			if want && f.LSDA != sectionAddr+f.Offset+17+1 {
				t.Errorf("LSDA 0x%x", f.LSDA)
			}
			var r row.Row
			if err := b.table().RowAt(lo, &r); err != nil || r.CFA.N != 32 {
				t.Errorf("0x%x: %s, %v", lo, r.Format(arch.AMD64), err)
			}
		}
	})
	t.Run("old eh", func(t *testing.T) {
		for _, a := range []*arch.Arch{arch.AMD64, arch.I386} {
			b := &builder{a: a}
			body := append([]byte{1, 'e', 'h', 0}, make([]byte, a.PtrSize)...)
			copy(body[4:], []byte{9, 9, 9, 9})
			f := b.fde(b.cie(append(body, 1, 0x78, byte(a.PC), 0x0c, byte(a.SP), 24)...), 0x1000, 0x10)
			covers(t, b.table(), map[uint64]int{0x1000: f})
			var r row.Row
			if b.table().RowAt(0x1000, &r); r.CFA.N != 24 || r.RA != a.PC {
				t.Errorf("%s: %s", a.Name, r.Format(a))
			}
		}
	})
	t.Run("unknown letters", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		// After z the length of the data is known. The data for an unknown letter, and all that
		// follows it, is skipped.
		known := b.rawFDE(b.cie(1, 'z', 'R', 'X', 'S', 0, 1, 0x78, 16, 3, 0x03, 9, 9, 0x0c, 7, 8), slices.Concat(u32(0x1000), u32(0x10), []byte{2, 9, 9, 0x0e, 48})...)
		b.fde(b.cie(1, 'X', 0, 1, 0x78, 16, 0x0c, 7, 8), 0x2000, 0x10)
		table := b.table()
		covers(t, table, map[uint64]int{0x1000: known, 0x2000: -1})
		var r row.Row
		if table.RowAt(0x1000, &r); r.CFA.N != 48 || r.Signal {
			t.Errorf("%s", r.Format(arch.AMD64))
		}
	})
	t.Run("augmentation S", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		b.rawFDE(b.cie(1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x03, 0x0c, 7, 8), slices.Concat(u32(0x1000), u32(0x10), []byte{0})...)
		var r row.Row
		if b.table().RowAt(0x1000, &r); !r.Signal {
			t.Error("not a signal frame")
		}
	})
}

// TestTortureHeaderOfOverlaps checks that a complete, sorted header does not serve as the index if
// an entry reaches beyond the start of the next one. Empty entries do not count.
func TestTortureHeaderOfOverlaps(t *testing.T) {
	for name, size := range map[string]func(i int) uint64{
		"none":                     func(int) uint64 { return 0x80 },
		"first":                    func(i int) uint64 { return 0x80 + 0x100*uint64((i+9)/10^1) },
		"at a third":               func(i int) uint64 { return map[bool]uint64{true: 0x101, false: 0x100}[i == 9] },
		"last but one":             func(i int) uint64 { return map[bool]uint64{true: 0x180, false: 0x80}[i == 28] },
		"over an empty one":        func(i int) uint64 { return []uint64{0x180, 0, 0x80}[i%3] },
		"over some empty ones":     func(i int) uint64 { return map[bool]uint64{true: 0x801, false: 0}[i%8 == 0] },
		"empty ones":               func(i int) uint64 { return 0x100 * uint64(i%2) },
		"empty ones up to a third": func(i int) uint64 { return 0x80 * uint64(i/10) },
		"nothing but empty ones":   func(int) uint64 { return 0 },
	} {
		t.Run(name, func(t *testing.T) {
			b := &builder{a: arch.AMD64}
			c := b.cie(plain...)
			var pairs [][2]uint64
			for i := range 30 {
				lo := 0x1000 + 0x100*uint64(i)
				off := b.fde(c, lo, size(i), 0x41, 0x0e, byte(16+i))
				pairs = append(pairs, [2]uint64{lo, sectionAddr + uint64(off)})
			}
			for _, pairs := range [][][2]uint64{pairs, slices.Concat(pairs[:2], pairs[1:2], pairs[3:])} { // one pair twice, another one missing
				conf := b.config()
				conf.Hdr, conf.HdrAddr = searchHeader(0x3b, pairs...), 0x300000
				if err := sameBatches(cfi.New(conf)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
