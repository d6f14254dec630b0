package image_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
)

// TestPE reads a DLL that clang and LLVM's linker make, and a program of Go.
func TestPE(t *testing.T) {
	for _, machine := range []string{"amd64", "arm64"} {
		sources := []string{"macho/shapes.c", "pe/support.c"}
		f, err := image.Open(fixture.PE(t, machine, sources, "-O2"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Format() != image.PE || f.Kind() != image.Shared || f.Arch() != arch.ByName(machine) || f.ImageBase() != 0x180000000 {
			t.Errorf("%v, %v, %v, base %v", f.Format(), f.Kind(), f.Arch().Name, f.ImageBase())
		}
		syms := f.Symbols()
		if len(syms) != 1 || syms[0].Name != "run" || syms[0].Kind != image.Func || syms[0].Size == 0 {
			t.Errorf("the exports are %+v", syms)
		}
		text, _ := f.Section(".text")
		b := make([]byte, 16)
		if n, err := f.ReadAt(syms[0].Addr, b); n != 16 || err != nil || string(b) != string(text.Data[syms[0].Addr-text.Addr:][:16]) {
			t.Errorf("ReadAt: % x, %v", b, err)
		}
		if data, addr, ok := f.FunctionTable(); !ok || len(data) < 1000 || addr <= f.ImageBase() {
			t.Errorf("the function table has %d bytes at %v, %v", len(data), addr, ok)
		}
		if f.BuildID() != "" || f.HasDebugInfo() || f.HasSymtab() || f.Views() != nil {
			t.Errorf("build id %q, debug information %v, symbols %v, views %v", f.BuildID(), f.HasDebugInfo(), f.HasSymtab(), f.Views())
		}
	}
	f, err := image.Open(fixture.GoWindows(t, "cfi/hello.go"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Kind() != image.Executable || !f.HasDebugInfo() || !f.HasSymtab() {
		t.Errorf("%v, debug information %v, symbols %v", f.Kind(), f.HasDebugInfo(), f.HasSymtab())
	}
	if s, ok := f.Section(".debug_frame"); !ok || len(s.Data) == 0 {
		t.Error("no .debug_frame by its long name")
	}
	found := false
	for _, s := range f.Symbols() {
		found = found || s.Name == "main.main" && s.Kind == image.Func && s.Size > 0
	}
	if !found {
		t.Error("no symbol main.main")
	}
}

// TestPEBuildID writes a record of the kind RSDS into a file.
func TestPEBuildID(t *testing.T) {
	b, err := os.ReadFile(fixture.PE(t, "amd64", []string{"macho/shapes.c", "pe/support.c"}, "-O2"))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	pe := le.Uint32(b[0x3c:])
	// The directory and the record are in the padding of the headers.
	at := uint32(0x800)
	le.PutUint32(b[pe+24+60:], 0x1000)
	le.PutUint32(b[pe+24+112+8*6:], at)
	le.PutUint32(b[pe+24+112+8*6+4:], 28)
	le.PutUint32(b[at+12:], 2)
	le.PutUint32(b[at+16:], 30)
	le.PutUint32(b[at+24:], at+28)
	copy(b[at+28:], "RSDS\x78\x56\x34\x12\xbc\x9a\xf0\xde\x01\x02\x03\x04\x05\x06\x07\x08\x1a\x00\x00\x00a.pdb")
	f, err := image.FromMemory("x.dll", b)
	if err != nil {
		t.Fatal(err)
	}
	if id, path := f.BuildID(), f.PDB(); id != "123456789abcdef001020304050607081a" || path != "a.pdb" {
		t.Errorf("build id %s, path %s", id, path)
	}
}

// TestPECorrupt changes bytes of the headers, and cuts files short: an error or less than there was,
// and no panic.
func TestPECorrupt(t *testing.T) {
	whole, err := os.ReadFile(fixture.PE(t, "amd64", []string{"macho/shapes.c", "pe/support.c"}, "-O2"))
	if err != nil {
		t.Fatal(err)
	}
	try := func(b []byte) {
		f, err := image.FromMemory("x.dll", b)
		if err != nil {
			return
		}
		f.Symbols()
		f.BuildID()
		f.FunctionTable()
		f.Views()
		for _, s := range f.Sections() {
			f.SectionData(s.Name)
		}
		f.ReadAt(f.Entry(), make([]byte, 64))
	}
	for i := range 0x400 {
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			b := append([]byte{}, whole[:0x3000]...)
			b[i] = v
			try(b)
		}
	}
	for n := range 0x1000 {
		try(whole[:n])
	}
	path := filepath.Join(t.TempDir(), "cut.dll")
	if err := os.WriteFile(path, whole[:0x2000], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := image.Open(path); err == nil {
		t.Error("a file that ends in its sections is opened")
	}
}
