package nameindex

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/dwarf"
	"dbg/dwarf/form"
	"dbg/image"
	"dbg/internal/fixture"
)

// sections is a dwarf.Source from a map of section contents.
type sections map[string][]byte

func (s sections) Prefix(name string, n uint64) []byte { return s[name] }

func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

// nameIndexOf returns a name index of one name, "Ab", with these buckets (0 means none), entries and
// abbreviations. It has two compile units, a type unit in this file and one in another.
func nameIndexOf(order binary.AppendByteOrder, is64 bool, buckets uint32, abbrevs, entries []byte) []byte {
	n4 := func(b []byte, v ...uint32) []byte {
		for _, v := range v {
			b = order.AppendUint32(b, v)
		}
		return b
	}
	word := func(b []byte, v ...uint64) []byte {
		for _, v := range v {
			if is64 {
				b = order.AppendUint64(b, v)
			} else {
				b = order.AppendUint32(b, uint32(v))
			}
		}
		return b
	}
	b := order.AppendUint16(nil, 5)
	b = order.AppendUint16(b, 0)
	b = n4(b, 2, 1, 1, buckets, 1, uint32(len(abbrevs)), 6)
	b = append(b, "LLVMxx\x00\x00"...) // 6 bytes and padding
	b = word(b, 0x11, 0x22, 0x33)
	b = order.AppendUint64(b, 0x4444444444444444)
	if buckets > 0 {
		h, _ := nameHash("Ab")
		for i := range buckets {
			v := uint32(0)
			if i == h%buckets {
				v = 1
			}
			b = n4(b, v)
		}
		b = n4(b, h)
	}
	b = word(b, 1, 0) // the offsets of the string and of the entry
	b = append(append(b, abbrevs...), entries...)
	if is64 {
		return append(order.AppendUint64(n4(nil, 0xffffffff), uint64(len(b))), b...)
	}
	return append(n4(nil, uint32(len(b))), b...)
}

// Section 6.1.1.4.7: code, tag, attributes with forms. The abbreviations are one with a unit number
// and an entry, one with a type unit, and one with unknown attributes.
var nameAbbrevs = []byte{1, byte(dwarf.TagSubprogram), idxCompileUnit, byte(form.Data1), idxDieOffset, byte(form.Ref4), idxParent, byte(form.FlagPresent), 0, 0,
	2, byte(dwarf.TagStructureType), idxTypeUnit, byte(form.Udata), idxDieOffset, byte(form.Ref1), idxTypeHash, byte(form.Data8), 0, 0,
	3, byte(dwarf.TagVariable), 0x80, 0x40, byte(form.Udata), idxCompileUnit, byte(form.Data2), 0x81, 0x40, byte(form.Data16), idxDieOffset, byte(form.RefUdata), 0, 0, 0}

func nameEntries(order binary.AppendByteOrder) []byte {
	b := order.AppendUint32([]byte{1, 1}, 0x50)
	b = append(b, 2, 0, 0x60)
	b = order.AppendUint64(b, 7)
	b = append(b, 2, 1, 0x61)
	b = order.AppendUint64(b, 8)
	b = append(b, 3, 0x99, 1)
	b = order.AppendUint16(b, 0)
	return append(append(b, make([]byte, 16)...), 0x90, 1, 0)
}

func TestNameTable(t *testing.T) {
	want := []Entry{
		{Tag: dwarf.TagSubprogram, Unit: 0x22, Die: 0x50, Has: HasUnit | HasDie},
		{Tag: dwarf.TagStructureType, TypeUnit: 0x33, Die: 0x60, Hash: 7, Has: HasTypeUnit | HasDie | HasTypeHash},
		{Tag: dwarf.TagStructureType, Signature: 0x4444444444444444, Die: 0x61, Hash: 8, Has: HasSignature | HasDie | HasTypeHash},
		{Tag: dwarf.TagVariable, Unit: 0x11, Die: 0x90, Has: HasUnit | HasDie},
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, is64 := range []bool{false, true} {
			for _, buckets := range []uint32{0, 1, 7} {
				t.Run(fmt.Sprint(order, is64, buckets), func(t *testing.T) {
					one := nameIndexOf(order, is64, buckets, nameAbbrevs, nameEntries(order))
					d := dwarf.New(sections{".debug_names": cat(one, one), ".debug_str": []byte("\x00Ab\x00aB\x00")}, order == binary.AppendByteOrder(binary.BigEndian))
					tables, err := Tables(d)
					if err != nil || len(tables) != 2 {
						t.Fatalf("%d, %v", len(tables), err)
					}
					for _, x := range tables {
						if x.Producer != "LLVMxx" || x.NumNames() != 1 || x.String(0) != 1 || x.Size() != uint64(len(one)) {
							t.Errorf("%q, %d names", x.Producer, x.NumNames())
						}
						var units []uint64
						x.Units(func(off uint64) { units = append(units, off) })
						if !slices.Equal(units, []uint64{0x11, 0x22, 0x33}) {
							t.Errorf("units %x", units)
						}
						var got []Entry
						x.Find("Ab", func(i uint32) bool {
							if err := x.Entries(i, func(e *Entry) bool { got = append(got, *e); return true }); err != nil {
								t.Error(err)
							}
							return true
						})
						if !slices.Equal(got, want) {
							t.Errorf("got  %+v\nwant %+v", got, want)
						}
						for _, other := range []string{"aB", "A", "", "Abc", "Äb"} {
							x.Find(other, func(uint32) bool { t.Errorf("%q is found", other); return true })
						}
					}
				})
			}
		}
	}
}

// TestNameTableErrors checks that an error contains the place of a defect, and that the data before
// it is used.
func TestNameTableErrors(t *testing.T) {
	le := binary.LittleEndian
	good := nameIndexOf(le, false, 1, nameAbbrevs, nameEntries(le))
	open := func(b []byte) ([]*Table, error) {
		return Tables(dwarf.New(sections{".debug_names": b, ".debug_str": []byte("\x00Ab\x00")}, false))
	}
	for n := 1; n < len(good); n++ {
		tables, err := open(cat(good, good[:n]))
		if len(tables) != 1 || err == nil || !strings.Contains(err.Error(), fmt.Sprintf(".debug_names index at 0x%x: ", len(good))) {
			t.Fatalf("%d bytes: %d tables, %v", n, len(tables), err)
		}
	}
	for what, c := range map[string]struct{ abbrevs, entries []byte }{
		"unknown abbreviation code 9":           {nameAbbrevs, []byte{9}},
		"no compile unit 2":                     {nameAbbrevs, []byte{1, 2, 0, 0, 0, 0, 0}},
		"no type unit 2":                        {nameAbbrevs, []byte{2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		"cut short":                             {nameAbbrevs, []byte{1, 1}},
		"offset is beyond the end of the index": {nameAbbrevs, nil},
		"an attribute of unknown form 0x3f":     {[]byte{1, 1, 3, 0x3f, 0, 0, 0}, []byte{1, 1}},
	} {
		tables, err := open(nameIndexOf(le, false, 1, c.abbrevs, c.entries))
		if err != nil || len(tables) != 1 {
			t.Fatalf("%s: %v", what, err)
		}
		err = tables[0].Entries(0, func(*Entry) bool { return true })
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), ".debug_names entry at 0x") {
			t.Errorf("%v, want %s", err, what)
		}
	}
}

// gdbIndexOf returns an index of two units and a type unit, with a function "n::f" in both units
// and a type "n" in the type unit.
func gdbIndexOf(version uint32) []byte {
	header := 4 * 6
	if version >= 9 {
		header += 4
	}
	units := cat(u64(0x10), u64(0x20), u64(0x30), u64(0x40))
	types := cat(u64(0x50), u64(0x1e), u64(0x99))
	areas := cat(u64(0x1000), u64(0x2000), u32(1))
	pool := cat(u32(2), u32(0x30000000), u32(0xb0000001), u32(1), u32(0x10000002), []byte("n::f\x00n\x00"))
	slots := cat(u32(0), u32(0), u32(20), u32(0), u32(25), u32(12), u32(0), u32(0))
	at := func(parts ...[]byte) uint32 {
		n := header
		for _, p := range parts {
			n += len(p)
		}
		return uint32(n)
	}
	b := cat(u32(version), u32(at()), u32(at(units)), u32(at(units, types)), u32(at(units, types, areas)))
	shortcut := []byte(nil)
	if version >= 9 {
		shortcut = cat(u32(4), u32(0))
		b = cat(b, u32(at(units, types, areas, slots)))
	}
	return cat(b, u32(at(units, types, areas, slots, shortcut)), units, types, areas, slots, shortcut, pool)
}

func TestGDBIndex(t *testing.T) {
	for version := uint32(4); version <= 9; version++ {
		x, err := ReadGDB(dwarf.New(sections{".gdb_index": gdbIndexOf(version)}, true))
		if err != nil {
			t.Fatal(err)
		}
		var units []GDBUnit
		for i := range x.NumUnits() + 2 {
			if u, ok := x.Unit(i - 1); ok {
				units = append(units, u)
			}
		}
		if !slices.Equal(units, []GDBUnit{{Offset: 0x10}, {Offset: 0x30}, {0x50, 0x99, true}}) {
			t.Errorf("%+v", units)
		}
		x.Areas(func(r dwarf.Range, unit uint32) bool {
			if r != (dwarf.Range{Lo: 0x1000, Hi: 0x2000}) || unit != 1 {
				t.Errorf("%+v %d", r, unit)
			}
			return true
		})
		said := ""
		for _, text := range []string{"n", "f", "::", "n::f", "x", "", "nn"} {
			said += text + ":"
			x.Mentioning(text, func(name []byte, units uint32) bool {
				said += fmt.Sprintf(" %s", name)
				if err := x.Units(units, func(s GDBSymbol) bool { said += fmt.Sprint(s); return true }); err != nil {
					t.Error(err)
				}
				return true
			})
			said += ";"
		}
		if want := "n: n::f{0 3 false}{1 3 true} n{2 1 false};f: n::f{0 3 false}{1 3 true};::: n::f{0 3 false}{1 3 true};n::f: n::f{0 3 false}{1 3 true};x:;:;nn:;"; said != want {
			t.Errorf("got  %s\nwant %s", said, want)
		}
		if got := x.UnitsWithSymbols(); !slices.Equal(got, []bool{true, true, true}) {
			t.Error(got)
		}
		for _, at := range []uint32{1 << 31, uint32(x.Size()), 21} {
			if err := x.Units(at, func(GDBSymbol) bool { return true }); err == nil || !strings.Contains(err.Error(), ".gdb_index unit list at 0x") {
				t.Errorf("units at %d: %v", at, err)
			}
		}
	}
	good := gdbIndexOf(8)
	for n := 1; n < len(good)-40; n++ {
		if x, err := ReadGDB(dwarf.New(sections{".gdb_index": good[:n]}, false)); err == nil && n < 24+4*16+24+20 || err != nil && !strings.Contains(err.Error(), ".gdb_index") {
			t.Errorf("%d bytes: %v, %v", n, x, err)
		}
	}
	for _, version := range []uint32{0, 3, 10} {
		if _, err := ReadGDB(dwarf.New(sections{".gdb_index": cat(u32(version), good[4:])}, false)); err == nil {
			t.Errorf("version %d is understood", version)
		}
	}
}

// accelProgram compiles and links a program with a table, and returns its path and sections.
func accelProgram(t testing.TB, tool, cflags, link string) (string, sections) {
	t.Helper()
	fixture.Need(t, tool, "gold", "ld.lld-19")
	dir := t.TempDir()
	out := filepath.Join(dir, "prog")
	args := append(strings.Fields(cflags+" "+link), "-o", out, filepath.Join(fixture.Root(), "testdata/c/returns.cc"))
	if text, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, text)
	}
	f, err := image.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := sections{}
	for _, sec := range f.Sections() {
		if one, ok := f.Section(sec.Name); ok && (strings.HasPrefix(sec.Name, ".debug_") || sec.Name == ".gdb_index") {
			s[sec.Name] = bytes.Clone(one.Data)
		}
	}
	return out, s
}

// TestNameTablePeer compares every name and entry with llvm-dwarfdump's output, with the hash
// table.
func TestNameTablePeer(t *testing.T) {
	fixture.Need(t, "llvm-dwarfdump-19")
	for _, link := range []string{"", "-fuse-ld=lld -Wl,--debug-names"} {
		path, s := accelProgram(t, "clang++-19", "-g -O1 -gpubnames", link)
		out, err := exec.Command("llvm-dwarfdump-19", "--debug-names", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		name := ""
		for _, m := range regexp.MustCompile(`String: 0x[0-9a-f]+ "(.*)"|DW_IDX_die_offset: 0x([0-9a-f]+)`).FindAllStringSubmatch(string(out), -1) {
			if m[2] == "" {
				name = m[1]
				continue
			}
			off, err := strconv.ParseUint(m[2], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			want[fmt.Sprintf("%s %x", name, off)] = true
		}
		got := map[string]bool{}
		tables, err := Tables(dwarf.New(s, false))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range tables {
			for i := range x.NumNames() {
				text := string(x.d.StringAt(x.String(i)))
				found := false
				x.Find(text, func(k uint32) bool { found = found || k == i; return true })
				if !found {
					t.Errorf("%q is not found by its hash", text)
				}
				if err := x.Entries(i, func(e *Entry) bool { got[fmt.Sprintf("%s %x", text, e.Die)] = true; return true }); err != nil {
					t.Error(err)
				}
			}
		}
		if len(want) < 10 || len(got) != len(want) {
			t.Errorf("%d names and entries, want %d", len(got), len(want))
		}
		for w := range want {
			if !got[w] {
				t.Errorf("%s is missing", w)
			}
		}
	}
}
