package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

const source = `int zeros[1000]; int data = 5; static int fn(int a) { return a + data; } int main(int c, char **v) { return fn(c) + zeros[c]; }`

// build compiles the source with gcc and returns the program's path.
func build(t testing.TB, flags ...string) string {
	t.Helper()
	fixture.Need(t, "gcc")
	dir := t.TempDir()
	src, out := filepath.Join(dir, "a.c"), filepath.Join(dir, "prog")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "gcc", append(flags, "-o", out, src)...)
	return out
}

func run(t testing.TB, dir, tool string, args ...string) string {
	t.Helper()
	fixture.Need(t, tool)
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", tool, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func open(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	prog, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	badClass := bytes.Clone(prog)
	badClass[elf.EI_CLASS] = 9
	for _, c := range []struct {
		name   string
		path   string
		reason Reason
		text   string
	}{
		{"no file", filepath.Join(dir, "none"), NotFound, "there is no such file"},
		{"directory", dir, IsDirectory, "this is a directory"},
		{"empty", write("empty", nil), IsEmpty, "the file is empty"},
		{"script", write("script", []byte("#!/bin/sh -e\necho\n")), IsScript, "interpreter /bin/sh -e"},
		{"text", write("text", []byte("hello\n")), UnknownFormat, `neither an ELF, a Mach-O nor a PE file (it begins with "hell")`},
		{"windows", write("exe", []byte("MZ\x90")), Truncated, "the MS-DOS header has 3 bytes"},
		{"only magic", write("magic", []byte("\x7fELF")), Truncated, "the ELF header has 4 bytes"},
		{"header cut", write("head", prog[:40]), Truncated, "the ELF header has 40 bytes"},
		{"half", write("half", prog[:len(prog)/2]), Truncated, "section headers"},
		{"class", write("class", badClass), Malformed, "class 9"},
		{"device", "/dev/null", UnknownFormat, "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Open(c.path)
			var e *OpenError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, %v", f, err)
			}
			if e.Reason != c.reason || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), c.path) {
				t.Errorf("got reason %d, %q", e.Reason, err)
			}
		})
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

func TestMachine(t *testing.T) {
	prog, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(prog[18:], uint16(elf.EM_PPC64))
	f, err := FromMemory("ppc", prog)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CheckArch(); f.Arch() != nil || err == nil || !strings.Contains(err.Error(), "64-bit PowerPC") {
		t.Errorf("got %v, %v", f.Arch(), err)
	}
}

// TestAgainstELF compares with debug/elf on programs of several shapes.
func TestAgainstELF(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
		kind  Kind
		pie   bool
	}{
		{"pie", []string{"-g"}, Executable, true},
		{"no-pie", []string{"-no-pie"}, Executable, false},
		{"static", []string{"-static"}, Executable, false},
		{"static-pie", []string{"-static-pie"}, Executable, true},
		{"shared", []string{"-shared", "-fPIC"}, Shared, false},
		{"object", []string{"-c", "-g"}, Relocatable, false},
		{"stripped", []string{"-s"}, Executable, true},
		{"zlib", []string{"-g", "-gz"}, Executable, true},
		{"zdebug", []string{"-g", "-Wl,--compress-debug-sections=zlib-gnu"}, Executable, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := build(t, append(c.flags, "-Wl,--build-id")...)
			f := open(t, path)
			e, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if f.Kind() != c.kind || f.PIE() != c.pie || uint64(f.Entry()) != e.Entry || f.Arch() == nil || f.Machine() != "x86-64" {
				t.Errorf("got %v, PIE %v, entry %v, %s", f.Kind(), f.PIE(), f.Entry(), f.Machine())
			}
			for _, s := range e.Sections {
				if s.Type == elf.SHT_NULL || s.Type == elf.SHT_GROUP {
					continue
				}
				want, _ := s.Data()
				got, ok := f.Section(s.Name)
				if s.Type == elf.SHT_NOBITS {
					want = nil
				}
				if !ok || got.Addr != Addr(s.Addr) || !bytes.Equal(got.Data, want) || got.Size != s.Size && len(want) > 0 {
					t.Errorf("section %s: %v, %d bytes of %d", s.Name, ok, len(got.Data), len(want))
				}
			}
			syms, err := e.Symbols()
			if err != nil {
				syms, _ = e.DynamicSymbols()
			}
			want := map[string]int{}
			for _, s := range syms {
				if typ := elf.ST_TYPE(s.Info); s.Section != elf.SHN_UNDEF && typ != elf.STT_SECTION && typ != elf.STT_FILE && s.Name != "" && !strings.HasPrefix(s.Name, ".L") {
					want[s.Name]++
				}
			}
			var last Addr
			for _, s := range f.Symbols() {
				if s.Addr < last {
					t.Fatalf("%s is out of order", s.Name)
				}
				last = s.Addr
				if want[s.Name]--; want[s.Name] < 0 {
					t.Errorf("symbol %s is not wanted", s.Name)
				}
				if want[s.Name] == 0 {
					delete(want, s.Name)
				}
			}
			if len(want) > 0 {
				t.Errorf("missing symbols: %v", want)
			}
			if c.kind != Relocatable {
				note := run(t, ".", "readelf", "-n", path)
				if id := f.BuildID(); id == "" || !strings.Contains(note, id) {
					t.Errorf("build id %q", id)
				}
			}
		})
	}
}

func TestReadAt(t *testing.T) {
	f := open(t, build(t))
	var zeros, data Symbol
	for _, s := range f.Symbols() {
		switch s.Name {
		case "zeros":
			zeros = s
		case "data":
			data = s
		}
	}
	buf := make([]byte, 4)
	if n, err := f.ReadAt(data.Addr, buf); n != 4 || err != nil || buf[0] != 5 {
		t.Errorf("data: %d %v %v", n, err, buf)
	}
	buf = bytes.Repeat([]byte{1}, 4000)
	if n, err := f.ReadAt(zeros.Addr, buf); n != 4000 || err != nil || !bytes.Equal(buf, make([]byte, 4000)) {
		t.Errorf("zeros: %d %v", n, err)
	}
	segs := f.Segments()
	end := segs[len(segs)-1].Hi
	if n, err := f.ReadAt(end-2, buf[:4]); n != 2 || err == nil {
		t.Errorf("the end: %d %v", n, err)
	}
	if n, err := f.ReadAt(0xffffffffffffff00, buf[:4]); n != 0 || err == nil {
		t.Errorf("nowhere: %d %v", n, err)
	}
}

func TestDebugFile(t *testing.T) {
	prog := build(t, "-g", "-Wl,--build-id")
	dir := filepath.Dir(prog)
	f := open(t, prog)
	if d, why, err := f.DebugFile(nil); d != nil || err != nil || why != "the file has debug information" {
		t.Errorf("of a file with its own: %v %q %v", d, why, err)
	}
	id := f.BuildID()
	store := filepath.Join(dir, "store")
	byID := filepath.Join(store, ".build-id", id[:2], id[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(byID), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "objcopy", "--only-keep-debug", prog, byID)
	stripped := filepath.Join(dir, "stripped")
	run(t, dir, "objcopy", "--strip-all", prog, stripped)
	s := open(t, stripped)
	d, why, err := s.DebugFile([]string{store})
	if d == nil || err != nil || why != "build id: "+byID {
		t.Fatalf("by build id: %v %q %v", d, why, err)
	}
	if !d.HasDebugInfo() || !d.HasSymtab() || s.HasSymtab() {
		t.Error("the debug file is not one")
	}
	if text, ok := d.Section(".text"); !ok || text.Data != nil || text.Size == 0 {
		t.Errorf(".text of the debug file: %v %d bytes", ok, len(text.Data))
	}
	d.Close()
	if d, why, err := s.DebugFile([]string{dir}); d != nil || err != nil || !strings.Contains(why, id) {
		t.Errorf("where there is none: %v %q %v", d, why, err)
	}

	// A file with another build id is refused.
	other := build(t, "-g", "-O2", "-Wl,--build-id")
	run(t, dir, "cp", other, byID)
	if d, _, err := s.DebugFile([]string{store}); d != nil || err == nil || !strings.Contains(err.Error(), "its build id is") {
		t.Errorf("with another build id: %v %v", d, err)
	}

	// .gnu_debuglink, beside the file and in .debug, by checksum.
	debug := filepath.Join(dir, "prog.debug")
	linked := filepath.Join(dir, "linked")
	run(t, dir, "objcopy", "--only-keep-debug", prog, debug)
	run(t, dir, "objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", "--add-gnu-debuglink="+debug, prog, linked)
	l := open(t, linked)
	for _, place := range []string{debug, filepath.Join(dir, ".debug", "prog.debug"), filepath.Join(store, dir, "prog.debug")} {
		if place != debug {
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(debug, place); err != nil {
				t.Fatal(err)
			}
		}
		d, why, err := l.DebugFile([]string{store})
		if d == nil || err != nil || why != ".gnu_debuglink: "+place {
			t.Errorf("by link: %v %q %v", d, why, err)
		}
		d.Close()
		debug = place
	}
	run(t, dir, "cp", other, debug)
	if d, _, err := l.DebugFile([]string{store}); d != nil || err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("with another checksum: %v %v", d, err)
	}
}

func TestAltFile(t *testing.T) {
	fixture.Need(t, "dwz")
	a, b := build(t, "-g"), build(t, "-g", "-O1")
	dir := filepath.Dir(a)
	run(t, dir, "dwz", "-m", filepath.Join(dir, "common"), "-M", "common", a, b)
	f := open(t, a)
	if d, why, err := f.AltFile(nil); d == nil || err != nil {
		t.Errorf("%v %q %v", d, why, err)
	} else {
		d.Close()
	}
}

// TestPrefix inflates a section in steps.
func TestPrefix(t *testing.T) {
	path := build(t, "-g", "-gz", "-static")
	want, _ := open(t, path).Section(".debug_info")
	f := open(t, path)
	for n := uint64(0); n < want.Size; n += 50_000 {
		if got := f.Prefix(".debug_info", n); uint64(len(got)) != want.Size || !bytes.Equal(got[:n], want.Data[:n]) {
			t.Fatalf("after %d bytes", n)
		}
	}
	if got := f.Prefix(".debug_info", 1<<62); !bytes.Equal(got, want.Data) {
		t.Error("all of it is different")
	}
	if f.Prefix(".none", 1) != nil {
		t.Error("there is no such section")
	}
}

func exercise(data []byte) {
	f, err := FromMemory("fuzz", data)
	if err != nil {
		return
	}
	exerciseFile(f)
}

func TestCorrupt(t *testing.T) {
	for _, flags := range [][]string{{"-g"}, {"-g", "-gz"}, {"-s"}} {
		data, err := os.ReadFile(build(t, flags...))
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(data) / 16 {
			exercise(data[: n*16 : n*16])
		}
		r := rand.New(rand.NewPCG(1, 2))
		copied := make([]byte, len(data))
		tables := len(data) - 64*40
		for i := range 3000 {
			copy(copied, data)
			for range 1 + r.IntN(6) {
				at := r.IntN(1024)
				if i%2 == 0 {
					at = tables + r.IntN(len(data)-tables)
				}
				copied[at] = byte(r.Uint32())
			}
			exercise(copied)
		}
	}
}

func FuzzImage(f *testing.F) {
	for _, flags := range [][]string{{"-g"}, {"-g", "-gz"}, {"-s"}, {"-c"}} {
		data, err := os.ReadFile(build(f, flags...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { exercise(data) })
}
