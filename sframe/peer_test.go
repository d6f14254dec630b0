package sframe_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
	"dbg/sframe"
)

// open makes the table of a linked file.
func open(t testing.TB, path string) *sframe.Table {
	t.Helper()
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	s, ok := f.Section(".sframe")
	if !ok {
		t.Fatalf("%s has no .sframe", path)
	}
	tab, err := sframe.New(sframe.Config{Data: s.Data, Addr: uint64(s.Addr)})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestOldReadelf prints version 1, which binutils 2.40 writes, like its readelf. That readelf has neither
// the offset of the header nor "f" for return addresses.
func TestOldReadelf(t *testing.T) {
	fixture.Need(t, "as", "readelf")
	if !bytes.Contains(run(t, "as", "--version"), []byte(" 2.40")) {
		t.Skip("as is not of binutils 2.40, which writes version 1")
	}
	for _, source := range []string{"unwind/sframe.c", "unwind/deep.c"} {
		path := fixture.Build(t, source, "-O2", "-Wa,--gsframe", "-Wl,-z,lazy")
		tab := open(t, path)
		var ours []string
		for _, line := range printed(t, tab) {
			if strings.HasPrefix(line, "    CFA fixed RA offset") {
				continue
			}
			if n := len(line); strings.HasPrefix(line, "    0000") && line[n-1] == 'f' {
				line = line[:n-1] + "u"
			}
			ours = append(ours, line)
		}
		theirs := lines(run(t, "readelf", "--sframe", path))
		if tab.Version != 1 || tab.Entries() < 5 || !slices.Equal(theirs, ours) {
			t.Errorf("%s, version %d, %d functions: %s", source, tab.Version, tab.Entries(), difference(theirs, ours))
		}
		agrees(t, path, tab)
	}
}

// TestReadelf prints linked files and objects of other machines like readelf --sframe.
func TestReadelf(t *testing.T) {
	fixture.Sweep(t)
	for _, suite := range []string{fixture.Trixie, fixture.Forky} {
		bin := fixture.Binutils(t, suite)
		fdes, fres := 0, uint32(0)
		for _, path := range programs(t, bin) {
			tab := open(t, path)
			theirs := lines(run(t, filepath.Join(bin, "x86_64-linux-gnu-readelf"), "--sframe", path))
			if ours := printed(t, tab); !slices.Equal(theirs, ours) {
				t.Errorf("%s: %s", path, difference(theirs, ours))
			}
			fdes, fres = fdes+tab.Entries(), fres+tab.FREs
			agrees(t, path, tab)
		}
		t.Logf("%s: %d FDEs and %d FREs are equal to readelf's", suite, fdes, fres)
		if fdes < 1000 {
			t.Errorf("%d FDEs are too few", fdes)
		}
	}
}

// programs are linked with the binutils in a folder.
func programs(t testing.TB, bin string) []string {
	flags := []string{"-B" + bin + "/", "-Wa,--gsframe"}
	return []string{
		fixture.Build(t, "unwind/sframe.c", append(flags, "-O2", "-Wl,-z,lazy")...),
		fixture.Build(t, "unwind/sframe.c", append(flags, "-O0", "-fno-omit-frame-pointer", "-static")...),
		fixture.Lua(t, append(flags, "-O2")...),
		fixture.Jq(t, append(flags, "-O2")...),
	}
}

// agrees compares EachRow with RowAt at every address.
func agrees(t testing.TB, path string, tab *sframe.Table) {
	t.Helper()
	var r row.Row
	last := uint64(0)
	tab.EachRow(0, tab.Entries(), func(lo, hi uint64, each *row.Row, _ uint64) bool {
		if lo < last || lo >= hi {
			t.Fatalf("%s: the row 0x%x to 0x%x comes after 0x%x", path, lo, hi, last)
		}
		last = hi
		for pc := lo; pc < hi; pc++ {
			if err := tab.RowAt(pc, &r); (err == nil) != (each != nil) {
				t.Fatalf("%s: at 0x%x RowAt returns %v, and EachRow has a row: %v", path, pc, err, each != nil)
			} else if err == nil && (pc < r.Lo || pc >= r.Hi || r.Lo < lo || r.Hi > hi || r.Format(nil)[16:] != each.Format(nil)[16:]) {
				t.Fatalf("%s: 0x%x: %s, but EachRow has %s", path, pc, r.Format(nil), each.Format(nil))
			}
		}
		return true
	})
	if last == 0 {
		t.Errorf("%s has no rows", path)
	}
}

// objects are assembled for other machines; the comment says what readelf must print.
var objects = []struct{ name, target, source string }{
	{"key B, signed, frame record", "aarch64-linux-gnu-", `
h:	.cfi_startproc
	.cfi_b_key_frame
	paciasp
	.cfi_negate_ra_state
	stp x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov x29, sp
	.cfi_def_cfa_register 29
	nop
	.cfi_endproc
`},
	{"a return address alone", "aarch64-linux-gnu-", "l: .cfi_startproc\n.cfi_offset 30, -8\nnop\n.cfi_endproc\n"},
	{"saved in registers", "s390x-linux-gnu-", `
k:	.cfi_startproc
	.cfi_register 14, 17
	nop
	.cfi_register 11, 16
	nop
	.cfi_offset 11, -72
	nop
	.cfi_endproc
`},
	{"a frame pointer alone", "s390x-linux-gnu-", "k: .cfi_startproc\n.cfi_offset 11, -72\nnop\n.cfi_offset 14, -48\nnop\n.cfi_endproc\n"},
	{"flexible, signal, undefined", "x86_64-linux-gnu-", `
h:	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa 10, 8
	nop
	.cfi_def_cfa 7, 100000
	nop
	.cfi_escape 0x0f,0x03,0x76,0x78,0x06
	nop
	.cfi_def_cfa 6, 16
	.cfi_escape 0x10,0x06,0x02,0x76,0x00
	nop
	.cfi_undefined 16
	nop
	.cfi_endproc
`},
}

// TestObjects holds assembled rows of other machines, and those that only version 3 can express, against
// readelf.
func TestObjects(t *testing.T) {
	fixture.Sweep(t)
	bin := fixture.Binutils(t, fixture.Forky)
	dir := t.TempDir()
	for _, o := range objects {
		source, object, linked := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.o"), filepath.Join(dir, "x")
		if err := os.WriteFile(source, []byte(".text\n.globl _start\n_start:\n"+o.source), 0o644); err != nil {
			t.Fatal(err)
		}
		run(t, filepath.Join(bin, o.target+"as"), "--gsframe", "-o", object, source)
		run(t, filepath.Join(bin, o.target+"ld"), "-o", linked, object)
		theirs := lines(run(t, filepath.Join(bin, o.target+"readelf"), "--sframe", linked))
		if ours := printed(t, open(t, linked)); !slices.Equal(theirs, ours) || len(ours) < 10 {
			t.Errorf("%s: %s", o.name, difference(theirs, ours))
		}
	}
}
