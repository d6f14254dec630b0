package compact_test

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/compact"
)

// encodeDescriptors writes __compact_unwind.
func encodeDescriptors(list []compact.Descriptor, order binary.AppendByteOrder, word int) (b []byte) {
	put := func(v uint64) {
		if word == 8 {
			b = order.AppendUint64(b, v)
		} else {
			b = order.AppendUint32(b, uint32(v))
		}
	}
	for _, d := range list {
		put(d.Lo)
		b = order.AppendUint32(order.AppendUint32(b, uint32(d.Length)), uint32(d.Opcode))
		put(d.Personality)
		put(d.LSDA)
	}
	return b
}

// TestDescriptorRoundTrip writes random descriptors, reads them, and looks each address up in the table of them.
func TestDescriptorRoundTrip(t *testing.T) {
	for seed := range 100 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 3))
		word := 4 << (seed % 2)
		var list []compact.Descriptor
		at := uint64(rnd.IntN(100))
		for i := range rnd.IntN(3000) { // three pages
			at += uint64(rnd.IntN(2) * rnd.IntN(50))
			d := compact.Descriptor{Lo: at, Length: 1 + rnd.Uint64N(60), Opcode: compact.Opcode(rnd.Uint32()),
				Personality: rnd.Uint64N(1 << 30), LSDA: rnd.Uint64N(1 << 30), Offset: i * compact.DescriptorSize(word)}
			at += d.Length
			list = append(list, d)
		}
		got, err := compact.Descriptors(encodeDescriptors(list, binary.LittleEndian, word), binary.LittleEndian, word)
		if err != nil || len(got) != len(list) {
			t.Fatalf("seed %d: %d descriptors, want %d (%v)", seed, len(got), len(list), err)
		}
		rnd.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] }) // of any order
		table, err := compact.OfDescriptors(compact.Config{Arch: arch.AMD64}, got)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got {
			if d != list[d.Offset/compact.DescriptorSize(word)] {
				t.Fatalf("seed %d: %+v, want %+v", seed, d, list[d.Offset/compact.DescriptorSize(word)])
			}
		}
		for i, d := range list {
			var e compact.Entry
			for _, pc := range []uint64{d.Lo, d.Lo + d.Length - 1} {
				if err := table.Find(pc, &e); err != nil || e.Lo != d.Lo || e.Hi != d.Lo+d.Length ||
					e.Opcode != d.Opcode&^0x70000000 {
					t.Fatalf("seed %d: 0x%x has the entry %+v (%v), want %+v", seed, pc, e, err, d)
				}
			}
			if i+1 < len(list) && list[i+1].Lo > d.Lo+d.Length {
				if err := table.Find(d.Lo+d.Length, &e); err == nil && e.Opcode.Kind(arch.AMD64) != compact.None {
					t.Fatalf("seed %d: the space at 0x%x has the entry %+v", seed, d.Lo+d.Length, e)
				}
			}
		}
	}
}

func TestDamagedDescriptors(t *testing.T) {
	if _, err := compact.Descriptors(make([]byte, 33), binary.LittleEndian, 8); err == nil {
		t.Error("33 bytes are no descriptors")
	}
	for _, c := range []struct {
		name string
		list []compact.Descriptor
		want string
	}{
		{"empty function", []compact.Descriptor{{Lo: 8}}, "has no length"},
		{"overlap", []compact.Descriptor{{Lo: 8, Length: 8}, {Lo: 12, Length: 8, Offset: 32}},
			"+0x20: the function at 0xc overlaps"},
		{"the same twice", []compact.Descriptor{{Lo: 8, Length: 8}, {Lo: 8, Length: 8}}, "overlaps"},
		{"large address", []compact.Descriptor{{Lo: 1 << 32, Length: 8}}, "first 4 GB"},
		{"end of the address space", []compact.Descriptor{{Lo: ^uint64(0), Length: 8}}, "first 4 GB"},
	} {
		_, err := compact.OfDescriptors(compact.Config{Arch: arch.AMD64}, c.list)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestOpcodesARM decodes opcodes of armv7k.
func TestOpcodesARM(t *testing.T) {
	for _, c := range []struct {
		opcode compact.Opcode
		want   string
	}{
		{0, "none"},
		{0x01000000, "frame: CFA=r7+8, lr at CFA-4, r7 at CFA-8"},
		{0x01c00005, "frame: CFA=r7+20, lr at CFA-16, r7 at CFA-20, r6 at CFA-24, r4 at CFA-28"},
		{0x010000ff, "frame: CFA=r7+8, lr at CFA-4, r7 at CFA-8, r6 at CFA-12, r5 at CFA-16, r4 at CFA-20, r12 at CFA-24, " +
			"r11 at CFA-28, r10 at CFA-32, r9 at CFA-36, r8 at CFA-40"},
		{0x02000000, "frame: CFA=r7+8, lr at CFA-4, r7 at CFA-8, d8 at CFA-16"},
		{0x02400301, "frame: CFA=r7+12, lr at CFA-8, r7 at CFA-12, r4 at CFA-16, " +
			"d14 at CFA-24, d12 at CFA-32, d10 at CFA-40, d8 at CFA-48"},
		{0x04000123, "DWARF: __eh_frame+0x123"},
		{0x01000100, "opcode 0x01000100: it has d registers, which its kind does not save"},
		{0x02000400, "opcode 0x02000400: the meaning of 5 d registers is unknown"},
		{0x02000800, "opcode 0x02000800: the meaning of 9 d registers is unknown"},
		{0x01001000, "opcode 0x01001000: the meaning of bits 12..21 is unknown"},
		{0x03000000, "opcode 0x03000000: kind 3 of arm is unknown"},
	} {
		if got := c.opcode.String(arch.ARM); got != c.want {
			t.Errorf("0x%08x: %s, want %s", uint32(c.opcode), got, c.want)
		}
	}
}

// FuzzDescriptors makes tables of any bytes.
func FuzzDescriptors(f *testing.F) {
	f.Add(encodeDescriptors([]compact.Descriptor{{Lo: 8, Length: 4, Opcode: 0x01000005}, {Lo: 20, Length: 4}},
		binary.LittleEndian, 8), true)
	f.Fuzz(func(t *testing.T, data []byte, wide bool) {
		word := 4
		if wide {
			word = 8
		}
		list, err := compact.Descriptors(data, binary.LittleEndian, word)
		if err != nil {
			return
		}
		table, err := compact.OfDescriptors(compact.Config{Arch: arch.ARM}, list)
		if err != nil {
			return
		}
		var e compact.Entry
		for _, d := range list {
			if err := table.Find(d.Lo, &e); err != nil || e.Lo != d.Lo {
				t.Fatalf("0x%x: %+v (%v)", d.Lo, e, err)
			}
		}
	})
}
