package cfi_test

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/row"
)

// u32 and u64 are numbers in little-endian bytes.
func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func TestCIEForms(t *testing.T) {
	tail := []byte{0x0c, 7, 8, 0x90, 1}
	for _, c := range []struct {
		name  string
		debug bool
		wide  bool
		cie   []byte
		fde   []byte // after the addresses
	}{
		{name: "version 1", cie: plain},
		{name: "version 3: RA is a LEB128", cie: append([]byte{3, 0, 1, 0x78, 0x90, 0x00}, tail...)},
		{name: ".debug_frame version 1", debug: true, cie: plain},
		{name: ".debug_frame version 3", debug: true, cie: append([]byte{3, 0, 1, 0x78, 16}, tail...)},
		{name: ".debug_frame version 4", debug: true, cie: append([]byte{4, 0, 8, 0, 1, 0x78, 16}, tail...)},
		{name: ".debug_frame 64-bit", debug: true, wide: true, cie: append([]byte{4, 0, 8, 0, 1, 0x78, 16}, tail...)},
		{name: ".eh_frame 64-bit", wide: true, cie: plain},
		{name: "zR", cie: append([]byte{1, 'z', 'R', 0, 1, 0x78, 16, 1, 0}, tail...), fde: []byte{0}},
		{name: "zPLR without LSDA", cie: append([]byte{1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0}, tail...), fde: []byte{0}},
		{name: "zPLR with LSDA", cie: append([]byte{1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0}, tail...), fde: []byte{4, 1, 2, 3, 4}},
		{name: "old eh", cie: append([]byte{1, 'e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, 16}, tail...)},
		{name: "unknown letter after z", cie: append([]byte{1, 'z', 'Q', 'R', 0, 1, 0x78, 16, 3, 9, 9, 9}, tail...), fde: []byte{0}},
		{name: "S", cie: append([]byte{1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0}, tail...), fde: []byte{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &builder{a: arch.AMD64, debug: c.debug, wide: c.wide}
			cie := b.cie(c.cie...)
			b.fde(cie, 0x1000, 0x100, append(c.fde, 0x86, 2)...)
			b.fde(cie, 0x1100, 0x100, c.fde...)
			var r row.Row
			if err := b.table().RowAt(0x1001, &r); err != nil {
				t.Fatal(err)
			}
			want := "0000000000001000 cfa=rsp+8 rbp=c-16 ra=c-8"
			if c.name == "S" {
				want += " signal"
			}
			if got := r.Format(arch.AMD64); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			f, _ := b.table().Find(0x1001)
			if f.HasLSDA != (c.name == "zPLR with LSDA") {
				t.Errorf("LSDA: %v 0x%x", f.HasLSDA, f.LSDA)
			}
		})
	}
	for name, cie := range map[string][]byte{
		"version 2":           {2, 0, 1, 0x78, 16},
		"unknown letter":      {1, 'Q', 0, 1, 0x78, 16},
		"augmentation length": {1, 'z', 'R', 0, 1, 0x78, 16, 0x7f, 0},
		"unterminated":        {1, 'z', 'R'},
		"address size":        {4, 0, 3, 0, 1, 0x78, 16},
	} {
		b := &builder{a: arch.AMD64}
		b.fde(b.cie(cie...), 0x1000, 0x100)
		good := b.cie(plain...)
		b.fde(good, 0x2000, 0x100)
		if _, ok := b.table().Find(0x1000); ok {
			t.Errorf("%s: believed", name)
		}
		if _, ok := b.table().Find(0x2000); !ok {
			t.Errorf("%s: the good entry after it is lost", name)
		}
	}
}

func TestSegmentSize(t *testing.T) {
	b := &builder{a: arch.AMD64, debug: true}
	c := b.cie(4, 0, 8, 4, 1, 0x78, 16, 0x0c, 7, 8)
	b.rawFDE(c, slices.Concat(u32(7), u64(0x1000), u64(0x10))...)
	if f, ok := b.table().Find(0x1008); !ok || f.Lo != 0x1000 || f.Hi != 0x1010 {
		t.Errorf("%x..%x, %v", f.Lo, f.Hi, ok)
	}
}

func TestPointerEncodings(t *testing.T) {
	for _, c := range []struct {
		name string
		enc  byte
		lo   func(at uint64) []byte // at is the address of the pointer
		size []byte
	}{
		{"absptr", 0x00, func(uint64) []byte { return u64(0x5000) }, u64(0x40)},
		{"uleb128", 0x01, func(uint64) []byte { return []byte{0x80, 0xa0, 0x01} }, []byte{0x40}},
		{"udata2", 0x02, func(uint64) []byte { return []byte{0, 0x50} }, []byte{0x40, 0}},
		{"udata4", 0x03, func(uint64) []byte { return u32(0x5000) }, u32(0x40)},
		{"udata8", 0x04, func(uint64) []byte { return u64(0x5000) }, u64(0x40)},
		{"signed", 0x08, func(uint64) []byte { return u64(0x5000) }, u64(0x40)},
		{"sleb128", 0x09, func(uint64) []byte { return []byte{0x80, 0xa0, 0x01} }, []byte{0xc0, 0}},
		{"sdata2", 0x0a, func(uint64) []byte { return []byte{0, 0x50} }, []byte{0x40, 0}},
		{"sdata4", 0x0b, func(uint64) []byte { return u32(0x5000) }, u32(0x40)},
		{"sdata8", 0x0c, func(uint64) []byte { return u64(0x5000) }, u64(0x40)},
		{"pcrel sdata4", 0x1b, func(at uint64) []byte { return u32(uint32(0x5000 - at)) }, u32(0x40)},
		{"pcrel sdata8", 0x1c, func(at uint64) []byte { return u64(0x5000 - at) }, u64(0x40)},
		{"textrel udata2", 0x22, func(uint64) []byte { return []byte{0, 0x40} }, []byte{0x40, 0}},
		{"datarel sdata4", 0x3b, func(uint64) []byte { return u32(^uint32(0x9000-0x5000) + 1) }, u32(0x40)},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &builder{a: arch.AMD64}
			cie := b.cie(1, 'z', 'R', 0, 1, 0x78, 16, 1, c.enc, 0x0c, 7, 8)
			at := uint64(sectionAddr + len(b.b) + 8)
			b.rawFDE(cie, slices.Concat(c.lo(at), c.size, []byte{0})...)
			if f, ok := b.table().Find(0x5020); !ok || f.Lo != 0x5000 || f.Hi != 0x5040 {
				t.Errorf("%x..%x, %v", f.Lo, f.Hi, ok)
			}
		})
	}
	for _, enc := range []byte{0xff, 0x80, 0x9b, 0x0e, 0x6b} { // omit, indirect, unknown encodings
		b := &builder{a: arch.AMD64}
		b.rawFDE(b.cie(1, 'z', 'R', 0, 1, 0x78, 16, 1, enc), make([]byte, 20)...)
		if f, ok := b.table().Find(0); ok {
			t.Errorf("encoding 0x%x: %+v", enc, f)
		}
	}
	// aligned: the pointer is at the next multiple of 8
	b := &builder{a: arch.AMD64}
	cie := b.cie(1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x50, 0x0c, 7, 8)
	pad := -(len(b.b) + 8) & 7
	b.rawFDE(cie, slices.Concat(make([]byte, pad), u64(0x5000), u64(0x40), []byte{0})...)
	if f, ok := b.table().Find(0x5020); !ok || f.Lo != 0x5000 {
		t.Errorf("aligned: %x..%x, %v", f.Lo, f.Hi, ok)
	}
}

func TestSectionLayout(t *testing.T) {
	t.Run("CIE after its FDE", func(t *testing.T) {
		for _, debug := range []bool{false, true} {
			b := &builder{a: arch.AMD64, debug: debug}
			size := 4 + 4 + 16 // size of the FDE
			b.fde(size, 0x1000, 0x10)
			b.cie(plain...)
			if _, ok := b.table().Find(0x1000); !ok {
				t.Errorf("debug=%v: not found", debug)
			}
		}
	})
	t.Run("FDE whose CIE is an FDE, and itself", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		first := b.fde(24, 0x1000, 0x10)
		b.fde(first, 0x1000, 0x10)
		b.fde(len(b.b), 0x1000, 0x10)
		if _, ok := b.table().Find(0x1000); ok {
			t.Error("believed")
		}
	})
	t.Run("zero terminator in the middle", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		b.fde(c, 0x1000, 0x10)
		b.b = append(b.b, 0, 0, 0, 0)
		b.fde(c, 0x2000, 0x10)
		if _, ok := b.table().Find(0x2000); !ok {
			t.Error("not found")
		}
	})
	t.Run("zero-length, adjoining and overlapping", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		outer := b.fde(c, 0x1000, 0x1000)
		inner := b.fde(c, 0x1400, 0x100)
		b.fde(c, 0x1450, 0)
		next := b.fde(c, 0x2000, 0x10)
		for pc, want := range map[uint64]int{0x1000: outer, 0x1400: inner, 0x1450: inner, 0x14ff: inner, 0x1500: outer, 0x1fff: outer, 0x2000: next, 0x200f: next, 0x2010: -1, 0xfff: -1} {
			f, ok := b.table().Find(pc)
			if ok != (want >= 0) || ok && int(f.Offset) != want {
				t.Errorf("0x%x: 0x%x, %v; want 0x%x", pc, f.Offset, ok, want)
			}
		}
	})
	t.Run("addresses of 2^63 and above", func(t *testing.T) {
		b := &builder{a: arch.AMD64}
		c := b.cie(plain...)
		b.fde(c, 0xffffffff_81000000, 0x10)
		b.fde(c, 0xffffffff_fffffff0, 0x20) // beyond the end
		if _, ok := b.table().Find(0xffffffff_81000008); !ok {
			t.Error("not found")
		}
		if _, ok := b.table().Find(0xffffffff_fffffff8); ok {
			t.Error("believed an FDE that goes beyond the end of the address space")
		}
	})
}

// searchHeader returns a header with a table of these pairs.
func searchHeader(enc byte, pairs ...[2]uint64) []byte {
	h := []byte{1, 0x03, 0x03, enc}
	h = append(h, u32(sectionAddr)...)
	h = append(h, u32(uint32(len(pairs)))...)
	for _, p := range pairs {
		for _, v := range p {
			switch enc {
			case 0x3b:
				h = append(h, u32(uint32(v-0x300000))...)
			case 0x3c:
				h = append(h, u64(v-0x300000)...)
			case 0x03:
				h = append(h, u32(uint32(v))...)
			case 0x04:
				h = append(h, u64(v)...)
			case 0x1b:
				h = append(h, u32(uint32(v-(0x300000+uint64(len(h)))))...)
			}
		}
	}
	return h
}

func TestHeader(t *testing.T) {
	b := &builder{a: arch.AMD64}
	c := b.cie(plain...)
	var pairs [][2]uint64
	for i := range uint64(10) {
		off := b.fde(c, 0x1000+0x100*i, 0x80)
		pairs = append(pairs, [2]uint64{0x1000 + 0x100*i, sectionAddr + uint64(off)})
	}
	check := func(t *testing.T, hdr []byte) {
		t.Helper()
		conf := b.config()
		conf.Hdr, conf.HdrAddr = hdr, 0x300000
		table := cfi.New(conf)
		for i := range uint64(10) {
			lo := 0x1000 + 0x100*i
			for pc, want := range map[uint64]bool{lo - 1: false, lo: true, lo + 0x7f: true, lo + 0x80: false} {
				if f, ok := table.Find(pc); ok != want || ok && f.Lo != lo {
					t.Errorf("0x%x: 0x%x, %v", pc, f.Lo, ok)
				}
			}
		}
	}
	for _, enc := range []byte{0x3b, 0x3c, 0x03, 0x04, 0x1b} {
		t.Run("encoding "+string("0123456789abcdef"[enc>>4])+string("0123456789abcdef"[enc&15]), func(t *testing.T) {
			check(t, searchHeader(enc, pairs...))
		})
	}
	reversed := slices.Clone(pairs)
	slices.Reverse(reversed)
	wrong := slices.Clone(pairs)
	for i := range wrong {
		wrong[i][1] += 3
	}
	for name, hdr := range map[string][]byte{
		"missing":         nil,
		"no table":        {1, 0x03, 0xff, 0xff, 0, 0, 0, 0},
		"version":         append([]byte{2}, searchHeader(0x3b, pairs...)[1:]...),
		"unsorted":        searchHeader(0x3b, reversed...),
		"wrong addresses": searchHeader(0x3b, wrong...),
		"a gap":           searchHeader(0x3b, pairs[:3]...),
		"truncated":       searchHeader(0x3b, pairs...)[:40],
		"uleb128 table":   append([]byte{1, 0x03, 0x03, 0x01}, searchHeader(0x3b, pairs...)[4:]...),
	} {
		t.Run(name, func(t *testing.T) { check(t, hdr) })
	}
}

func TestErrorsNameTheEntry(t *testing.T) {
	b := &builder{a: arch.AMD64}
	c := b.cie(plain...)
	b.fde(c, 0x1000, 0x10, 0x3d)
	var r row.Row
	err := b.table().RowAt(0x1000, &r)
	if err == nil || !strings.Contains(err.Error(), ".eh_frame entry at 0x12") {
		t.Errorf("%v", err)
	}
	if err := b.table().RowAt(0x3000, &r); err != cfi.ErrNotCovered {
		t.Errorf("%v", err)
	}
}
