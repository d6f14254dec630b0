package elfheader

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"strings"
	"testing"
)

// TestSelf holds the headers of the test's own program against debug/elf.
func TestSelf(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	h, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Wide || h.Type != want.Type || h.Machine != want.Machine || h.Entry != want.Entry || h.MachineName() != "X86_64 (64 bit, little-endian)" {
		t.Errorf("header: %+v", h)
	}
	if h.Progs.Within(uint64(len(data))) != uint64(len(want.Progs)) || h.Sections.Within(uint64(len(data))) != uint64(len(want.Sections)) {
		t.Fatalf("%+v, %+v; want %d and %d entries", h.Progs, h.Sections, len(want.Progs), len(want.Sections))
	}
	for i, p := range want.Progs {
		s, ok := h.Segment(data, uint64(i))
		if !ok || s != (Segment{p.Type, p.Flags, p.Off, p.Vaddr, p.Filesz, p.Memsz, p.Align}) {
			t.Errorf("segment %d: %+v, want %+v", i, s, p.ProgHeader)
		}
	}
	for i, w := range want.Sections {
		s, ok := h.Section(data, uint64(i))
		if !ok || s.Type != w.Type || s.Flags != w.Flags || s.Addr != w.Addr || s.Off != w.Offset || s.Size != w.FileSize || s.Link != w.Link || s.Info != w.Info || s.EntrySize != w.Entsize {
			t.Errorf("section %d: %+v, want %+v", i, s, w.SectionHeader)
		}
	}
	if _, ok := h.Segment(data, uint64(len(want.Progs))+1<<40); ok {
		t.Error("a segment past the end")
	}
}

// TestDamaged: every shortened header and every bad field is an error or is within bounds.
func TestDamaged(t *testing.T) {
	good := make([]byte, 200)
	copy(good, elf.ELFMAG+"\x02\x01\x01")
	binary.LittleEndian.PutUint64(good[32:], 64)    // e_phoff
	binary.LittleEndian.PutUint16(good[54:], 56)    // e_phentsize
	binary.LittleEndian.PutUint16(good[56:], 0xfff) // e_phnum
	for n := range good {
		h, err := Parse(good[:n])
		switch {
		case n < 4 && (err == nil || err.(*Error).Kind != NotELF), 4 <= n && n < 64 && (err == nil || err.(*Error).Kind != Truncated), n >= 64 && err != nil:
			t.Errorf("%d bytes: %v", n, err)
		}
		if n >= 64 {
			if got, want := h.Progs.Within(uint64(n)), uint64(n-64)/56; got != want {
				t.Errorf("%d bytes: %d program headers, want %d", n, got, want)
			}
		}
	}
	for _, c := range []struct {
		at   int
		v    byte
		want string
	}{{elf.EI_CLASS, 3, "class 3 is neither"}, {elf.EI_DATA, 9, "byte order 9"}, {0, 1, "not an ELF file"}} {
		b := append([]byte(nil), good...)
		b[c.at] = c.v
		if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("byte %d = %d: %v, want %q", c.at, c.v, err, c.want)
		}
	}
}

// TestNotes: valid notes are listed, and a note that reaches past the end is not.
func TestNotes(t *testing.T) {
	note := func(name string, typ uint32, desc string) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(name)))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(desc)))
		b = binary.LittleEndian.AppendUint32(b, typ)
		b = append(b, name...)
		b = append(b, make([]byte, -len(b)&3)...)
		b = append(b, desc...)
		return append(b, make([]byte, -len(b)&3)...)
	}
	b := append(note("CORE\x00", 1, "abc"), note("GNU\x00", 3, "\x12\xab")...)
	var got []string
	ok := EachNote(b, binary.LittleEndian, 4, func(n Note) bool { got = append(got, n.Name+":"+string(n.Desc)); return true })
	if !ok || strings.Join(got, ",") != "CORE:abc,GNU:\x12\xab" {
		t.Errorf("%v %q", ok, got)
	}
	if id := FindBuildID(b, binary.LittleEndian, 4); id != "12ab" {
		t.Errorf("build id %q", id)
	}
	for cut := 1; cut < len(b)-2; cut++ {
		if cut == len(b)/2 { // between the two notes
			continue
		}
		if FindBuildID(b[:cut], binary.LittleEndian, 4) != "" {
			t.Errorf("a build id in the first %d bytes", cut)
		}
	}
	if EachNote(b[:len(b)-5], binary.LittleEndian, 4, func(Note) bool { return true }) {
		t.Error("a truncated note is called valid")
	}
}
