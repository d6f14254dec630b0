package minidump_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/minidump"
	"dbg/target/minidump/dumptest"
)

// swapped returns a GUID whose text has the digits of 16 bytes in order.
func swapped(id []byte) (guid [16]byte) {
	copy(guid[:], id)
	slices.Reverse(guid[0:4])
	slices.Reverse(guid[4:6])
	slices.Reverse(guid[6:8])
	return guid
}

// TestELFModules: a file is used if its build id is that of the module, in each of the ways in which
// writers record it. Its code is memory of the process, its data is not.
func TestELFModules(t *testing.T) {
	exe := fixture.Build(t, "c/threads8.c", "-O1", "-Wl,--build-id")
	f, err := image.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := hex.DecodeString(f.BuildID())
	if err != nil || len(id) != 20 {
		t.Fatalf("the build id is %q", f.BuildID())
	}
	other := bytes.Clone(id)
	other[15]++
	const base = 0x5555_0000_0000
	for _, c := range []struct {
		name     string
		codeView []byte
		opens    bool
		known    bool // its memory is read
	}{
		{"build id", dumptest.BuildID(id), true, true},
		{"another build id", dumptest.BuildID(other), false, false},
		{"GUID of 16 bytes", dumptest.PDB70([16]byte(id), 0, "x"), true, true},
		{"GUID in the order of its text", dumptest.PDB70(swapped(id), 0, "x"), true, true},
		{"another GUID", dumptest.PDB70([16]byte(other), 0, "x"), false, false},
		{"no id", nil, true, false},
		{"a GUID of zeros", dumptest.PDB70([16]byte{}, 0, "x"), true, false},
	} {
		dump := linux()
		delete(dump.Raw, 0x47670009)
		dump.Modules = []dumptest.Module{{Base: base, Size: 0x10_0000, Name: "/x/threads8", CodeView: c.codeView}}
		d := open(t, dump.Bytes(), minidump.Options{FindFile: func(path, id string) []string { return []string{exe} }})
		file, slide, err := d.OpenListed(d.ListImages()[0])
		if (err == nil) != c.opens || c.opens && slide != base-uint64(f.Segments()[0].Lo) {
			t.Errorf("%s: slide 0x%x, %v", c.name, slide, err)
		}
		file.Close()
		for _, s := range f.Segments() {
			want, got := make([]byte, 64), make([]byte, 64)
			_, _ = f.ReadAt(s.Lo, want)
			n, _ := d.ReadMemory(target.Addr(base+uint64(s.Lo-f.Segments()[0].Lo)), got)
			if readable := c.known && !s.Write; readable != (n == 64) || n > 0 && !bytes.Equal(got, want) {
				t.Errorf("%s: segment at %v (writable: %v): %d bytes", c.name, s.Lo, s.Write, n)
			}
		}
	}
}

// TestRelocatedCode: code of a PE file that was loaded at another base is known, except on pages where
// the loader has changed something. Its constants are never known.
func TestRelocatedCode(t *testing.T) {
	data, err := os.ReadFile(fixture.PE(t, "amd64", []string{"macho/shapes.c", "pe/support.c"}, "-O0"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.dll")
	f, err := image.FromMemory(path, bytes.Clone(data))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := f.Section(".text")
	reloc, ok := f.Section(".reloc")
	rdata, _ := f.Section(".rdata")
	if !ok || len(reloc.Data) < 12 || len(text.Data) < 0x3000 || len(rdata.Data) < 64 {
		t.Fatalf(".text has 0x%x bytes, .reloc 0x%x", len(text.Data), len(reloc.Data))
	}
	// One block, for the second page of the code.
	page := text.Addr + 0x1000
	block := data[reloc.Offset:]
	binary.LittleEndian.PutUint32(block, uint32(page-f.ImageBase()))
	binary.LittleEndian.PutUint32(block[4:], 12)
	clear(block[8:len(reloc.Data)])
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	stamp, size := f.StampAndSize()
	for _, moved := range []uint64{0, 0x1_0000} {
		base := uint64(f.ImageBase()) + moved
		dump := dumptest.Dump{System: &dumptest.System{Processor: 9, Platform: 2}, Threads: []dumptest.Thread{{ID: 1}},
			Modules: []dumptest.Module{{Base: base, Size: size, Stamp: stamp, Name: `C:\x.dll`}}}
		d := open(t, dump.Bytes(), minidump.Options{FindFile: func(string, string) []string { return []string{path} }})
		for _, c := range []struct {
			at    image.Addr
			known bool
		}{{text.Addr, true}, {page - 64, true}, {page, moved == 0}, {page + 0xff0, moved == 0}, {page + 0x1010, true},
			{rdata.Addr, false}} {
			want, got := make([]byte, 16), make([]byte, 16)
			_, _ = f.ReadAt(c.at, want)
			n, _ := d.ReadMemory(target.Addr(uint64(c.at)+moved), got)
			if c.known != (n == 16) || n > 0 && !bytes.Equal(got[:n], want[:n]) {
				t.Errorf("moved by 0x%x: at %v %d bytes, known: %v", moved, c.at, n, c.known)
			}
		}
		if n, _ := d.ReadMemory(target.Addr(uint64(page)+moved-16), make([]byte, 64)); (n == 64) != (moved == 0) {
			t.Errorf("moved by 0x%x: %d bytes up to a page with relocations", moved, n)
		}
	}
}
