package linetable

import (
	"encoding/binary"
	"strings"
	"testing"

	"dbg/dwarf/form"
)

// section is a Source of one table. Its strings are all "text".
type section []byte

func (s section) Lines(uint64) []byte                         { return s }
func (s section) Text(form.Form, uint64, uint64, bool) []byte { return []byte("text") }
func (s section) Release(lo, hi uint64)                       {}

// table5 returns a DWARF 5 table: the directory "/src", the files "a.c" and "text", and a program.
func table5(program ...byte) section {
	files := []byte{
		1, lnctPath, byte(form.String), // one column for directories
		1, '/', 's', 'r', 'c', 0,
		2, lnctPath, byte(form.String), lnctDirectoryIndex, byte(form.Data1),
		1, 'a', '.', 'c', 0, 0,
	}
	head := append([]byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}, files...)
	b := []byte{5, 0, 8, 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	b = append(append(b, head...), program...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// at returns DW_LNE_set_address.
func at(a uint64) []byte {
	return append([]byte{0, 9, lneSetAddress}, binary.LittleEndian.AppendUint64(nil, a)...)
}

// TestTable reads a table with two sequences. The linker has discarded the second one.
func TestTable(t *testing.T) {
	program := append(at(0x1000), lnsAdvanceLine, 9, lnsCopy, lnsAdvancePC, 4, lnsAdvanceLine, 1, lnsCopy, lnsAdvancePC, 4, 0, 1, lneEndSequence)
	program = append(append(program, at(0)...), lnsCopy, lnsAdvancePC, 8, 0, 1, lneEndSequence)
	s := New(table5(program...), false)
	u := Unit{CompDir: "/src", AddrSize: 8}
	table, err := s.Table(u)
	if err != nil {
		t.Fatal(err)
	}
	if same, _ := s.Table(u); same != table {
		t.Error("the table is read twice")
	}
	if table.NumFiles() != 1 || table.File(0) != "/src/a.c" || table.File(1) != "" {
		t.Errorf("%d files, %q", table.NumFiles(), table.File(0))
	}
	if !s.HasFile(u, nil, "a.c") || s.HasFile(u, nil, "b.c") {
		t.Error("HasFile is wrong")
	}
	seq, ok := table.At(0x1005)
	if !ok || seq.Lo != 0x1000 || seq.Hi != 0x1008 || len(seq.Rows) != 2 {
		t.Fatalf("%+v, %v", seq, ok)
	}
	if r := seq.Rows; r[0].Line != 10 || r[1].Line != 11 || r[1].Addr != 0x1004 || r[1].Flags != IsStmt {
		t.Errorf("%+v", r)
	}
	if table.Has(4) || table.Has(0x1008) {
		t.Error("an address outside has lines")
	}
}

// TestErrors checks that an error names the section and the offset, and that there is a table anyway.
func TestErrors(t *testing.T) {
	good := table5()
	for n := range len(good) {
		table, err := New(good[:n], false).Table(Unit{AddrSize: 8})
		if err == nil || !strings.HasPrefix(err.Error(), ".debug_line table at 0x0: ") || table == nil {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
