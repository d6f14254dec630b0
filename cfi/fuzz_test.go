package cfi_test

import (
	"debug/elf"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/row/compiled"
)

// exercise calls every method of a table, and compares the different ways to a row. It counts
// operations to limit the work, and measures no time.
func exercise(t *testing.T, c cfi.Config, pc uint64) {
	table := cfi.New(c)
	var r row.Row
	fdes := 0
	for f, err := range table.FDEs() {
		if fdes++; err != nil {
			continue
		}
		if fdes <= 20 {
			rowsOfFDE(t, table, f, c.Arch)
		}
	}
	// An entry has at least a length and an id.
	if fdes > len(c.Data)/4 {
		t.Fatalf("%d FDEs in %d bytes", fdes, len(c.Data))
	}
	if n := table.Entries(); n > 2*fdes {
		t.Fatalf("%d parts of %d FDEs", n, fdes)
	}
	for i := range table.Entries() {
		if lo, hi := table.EntryRange(i); lo >= hi {
			t.Fatalf("part %d is 0x%x..0x%x", i, lo, hi)
		}
	}
	if len(c.Hdr) == 0 {
		checkSweep(t, table)
	} else {
		table.EachRow(0, 50, func(lo, hi uint64, r *row.Row, hash uint64) bool {
			if r != nil && hash != compiled.HashRow(r) {
				t.Fatalf("0x%x: hash 0x%x, of the row 0x%x", lo, hash, compiled.HashRow(r))
			}
			return lo < hi
		})
		if err := sameBatches(table); err != nil {
			t.Fatal(err)
		}
	}
	for _, pc := range []uint64{pc, 0, 1, 0x1000, 0x400000, 1 << 63, 1<<64 - 1} {
		err := table.RowAt(pc, &r)
		if f, ok := table.Find(pc); ok != (err != cfi.ErrNotCovered) || ok && (pc < f.Lo || pc >= f.Hi) {
			t.Fatalf("0x%x: Find says %v 0x%x..0x%x, RowAt %v", pc, ok, f.Lo, f.Hi, err)
		}
		if err == nil && (pc < r.Lo || pc >= r.Hi) {
			t.Fatalf("0x%x: the row is of 0x%x..0x%x", pc, r.Lo, r.Hi)
		}
	}
	list(t, table, c)
}

// rowsOfFDE compares Rows with RowAt, for every address that belongs to this entry.
func rowsOfFDE(t *testing.T, table *cfi.Table, f cfi.FDE, a *arch.Arch) {
	rows, last := 0, f.Lo
	var at row.Row
	for r, err := range table.Rows(f) {
		if rows++; rows > 200 || err != nil {
			break
		}
		if r.Lo < last || r.Lo >= r.Hi || r.Hi > f.Hi {
			t.Fatalf("FDE 0x%x: row 0x%x..0x%x after 0x%x", f.Offset, r.Lo, r.Hi, last)
		}
		last = r.Hi
		_ = r.Format(a)
		for _, pc := range []uint64{r.Lo, r.Lo + (r.Hi-r.Lo)/2, r.Hi - 1} {
			if got, ok := table.Find(pc); !ok || got.Offset != f.Offset {
				continue // belongs to another entry
			}
			if err := table.RowAt(pc, &at); err != nil || !compiled.SameRules(r, &at) || r.Lo != at.Lo || r.Hi != at.Hi || r.Source != at.Source {
				t.Fatalf("FDE 0x%x at 0x%x: Rows %s, RowAt %s, %v", f.Offset, pc, r.Format(a), at.Format(a), err)
			}
		}
	}
}

// list reads all entries and instructions undecoded.
func list(t *testing.T, table *cfi.Table, c cfi.Config) {
	entries := 0
	for e, err := range table.Section() {
		if entries++; err != nil || entries > 30 {
			continue
		}
		if e.Kind == cfi.Terminator {
			continue
		}
		table.AugmentationData(e)
		n := 0
		for range table.Instructions(e) {
			n++
		}
		if n > len(c.Data) {
			t.Fatalf("%d instructions in %d bytes", n, len(c.Data))
		}
	}
	if entries > len(c.Data)/4+1 {
		t.Fatalf("%d entries in %d bytes", entries, len(c.Data))
	}
}

func seeds(f *testing.F, add func(hdr, data []byte, hdrAddr, addr uint64)) {
	for _, path := range []string{"/bin/true", "/lib/x86_64-linux-gnu/libgcc_s.so.1"} {
		e, err := elf.Open(path)
		if err != nil {
			continue
		}
		defer e.Close()
		s, h := e.Section(".eh_frame"), e.Section(".eh_frame_hdr")
		if s == nil || h == nil {
			continue
		}
		data, _ := s.Data()
		hdr, _ := h.Data()
		add(hdr[:min(len(hdr), 512)], data[:min(len(data), 2048)], h.Addr, s.Addr)
	}
}

func FuzzCFI(f *testing.F) {
	seeds(f, func(_, data []byte, _, addr uint64) { f.Add(data, addr, uint64(0x4000), false, byte(0)) })
	for i, a := range arch.All() {
		for _, debug := range []bool{false, true} {
			b := &builder{a: a, debug: debug}
			c := b.cie(plain...)
			b.fde(c, 0x1000, 0x100, 0x0a, 0x41, 0x0e, 16, 0x86, 2, 0x0b, 0x16, 6, 2, 0x77, 8)
			b.fde(c, 0x1010, 0x10, 0x2d, 0x41, 0x2d, 0x2e, 8, 0xc6)
			b.wide = true
			b.fde(b.cie(plain...), 0x1018, 0x100, 0x42, 0x0f, 2, 0x77, 8, 0x44, 0x0d, 6)
			f.Add(b.b, uint64(sectionAddr), uint64(0x1014), debug, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, addr, pc uint64, debug bool, which byte) {
		all := arch.All()
		conf := cfi.Config{Arch: all[int(which)%len(all)], Data: data, Addr: addr, Debug: debug, Text: 0x1000, DataBase: 0x9000}
		if which >= 0x80 {
			conf.PtrSize = 4
		}
		exercise(t, conf, pc)
	})
}

func FuzzHeader(f *testing.F) {
	seeds(f, func(hdr, data []byte, hdrAddr, addr uint64) { f.Add(hdr, data, hdrAddr, addr, uint64(0x4000), byte(0)) })
	for i, a := range arch.All() {
		for _, enc := range []byte{0x3b, 0x3c, 0x03, 0x04, 0x1b} {
			b := &builder{a: a}
			c := b.cie(plain...)
			var pairs [][2]uint64
			for lo := uint64(0x1000); lo < 0x1400; lo += 0x100 {
				pairs = append(pairs, [2]uint64{lo, sectionAddr + uint64(b.fde(c, lo, 0x180, 0x44, 0x0e, 16))})
			}
			f.Add(searchHeader(enc, pairs...), b.b, uint64(0x300000), uint64(sectionAddr), uint64(0x1104), byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, hdr, data []byte, hdrAddr, addr, pc uint64, which byte) {
		all := arch.All()
		exercise(t, cfi.Config{Arch: all[int(which)%len(all)], Hdr: hdr, HdrAddr: hdrAddr, Data: data, Addr: addr}, pc)
	})
}

// BenchmarkRowAt measures an uncached look-up: search, entry and program.
func BenchmarkRowAt(b *testing.B) {
	eh, _ := sections(b, "/lib/x86_64-linux-gnu/libc.so.6")
	if eh == nil {
		fixture.Missing(b, "no libc")
	}
	var pcs []uint64
	for f, err := range eh.FDEs() {
		if err == nil {
			pcs = append(pcs, f.Lo+(f.Hi-f.Lo)/2)
		}
	}
	var r row.Row
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i++; i == len(pcs) {
			i = 0
		}
		if err := eh.RowAt(pcs[i], &r); err != nil {
			b.Fatal(err)
		}
	}
}
