package cfi_test

import (
	"debug/elf"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
)

// exercise does everything with a table that there is to do.
func exercise(c cfi.Config) {
	t := cfi.New(c)
	var r row.Row
	n := 0
	for f, err := range t.FDEs() {
		if n++; n > 20 {
			break
		}
		if err != nil {
			continue
		}
		for pc, end := f.Lo, 0; end < 3 && pc < f.Hi; end++ {
			t.RowAt(pc, &r)
			pc += (f.Hi - f.Lo) / 3
		}
		rows := 0
		for r, err := range t.Rows(f) {
			if rows++; rows > 30 || err != nil {
				break
			}
			_ = r.Format(c.Arch)
		}
	}
	for _, pc := range []uint64{0, 1, 0x1000, 0x400000, 1 << 63, 1<<64 - 1} {
		t.RowAt(pc, &r)
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
	seeds(f, func(_, data []byte, _, addr uint64) { f.Add(data, addr, false, byte(0)) })
	for _, debug := range []bool{false, true} {
		b := &builder{a: arch.AMD64, debug: debug}
		b.fde(b.cie(plain...), 0x1000, 0x100, 0x0a, 0x41, 0x0e, 16, 0x0b, 0x16, 6, 2, 0x77, 8)
		f.Add(b.b, uint64(0x400000), debug, byte(0))
	}
	f.Fuzz(func(t *testing.T, data []byte, addr uint64, debug bool, which byte) {
		all := arch.All()
		exercise(cfi.Config{Arch: all[int(which)%len(all)], Data: data, Addr: addr, Debug: debug})
	})
}

func FuzzHeader(f *testing.F) {
	seeds(f, func(hdr, data []byte, hdrAddr, addr uint64) { f.Add(hdr, data, hdrAddr, addr) })
	b := &builder{a: arch.AMD64}
	off := b.fde(b.cie(plain...), 0x1000, 0x100)
	f.Add(searchHeader(0x3b, [2]uint64{0x1000, sectionAddr + uint64(off)}), b.b, uint64(0x300000), uint64(sectionAddr))
	f.Fuzz(func(t *testing.T, hdr, data []byte, hdrAddr, addr uint64) {
		exercise(cfi.Config{Arch: arch.AMD64, Hdr: hdr, HdrAddr: hdrAddr, Data: data, Addr: addr})
	})
}

// BenchmarkRowAt is a cold look-up: search, entry and program, no cache.
func BenchmarkRowAt(b *testing.B) {
	eh, _ := sections(b, "/lib/x86_64-linux-gnu/libc.so.6")
	if eh == nil {
		b.Skip("no libc")
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
