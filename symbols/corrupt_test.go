package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"dbg/dwarf"
	"dbg/image"
)

// Two units of DWARF 4, made by hand: one that is damaged in the tests below, at
// 0x1000, and one that is not, at 0x2000. Whatever is done to the first, the second answers.
const (
	badAt  = 0x1000
	goodAt = 0x2000
)

// The abbreviations of both.
var corruptAbbrevs = abbrevs(
	[]any{1, dwarf.TagCompileUnit, true, dwarf.AttrName, formString, dwarf.AttrLowPC, formAddr, dwarf.AttrHighPC, formData8, dwarf.AttrStmtList, formSecOffset},
	[]any{2, dwarf.TagSubprogram, true, dwarf.AttrName, formString, dwarf.AttrLowPC, formAddr, dwarf.AttrHighPC, formData8, dwarf.AttrType, formRef4},
	[]any{3, dwarf.TagTypedef, false, dwarf.AttrName, formString, dwarf.AttrType, formRef4},
	[]any{4, dwarf.TagPointerType, false, dwarf.AttrType, formRef4},
	[]any{5, dwarf.TagStructureType, true, dwarf.AttrName, formString, dwarf.AttrByteSize, formData1},
	[]any{6, dwarf.TagMember, false, dwarf.AttrName, formString, dwarf.AttrType, formRef4, dwarf.AttrMemberLocation, formData1},
	[]any{7, dwarf.TagSubprogram, false, dwarf.AttrSpecification, formRef4, dwarf.AttrLowPC, formAddr, dwarf.AttrHighPC, formData8},
	[]any{8, dwarf.TagSubprogram, false, dwarf.AttrAbstractOrigin, formRef4},
	[]any{9, dwarf.TagImportedUnit, false, dwarf.Attr(0x18), formRefAddr},
	[]any{10, dwarf.TagInlinedSubroutine, true, dwarf.AttrAbstractOrigin, formRef4, dwarf.AttrLowPC, formAddr, dwarf.AttrHighPC, formData8},
	[]any{11, dwarf.TagBaseType, false, dwarf.AttrName, formString, dwarf.AttrByteSize, formData1, dwarf.AttrEncoding, formData1},
	[]any{12, dwarf.TagVariable, false, dwarf.AttrName, formString, dwarf.AttrType, formRef4, dwarf.AttrLocation, formExprloc},
	[]any{13, dwarf.TagSubprogram, false, dwarf.AttrName, formString, dwarf.AttrRanges, formSecOffset},
	[]any{14, dwarf.TagArrayType, true, dwarf.AttrType, formRef4},
	[]any{15, dwarf.TagSubrangeType, false, dwarf.AttrUpperBound, formData8},
)

// Forms: DWARF 5, table 7.6.
const (
	formAddr      = 0x01
	formData8     = 0x07
	formString    = 0x08
	formData1     = 0x0b
	formRefAddr   = 0x10
	formRef4      = 0x13
	formSecOffset = 0x17
	formExprloc   = 0x18
)

func abbrevs(list ...[]any) (b []byte) {
	for _, a := range list {
		for _, x := range a {
			switch x := x.(type) {
			case int:
				b = binary.AppendUvarint(b, uint64(x))
			case dwarf.Tag:
				b = binary.AppendUvarint(b, uint64(x))
			case dwarf.Attr:
				b = binary.AppendUvarint(b, uint64(x))
			case bool:
				b = append(b, map[bool]byte{true: 1}[x])
			}
		}
		b = append(b, 0, 0)
	}
	return append(b, 0)
}

// die is written with its labels; a label's name stands for a reference of 4 bytes from the
// unit's start.
type unitText struct {
	b      []byte
	labels map[string]int
	refs   map[int]string
}

type label string
type ref string

func (u *unitText) add(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			u.b = append(u.b, byte(p))
		case uint64:
			u.b = binary.LittleEndian.AppendUint64(u.b, p)
		case uint32:
			u.b = binary.LittleEndian.AppendUint32(u.b, p)
		case string:
			u.b = append(append(u.b, p...), 0)
		case []byte:
			u.b = append(u.b, p...)
		case label:
			u.labels[string(p)] = len(u.b)
		case ref:
			u.refs[len(u.b)] = string(p)
			u.b = append(u.b, 0, 0, 0, 0)
		default:
			panic(fmt.Sprintf("%T", p))
		}
	}
}

// unit4 makes a unit of DWARF 4 of its entries.
func unit4(parts ...any) []byte {
	u := unitText{b: []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8}, labels: map[string]int{}, refs: map[int]string{}}
	u.add(parts...)
	binary.LittleEndian.PutUint32(u.b, uint32(len(u.b)-4))
	for at, name := range u.refs {
		to, ok := u.labels[name]
		if !ok {
			panic("no label " + name)
		}
		binary.LittleEndian.PutUint32(u.b[at:], uint32(to))
	}
	return u.b
}

// compileUnit is unit4 with a root and an int.
func compileUnit(name string, at uint64, lines uint32, parts ...any) []byte {
	all := []any{1, name, at, uint64(0x100), lines, label("int"), 11, "int", 4, 5}
	return unit4(append(append(all, parts...), 0)...)
}

// lines4 is a line table with one file and a program.
func lines4(file string, program ...byte) []byte {
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0}
	header = append(append(header, file...), 0, 0, 0, 0, 0)
	b := binary.LittleEndian.AppendUint32([]byte{4, 0}, uint32(len(header)))
	b = append(append(b, header...), program...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// setAddress is DW_LNE_set_address; then come rows, and the end after n bytes.
func setAddress(at uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0, 9, 2}, at) }
func endSequence(n byte) []byte   { return []byte{2, n, 0, 1, 1} }

// program is the ELF file: two pages of code, and what is given.
func elfProgram(sections map[string][]byte, compressed map[string]uint64) []byte {
	const page = 0x1000
	names := []string{"", ".text", ".shstrtab"}
	for name := range sections {
		names = append(names, name)
	}
	strtab, nameAt := []byte{}, map[string]uint32{}
	for _, n := range names {
		nameAt[n] = uint32(len(strtab))
		strtab = append(append(strtab, n...), 0)
	}
	sections[".shstrtab"] = strtab
	var b, body bytes.Buffer
	w := func(v any) { binary.Write(&b, binary.LittleEndian, v) }
	base := uint64(64 + 56 + 64*len(names))
	w(elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1,
		Phoff: 64, Shoff: 64 + 56, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: uint16(len(names)), Shstrndx: 2})
	text := bytes.Repeat([]byte{0x90}, 2*page)
	w(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: 5, Off: base, Vaddr: badAt, Paddr: badAt, Filesz: 2 * page, Memsz: 2 * page, Align: 1})
	body.Write(text)
	for _, n := range names {
		switch n {
		case "":
			w(elf.Section64{})
		case ".text":
			w(elf.Section64{Name: nameAt[n], Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: badAt, Off: base, Size: 2 * page})
		default:
			h := elf.Section64{Name: nameAt[n], Type: uint32(elf.SHT_PROGBITS), Off: base + uint64(body.Len()), Size: uint64(len(sections[n]))}
			if claim, ok := compressed[n]; ok {
				h.Flags = uint64(elf.SHF_COMPRESSED)
				binary.Write(&body, binary.LittleEndian, elf.Chdr64{Type: uint32(elf.COMPRESS_ZSTD), Size: claim, Addralign: 1})
				h.Size += 24
			}
			w(h)
			body.Write(sections[n])
		}
	}
	return append(b.Bytes(), body.Bytes()...)
}

// long is an initial length of 64-bit DWARF that says 10 GB.
var long = append([]byte{0xff, 0xff, 0xff, 0xff}, binary.LittleEndian.AppendUint64(nil, 10<<30)...)

func repeat(n int, b ...byte) []byte { return bytes.Repeat(b, n) }

// TestCorruptUnits damages one unit, or what it needs, in every way that there is a bound
// or a check for: the other unit is as it was, the origin names section and offset, and
// little memory is used.
func TestCorruptUnits(t *testing.T) {
	fine := []any{2, "bad", uint64(badAt), uint64(0x40), ref("int"), 0}
	bad := func(parts ...any) []byte { return compileUnit("bad.c", badAt, 0, parts...) }
	cycle := func(parts ...any) []byte { return bad(append(parts, fine...)...) }
	rows := append(setAddress(badAt), 1, 3, 1, 1)
	for _, c := range []struct {
		name   string
		unit   []byte
		lines  []byte            // of the bad unit; nil: as they should be
		extra  map[string][]byte // other sections
		first  bool              // the bad unit is before the good one
		origin string
	}{
		{name: "nothing", unit: bad(fine...), first: true},
		{name: "unit of 10 GB", unit: append(long, 4, 0), origin: ".debug_info unit at 0x"},
		{name: "unit with a reserved length", unit: []byte{0xf5, 0xff, 0xff, 0xff, 4, 0}, origin: ".debug_info unit at 0x"},
		{name: "unit cut short", unit: bad(fine...)[:30], origin: "length 68 exceeds the section"},
		{name: "unit of version 77", unit: append(append([]byte{}, bad(fine...)[:4]...), append([]byte{77, 0}, bad(fine...)[6:]...)...), first: true},
		{name: "addresses of 3 bytes", unit: append(append([]byte{}, bad(fine...)[:10]...), append([]byte{3}, bad(fine...)[11:]...)...), origin: "unsupported address size 3"},
		{name: "abbreviations beyond the section", unit: append(append([]byte{}, bad(fine...)[:6]...), append([]byte{0, 0, 0, 1}, bad(fine...)[10:]...)...), first: true, origin: ".debug_abbrev table at 0x1000000: "},
		{name: "unknown abbreviation", unit: bad(99, 1, 2, 3), first: true, origin: ".debug_info entry at 0x2d: unknown abbreviation code 99"},
		{name: "entry cut short", unit: bad(2, "bad", uint64(badAt), 1, 2), first: true, origin: ".debug_info entry at 0x"},
		{name: "block of 10 GB", unit: bad(12, "v", ref("int"), []byte{0xff, 0xff, 0xff, 0xff, 0x7f}), first: true, origin: ".debug_info entry at 0x"},
		{name: "name without an end", unit: bad(3, repeat(50, 'x')), first: true, origin: ".debug_info entry at 0x"},
		{name: "children without an end", unit: unit4(1, "bad.c", uint64(badAt), uint64(0x100), uint32(0), label("int"), 11, "int", 4, 5, 2, "bad", uint64(badAt), uint64(0x40), ref("int")), first: true},
		{name: "nested 20000 deep", unit: bad(append([]any{label("s")}, nested(20_000)...)...), first: true},
		{name: "specification of itself", unit: cycle(label("a"), 7, ref("a"), uint64(badAt+0x80), uint64(0x10)), first: true},
		{name: "abstract origins in a circle", unit: cycle(label("a"), 8, ref("b"), label("b"), 8, ref("a"), 7, ref("a"), uint64(badAt+0x80), uint64(0x10)), first: true},
		{name: "an inlined call of itself", unit: bad(2, "bad", uint64(badAt), uint64(0x40), ref("int"), label("i"), 10, ref("i"), uint64(badAt+8), uint64(8), 0, 0), first: true},
		{name: "typedefs in a circle", unit: bad(label("a"), 3, "a", ref("b"), label("b"), 3, "b", ref("a"), 2, "bad", uint64(badAt), uint64(0x40), ref("a"), 0), first: true},
		{name: "pointer to itself", unit: bad(label("a"), 4, ref("a"), 2, "bad", uint64(badAt), uint64(0x40), ref("a"), 0), first: true},
		{name: "structure in itself", unit: bad(label("a"), 5, "bad_struct", 8, 6, "m", ref("a"), 0, 0, 2, "bad", uint64(badAt), uint64(0x40), ref("a"), 0), first: true},
		{name: "array of itself, huge", unit: bad(label("a"), 14, ref("a"), 15, uint64(1<<62), 0, 2, "bad", uint64(badAt), uint64(0x40), ref("a"), 0), first: true},
		{name: "a member that is the unit", unit: bad(label("r"), 5, "bad_struct", 8, 6, "m", uint32(11), 0, 0, 2, "bad", uint64(badAt), uint64(0x40), ref("r"), 0), first: true},
		{name: "imports itself", unit: cycle(9, uint32(11)), first: true},
		{name: "imports what is not there", unit: cycle(9, uint32(0xfffffff0)), first: true},
		{name: "reference beyond the unit", unit: bad(2, "bad", uint64(badAt), uint64(0x40), uint32(0xfffffff0), 0), first: true},
		{name: "overlaps the good unit", unit: unit4(1, "bad.c", uint64(badAt), uint64(goodAt+0x100-badAt), uint32(0), label("int"), 11, "int", 4, 5, 2, "bad", uint64(badAt), uint64(0x40), ref("int"), 0, 0), first: true},
		{name: "function with all addresses", unit: bad(2, "bad", uint64(badAt), ^uint64(0)-badAt, ref("int"), 0), first: true},
		{name: "range list without an end", unit: bad(13, "bad", uint32(0)), extra: map[string][]byte{".debug_ranges": repeat(1<<20, 1)}, first: true},
		{name: "range list beyond the section", unit: bad(13, "bad", uint32(0xfffffff0)), first: true},
		{name: "line table of 10 GB", unit: bad(fine...), lines: append(long, 4, 0), first: true, origin: ".debug_line"},
		{name: "line table of version 99", unit: bad(fine...), lines: append([]byte{20, 0, 0, 0, 99, 0}, make([]byte, 18)...), first: true, origin: ".debug_line table at 0x0: unsupported version 99"},
		{name: "line program without an end", unit: bad(fine...), lines: lines4("bad.c", append(rows, repeat(1<<20, 1)...)...), first: true},
		{name: "line range 0", unit: bad(fine...), lines: patched(lines4("bad.c", append(rows, repeat(1000, 200)...)...), 14, 0), first: true},
		{name: "addresses that run backwards", unit: bad(fine...), lines: lines4("bad.c", append(rows, bytes.Repeat(append(setAddress(badAt+0x3f), append([]byte{1}, append(setAddress(badAt), 1)...)...), 2000)...)...), first: true},
		{name: "aranges of 10 GB", unit: bad(fine...), extra: map[string][]byte{".debug_aranges": append(long, 2, 0)}, first: true},
		{name: "aranges of units that are not there", unit: bad(fine...), extra: map[string][]byte{".debug_aranges": arangesOf(0x77777777, badAt, 0x2000)}, first: true},
		{name: "aranges of everything", unit: bad(fine...), extra: map[string][]byte{".debug_aranges": arangesOf(0, 1, 1<<63)}, first: true},
		{name: "indexes of rubbish", unit: bad(fine...), first: true, extra: map[string][]byte{
			".gdb_index": repeat(5000, 0xff, 7), ".debug_names": repeat(5000, 9, 0xee, 1), ".debug_gnu_pubnames": repeat(100, 3), ".debug_cu_index": repeat(100, 2, 0), ".debug_macro": repeat(999, 5)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := c.lines
			if lines == nil {
				lines = lines4("bad.c", append(append([]byte{}, rows...), endSequence(0x40)...)...)
			}
			goodLines := lines4("good.c", append(append(setAddress(goodAt), 3, 41, 1), endSequence(0x40)...)...)
			good := compileUnit("good.c", goodAt, uint32(len(lines)), 2, "good", uint64(goodAt), uint64(0x40), ref("int"), 0)
			info := append(append([]byte{}, good...), c.unit...)
			if c.first {
				info = append(append([]byte{}, c.unit...), good...)
			}
			sections := map[string][]byte{".debug_abbrev": corruptAbbrevs, ".debug_info": info, ".debug_line": append(append([]byte{}, lines...), goodLines...)}
			for k, v := range c.extra {
				sections[k] = v
			}
			askCorrupt(t, elfProgram(sections, nil), c.origin, true)
		})
	}
}

// askCorrupt asks for the good unit, and then everything.
func askCorrupt(t *testing.T, data []byte, origin string, good bool) {
	t.Helper()
	f, err := image.FromMemory("corrupt", data)
	if err != nil {
		t.Fatal(err)
	}
	m := Load(f, Options{DebugDirs: []string{}})
	before := allocatedBytes()
	if good {
		if f := m.FunctionAt(goodAt + 8); f == nil || f.Name != "good" || f.FromSymbolTable {
			t.Errorf("at its address: %+v", f)
		} else if s := m.FunctionType(f).String(); !strings.Contains(s, "int") {
			t.Errorf("its type is %s", s)
		}
		if l, ok := m.LineAt(goodAt + 8); !ok || l.File != "good.c" || l.Line != 42 {
			t.Errorf("its line: %+v", l)
		}
		if fs := m.FunctionsByName("good"); len(fs) != 1 || fs[0].Lo != goodAt {
			t.Errorf("by name: %+v", fs)
		}
		if ls := m.LinesByFile("good.c", 42); len(ls) != 1 {
			t.Errorf("by line: %+v", ls)
		}
	}
	m.LineAt(goodAt + 8)
	for a := image.Addr(badAt); a < badAt+0x100; a += 8 {
		m.LineAt(a)
		for _, c := range m.CallsAt(a) {
			_ = m.FunctionType(c.Function).String()
			for _, v := range m.LocalsOf(&c, a) {
				exerciseVariable(v, a)
			}
		}
	}
	for _, name := range []string{"bad", "a", "b", "bad_struct", "struct bad_struct"} {
		for _, f := range m.FunctionsByName(name) {
			m.AfterPrologue(f)
		}
		exerciseType(m.Type(name), 0)
	}
	if o := m.Origin(); !strings.Contains(o, origin) {
		t.Errorf("the origin is %q, want %q in it", o, origin)
	}
	if used, most := allocatedBytes()-before, uint64(len(data)*100+32<<20); used > most {
		t.Errorf("%d bytes were allocated for a file of %d", used, len(data))
	}
	exercise(m)
}

func allocatedBytes() uint64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.TotalAlloc
}

func nested(n int) (out []any) {
	for range n {
		out = append(out, 5, "s", 1)
	}
	return out
}

func patched(b []byte, at int, v byte) []byte {
	b[at] = v
	return b
}

func arangesOf(unit uint32, lo, size uint64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{44, 0, 0, 0, 2, 0}, unit)
	b = append(b, 8, 0, 0, 0, 0, 0)
	for _, v := range []uint64{lo, size, 0, 0} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// TestBombInProgram has .debug_info, and then .debug_line, inflate to any size: what does not
// need the section still answers.
func TestBombInProgram(t *testing.T) {
	rle := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38}
	rle = append(rle, bytes.Repeat([]byte{2, 0, 0x10, 0}, 1<<18)...)
	for _, name := range []string{".debug_info", ".debug_line", ".debug_abbrev"} {
		lines := lines4("good.c", append(append(setAddress(goodAt), 3, 41, 1), endSequence(0x40)...)...)
		sections := map[string][]byte{".debug_abbrev": corruptAbbrevs, ".debug_line": lines,
			".debug_info": compileUnit("good.c", goodAt, 0, 2, "good", uint64(goodAt), uint64(0x40), ref("int"), 0)}
		sections[name] = rle
		data := elfProgram(sections, map[string]uint64{name: 12 << 30})
		askCorrupt(t, data, "section "+name+" at offset 0x", false)
		if name == ".debug_line" {
			f, err := image.FromMemory("bomb", data)
			if err != nil {
				t.Fatal(err)
			}
			m := Load(f, Options{DebugDirs: []string{}})
			if fn := m.FunctionAt(goodAt + 8); fn == nil || fn.Name != "good" {
				t.Errorf("%+v", fn)
			}
		}
	}
}

// TestOverlappingTables gives 20,000 units whose abbreviations, line tables and ranges all begin at
// different places of the same bytes: each is bounded by the size of its section, together.
func TestOverlappingTables(t *testing.T) {
	// Declarations without attributes, of 5 bytes each.
	var table []byte
	for range 40_000 {
		table = append(table, 1, 0x34, 0, 0, 0)
	}
	table = append(table, 0)
	var info []byte
	for i := range 20_000 {
		u := []byte{8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}
		binary.LittleEndian.PutUint32(u[6:], uint32(5*i))
		info = append(info, u...)
	}
	data := elfProgram(map[string][]byte{".debug_abbrev": table, ".debug_info": info}, nil)
	f, err := image.FromMemory("overlap", data)
	if err != nil {
		t.Fatal(err)
	}
	m := Load(f, Options{DebugDirs: []string{}})
	defer m.Close()
	before := allocatedBytes()
	m.FunctionAt(badAt)
	m.FunctionsByName("x")
	if o := m.Origin(); !strings.Contains(o, ".debug_abbrev table at 0x23: tables overlap too often") {
		t.Errorf("the origin is %q", o)
	}
	if used := allocatedBytes() - before; used > 1<<30 {
		t.Errorf("%d bytes were allocated for %d", used, len(data))
	}
}

// TestSharedLineTable gives 5,000 units one line table of 50,000 files: it is read once.
func TestSharedLineTable(t *testing.T) {
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0}
	for range 50_000 {
		header = append(header, 'f', 0, 0, 0, 0)
	}
	header = append(header, 0)
	lines := binary.LittleEndian.AppendUint32([]byte{4, 0}, uint32(len(header)))
	lines = append(lines, header...)
	lines = append(binary.LittleEndian.AppendUint32(nil, uint32(len(lines))), lines...)
	var info []byte
	for range 5_000 {
		info = append(info, compileUnit("f", badAt, 0)...)
	}
	data := elfProgram(map[string][]byte{".debug_abbrev": corruptAbbrevs, ".debug_info": info, ".debug_line": lines}, nil)
	f, err := image.FromMemory("shared", data)
	if err != nil {
		t.Fatal(err)
	}
	m := Load(f, Options{DebugDirs: []string{}})
	defer m.Close()
	before := allocatedBytes()
	m.LinesByFile("f", 3)
	m.LineAt(badAt)
	m.SourceFiles()
	if used := allocatedBytes() - before; used > 256<<20 {
		t.Errorf("%d bytes were allocated for %d", used, len(data))
	}
}
