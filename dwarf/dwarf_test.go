package dwarf

import (
	"dbg/dwarf/form"
	"encoding/binary"
	"slices"
	"testing"
)

// sections is a Source from a map of section contents.
type sections map[string][]byte

func (s sections) Prefix(name string, n uint64) []byte { return s[name] }

func u16(v uint16) []byte { return binary.LittleEndian.AppendUint16(nil, v) }
func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

// unit5 returns a .debug_info with one DWARF 5 unit in 32-bit format.
func unit5(body ...[]byte) []byte {
	b := cat(append([][]byte{u16(5), {byte(UTCompile), 8}, u32(0)}, body...)...)
	return cat(u32(uint32(len(b))), b)
}

// unit4 is unit5 for DWARF 4.
func unit4(body ...[]byte) []byte {
	b := cat(append([][]byte{u16(4), u32(0), {8}}, body...)...)
	return cat(u32(uint32(len(b))), b)
}

func first(t *testing.T, s sections) (*Unit, *Entry) {
	t.Helper()
	units, err := New(s, false).Units()
	if err != nil || len(units) != 1 {
		t.Fatalf("%d units, %v", len(units), err)
	}
	e, err := units[0].Entry(units[0].First)
	if err != nil {
		t.Fatal(err)
	}
	return units[0], e
}

// TestLocationLists reads lists in both formats with every difficult kind of entry.
func TestLocationLists(t *testing.T) {
	abbrev := []byte{1, byte(TagVariable), 0, byte(AttrLocation), byte(form.SecOffset), byte(AttrLowPC), byte(form.Addr), 0, 0, 0}
	loc4 := cat(
		u64(0x10), u64(0x20), u16(1), []byte("a"), // from the unit's low PC, 0x1000
		u64(^uint64(0)), u64(0x5000), // base address selection
		u64(0), u64(0x10), u16(1), []byte("b"),
		u64(0), u64(0),
		u64(0), u64(0x9000), u16(1), []byte("x"), // belongs to another list
	)
	loclists := cat(
		[]byte{lleViewPair, 1, 2}, []byte{lleOffsetPair, 0x10, 0x20, 1, 'a'},
		[]byte{lleBaseAddress}, u64(0x5000), []byte{lleOffsetPair, 0, 0x10, 1, 'b'},
		[]byte{lleStartEnd}, u64(0x6000), u64(0x6001), []byte{1, 'c'},
		[]byte{lleStartLength}, u64(0x7000), []byte{0x10, 1, 'd'},
		[]byte{lleStartxLength, 1, 0x10, 1, 'e'},
		[]byte{lleStartxEndx, 0, 1, 1, 'f'},
		[]byte{lleEndOfList},
		[]byte{lleDefaultLocation, 1, 'x', lleEndOfList},
	)
	addr := cat(u64(0x8000), u64(0x8100))
	for _, c := range []struct {
		name  string
		s     sections
		wants map[uint64]string
	}{
		{"4", sections{".debug_abbrev": abbrev, ".debug_loc": loc4,
			".debug_info": unit4([]byte{1}, u32(0), u64(0x1000))},
			map[uint64]string{0x100f: "", 0x1010: "a", 0x101f: "a", 0x1020: "", 0x5000: "b", 0x5010: "", 0x8fff: ""}},
		{"5", sections{".debug_abbrev": abbrev, ".debug_loclists": loclists, ".debug_addr": addr,
			".debug_info": unit5([]byte{1}, u32(0), u64(0x1000))},
			map[uint64]string{0x1010: "a", 0x1020: "", 0x5001: "b", 0x6000: "c", 0x6001: "", 0x700f: "d", 0x8100: "e", 0x8000: "f", 0x9999: ""}},
		{"5, default", sections{".debug_abbrev": abbrev, ".debug_loclists": loclists,
			".debug_info": unit5([]byte{1}, u32(uint32(len(loclists)-4)), u64(0x1000))},
			map[uint64]string{1: "x", 0x9999: "x"}},
		{"5, beyond the section", sections{".debug_abbrev": abbrev, ".debug_loclists": loclists,
			".debug_info": unit5([]byte{1}, u32(1000), u64(0x1000))},
			map[uint64]string{0x1010: ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, e := first(t, c.s)
			for pc, want := range c.wants {
				got, err := u.Location(e.Find(AttrLocation), pc)
				if string(got) != want || (err != nil) != (c.name == "5, beyond the section") {
					t.Errorf("0x%x: got %q, %v, want %q", pc, got, err, want)
				}
			}
		})
	}
}

// TestTombstones checks that ranges which the linker has marked as discarded are omitted.
func TestTombstones(t *testing.T) {
	abbrev := []byte{1, byte(TagSubprogram), 0, byte(AttrRanges), byte(form.SecOffset), 0, 0, 0}
	rnglists := cat(
		[]byte{rleStartLength}, u64(^uint64(0)), []byte{0x10},
		[]byte{rleBaseAddress}, u64(^uint64(0)), []byte{rleOffsetPair, 1, 2},
		[]byte{rleStartEnd}, u64(0x10), u64(0x20), []byte{rleStartEnd}, u64(0x20), u64(0x20), []byte{rleEndOfList},
	)
	_, e := first(t, sections{".debug_abbrev": abbrev, ".debug_rnglists": rnglists, ".debug_info": unit5([]byte{1}, u32(0))})
	if got, err := e.Ranges(); err != nil || !slices.Equal(got, []Range{{0x10, 0x20}}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestAlt follows a reference and a string into the supplementary file of dwz.
func TestAlt(t *testing.T) {
	common := New(sections{
		".debug_abbrev": {1, byte(TagBaseType), 0, byte(AttrName), byte(form.String), 0, 0, 0},
		".debug_info":   unit5([]byte{1}, []byte("shared\x00")),
		".debug_str":    []byte("zero\x00one\x00"),
	}, false)
	s := sections{
		".debug_abbrev": {1, byte(TagVariable), 0, byte(AttrName), 0xa1, 0x3e, byte(AttrType), 0xa0, 0x3e, 0, 0, 0},
		".debug_info":   unit5([]byte{1}, u32(5), u32(12)),
	}
	_, e := first(t, s)
	if name, ok := e.String(AttrName); ok || e.Ref(AttrType) != nil {
		t.Errorf("without the other file there is %q and a type", name)
	}
	d := New(s, false)
	d.Alt = func() *Data { return common }
	units, _ := d.Units()
	e, err := units[0].Entry(units[0].First)
	if err != nil {
		t.Fatal(err)
	}
	if name, _ := e.String(AttrName); name != "one" {
		t.Errorf("the name is %q", name)
	}
	ty := e.Ref(AttrType)
	if ty == nil {
		t.Fatal("no type")
	}
	if name, _ := ty.String(AttrName); name != "shared" {
		t.Errorf("the type is %q", name)
	}
}

// TestHostile reads entries that no compiler writes.
func TestHostile(t *testing.T) {
	for name, s := range map[string]sections{
		"no abbreviations": {".debug_info": unit5([]byte{1})},
		"unknown form":     {".debug_abbrev": {1, 0x34, 0, 3, 0x7f, 0, 0, 0}, ".debug_info": unit5([]byte{1, 0, 0})},
		"cut short":        {".debug_abbrev": {1, 0x34, 0, 3, byte(form.Data8), 0, 0, 0}, ".debug_info": unit5([]byte{1, 0, 0})},
		"huge block":       {".debug_abbrev": {1, 0x34, 0, 2, byte(form.Exprloc), 0, 0, 0}, ".debug_info": unit5([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x7f})},
		"long unit":        {".debug_info": {0xef, 0xff, 0xff, 0xff, 5, 0}},
		"reserved length":  {".debug_info": {0xf0, 0xff, 0xff, 0xff, 5, 0}},
	} {
		units, err := New(s, false).Units()
		for _, u := range units {
			if _, e := u.Entry(u.First); e != nil {
				err = e
			}
			u.Root()
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// A sibling that refers backwards must not cause an endless walk.
	abbrev := []byte{1, byte(TagSubprogram), 1, byte(AttrSibling), byte(form.Ref4), 0, 0, 0}
	_, e := first(t, sections{".debug_abbrev": abbrev, ".debug_info": unit5([]byte{1}, u32(12), []byte{0})})
	if next, err := e.AfterChildren(); err != nil || next != e.Unit.End {
		t.Errorf("got 0x%x, %v", next, err)
	}
}
