package minidump_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/minidump"
	"dbg/target/minidump/dumptest"
)

// everything returns a dump with every stream.
func everything() dumptest.Dump {
	dump := windows()
	dump.Memory = []dumptest.Memory{{Addr: codeAt + 0x10, Data: make([]byte, 0x100)}}
	dump.Memory64 = []dumptest.Memory{{Addr: 0x1_0000_0000, Data: make([]byte, 0x100)}, {Addr: 0x2_0000_0000,
		Data: make([]byte, 0x100)}}
	dump.Regions = []dumptest.Region{{Base: codeAt, Size: 0x1000, State: 0x1000, Protection: 0x20}}
	dump.Unloaded = []dumptest.Module{{Base: 0x2000_0000, Size: 0x1000, Name: "old"}}
	dump.Handles = []dumptest.Handle{{Value: 0x44, Type: "File", Name: "name"}}
	dump.Annotations = map[string]string{"a": "b"}
	dump.Crashpad = &dumptest.Crashpad{Modules: map[uint32]map[string]string{0: {"c": "d"}}}
	dump.Raw = linux().Raw
	return dump
}

// ask asks a dump everything.
func ask(d *minidump.Dump) {
	for _, th := range d.Threads() {
		r, _ := d.Registers(th.ID)
		for reg := range d.Arch().RegNames {
			_, _ = r.Get(0)
			_, _ = d.WideRegister(th.ID, arch.Reg(reg))
		}
	}
	maps, _ := d.Mappings()
	buf := make([]byte, 64)
	for _, m := range maps[:min(len(maps), 64)] {
		_, _ = d.ReadMemory(m.Lo, buf)
		_, _ = d.ReadMemory(m.Hi-32, buf)
	}
	for _, im := range d.ListImages()[:min(len(d.ListImages()), 4)] {
		if f, _, err := d.OpenListed(im); err == nil {
			f.Close()
		}
	}
	_, _ = d.Notes(), d.Platform()
	_, _ = d.ProcessInfo()
	_, _ = d.Auxv(9)
	_, _ = d.Exe(), d.ProcStatus()
	_ = d.Warnings()
}

// stream returns the offsets of a stream's entry in the directory, and of its contents.
func stream(t testing.TB, b []byte, typ uint32) (entry, contents uint32) {
	t.Helper()
	le := binary.LittleEndian
	n, at := le.Uint32(b[8:]), le.Uint32(b[12:])
	for range n {
		if le.Uint32(b[at:]) == typ {
			return at, le.Uint32(b[at+8:])
		}
		at += 12
	}
	t.Fatalf("there is no stream 0x%x", typ)
	return 0, 0
}

// TestCorrupt changes one field of a whole dump. The dump opens with a warning, or is refused with
// one sentence. What is not damaged stays known.
func TestCorrupt(t *testing.T) {
	le := binary.LittleEndian
	field := func(typ, off, v uint32) func(t testing.TB, b []byte) {
		return func(t testing.TB, b []byte) {
			_, at := stream(t, b, typ)
			le.PutUint32(b[at+off:], v)
		}
	}
	header := func(off int, v uint32) func(testing.TB, []byte) {
		return func(_ testing.TB, b []byte) { le.PutUint32(b[off:], v) }
	}
	directory := func(typ, off, v uint32) func(t testing.TB, b []byte) {
		return func(t testing.TB, b []byte) {
			at, _ := stream(t, b, typ)
			le.PutUint32(b[at+off:], v)
		}
	}
	// The map of Linux comes before that of Windows.
	withoutMaps := func(change func(testing.TB, []byte)) func(testing.TB, []byte) {
		return func(t testing.TB, b []byte) {
			change(t, b)
			directory(0x47670009, 0, 0)(t, b)
		}
	}
	const most = 0xffffffff
	for _, c := range []struct {
		name   string
		change func(testing.TB, []byte)
		want   string // part of a warning, or of the error
		fails  bool
	}{
		{"signature", header(0, 0x1234), "does not begin with MDMP", true},
		{"version", header(4, 0xa794), "version 0xa794, expected 0xa793", true},
		{"streams", header(8, most), "entries of its directory are missing", false},
		{"directory", header(12, most), "unsupported processor: the dump has no system information", true},
		{"processor", field(7, 0, 3), "unsupported processor: PowerPC", true},
		{"system size", directory(7, 4, 10), "its system information has 10 bytes", false},
		{"stream size", directory(3, 4, most), "1 of ", false},
		{"stream offset", directory(16, 8, most), "1 of ", false},
		{"thread count", field(3, 0, most), "4294967292 of 4294967295 threads are missing", false},
		{"same thread", field(3, 4+48, 10), "it lists thread 10 twice", false},
		{"context offset", field(3, 4+44, most), "1 of 3 threads have no registers", false},
		{"context size", field(3, 4+40, 52), "1 of 3 threads have incomplete registers", false},
		{"stack offset", field(3, 4+48+36, most), "memory ranges are incomplete", false},
		{"stack size", field(3, 4+48+32, 0x7fffffff), "memory ranges are incomplete", false},
		{"module count", field(4, 0, 1000), "998 of 1000 modules are missing", false},
		{"module size", field(4, 4+8, most), "1 modules overlap others", false},
		{"module base", field(4, 4+4, most), "", false},
		{"module end", func(t testing.TB, b []byte) {
			_, at := stream(t, b, 4)
			le.PutUint64(b[at+4:], ^uint64(0)-4096)
		}, "module 0 (C:\\app\\app.exe) ends beyond the address space", false},
		{"memory count", field(5, 0, most), "memory ranges are missing", false},
		{"memory64 count", field(9, 4, 1), "memory ranges are missing", false},
		{"memory64 base", field(9, 12, most), "memory ranges are incomplete", false},
		{"memory64 size", field(9, 16+12, most), "memory ranges are incomplete", false},
		{"exception size", directory(6, 4, 20), "its exception has 20 bytes", false},
		{"exception parameters", field(6, 32, most), "", false},
		{"exception thread", field(6, 0, 99), "", false},
		{"info header", withoutMaps(field(16, 0, 4)), "its list of memory regions has a header of 4 bytes", false},
		{"info entry", withoutMaps(field(16, 4, 0)), "entries of 0", false},
		{"info count", withoutMaps(field(16, 12, most)), "memory regions are missing", false},
		{"maps", func(t testing.TB, b []byte) {
			_, at := stream(t, b, 0x47670009)
			copy(b[at:], "zz")
		}, "1 lines of its memory map can't be parsed", false},
		{"handles", field(12, 0, most), "", false},
		{"unloaded", field(14, 4, 3), "its list of unloaded modules has a header of 12 bytes and entries of 3", false},
		{"crashpad", field(0x43500001, 36, most), "", false},
		{"name", field(4, 4+20, most), "", false},
		{"thread names", field(24, 0, most), "thread names are missing", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dump := everything()
			b := dump.Bytes()
			c.change(t, b)
			d, err := minidump.FromBytes(b, minidump.Options{FindFile: func(string, string) []string { return nil }})
			if c.fails {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("the error is %v, want %q", err, c.want)
				}
				return
			} else if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			ask(d)
			if c.want != "" && !slices.ContainsFunc(d.Warnings(), func(w string) bool { return strings.Contains(w, c.want) }) {
				t.Errorf("warnings %q, want %q", d.Warnings(), c.want)
			}
			if n := len(d.Threads()); n < 2 {
				t.Errorf("%d threads are left", n)
			}
		})
	}
}

// TestTruncated cuts a dump everywhere. A part is read, or refused with one sentence that names the
// file.
func TestTruncated(t *testing.T) {
	dump := everything()
	dump.Threads[1].Stack.Data = make([]byte, 64)
	b := dump.Bytes()
	path := filepath.Join(t.TempDir(), "crash.dmp")
	opened, step := 0, 37
	if fixture.All() {
		step = 3
	}
	for n := 0; n < len(b); n += step {
		if err := os.WriteFile(path, b[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := minidump.Open(path, minidump.Options{FindFile: func(string, string) []string { return nil }})
		if err != nil {
			if !errors.Is(err, minidump.ErrNotCore) && !strings.Contains(err.Error(), "unsupported processor") ||
				strings.Contains(err.Error(), "\n") {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		opened++
		ask(d)
		if len(d.Warnings()) == 0 {
			t.Fatalf("cut at %d of %d: no warning", n, len(b))
		}
		d.Close()
	}
	if opened == 0 {
		t.Fatal("no cut dump was opened")
	}
}

// TestAfterClose: a closed dump answers without its memory.
func TestAfterClose(t *testing.T) {
	dump := everything()
	d := open(t, dump.Bytes(), minidump.Options{})
	d.Close()
	if _, err := d.Registers(11); err != target.ErrNoThread {
		t.Errorf("registers: %v", err)
	}
	if n, err := d.ReadMemory(stackAt, make([]byte, 8)); n != 0 || err == nil {
		t.Errorf("memory: %d bytes, %v", n, err)
	}
	if d.Notes() != nil || d.AuxvBytes() != nil {
		t.Error("notes or the auxiliary vector are still there")
	}
	d.Close()
}

// FuzzOpen opens any bytes and asks everything.
func FuzzOpen(f *testing.F) {
	for _, dump := range []dumptest.Dump{everything(), linux(), windows()} {
		f.Add(dump.Bytes())
	}
	for _, c := range contexts {
		r := amd64(1, 2)
		r.Arch = c.arch
		dump := dumptest.Dump{System: &dumptest.System{Processor: c.processor, Platform: c.platform},
			Threads: []dumptest.Thread{{ID: 7, Context: c.write(15, r, nil)}}}
		f.Add(dump.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := minidump.FromBytes(b, minidump.Options{FindFile: func(string, string) []string { return nil }})
		if err != nil {
			return
		}
		ask(d)
		d.Close()
	})
}
