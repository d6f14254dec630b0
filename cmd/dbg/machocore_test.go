package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target/machocore/coretest"
)

// TestMachOCore: dbg opens a macOS core, finds the library under the sysroot, and reads a core that was cut
// anywhere as far as it goes, or refuses it with one line.
func TestMachOCore(t *testing.T) {
	lib := fixture.MachO(t, "../target/machocore/testdata/crash.c", "x86_64", "-O1", "-DBLIND")
	f, err := image.Open(lib)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const base, stack = 0x1_0000_0000, 0x7ff7_bfef_f000
	r := arch.Registers{Arch: arch.AMD64}
	for _, s := range f.Symbols() {
		if s.Name == "leaf" {
			r.Set(arch.RIP, base+uint64(s.Addr))
		}
	}
	r.Set(arch.RSP, stack+0x100)
	c := coretest.Core{Arch: arch.AMD64, Platform: 1, Threads: []coretest.Thread{{coretest.General(&r), coretest.X86Exception(14, 6, 0x10)}},
		Segments: []coretest.Segment{{Addr: stack, Prot: 3, Data: make([]byte, 0x1000)}},
		Notes: []coretest.Note{coretest.AllImageInfos(coretest.Image{Path: "/usr/lib/libcrash.dylib", UUID: f.BuildID(), Header: base}),
			coretest.Plain("process metadata", []byte(`{"threads":[{"thread_id":4711}]}`))}}
	core := c.Bytes()
	root := t.TempDir()
	data, err := os.ReadFile(lib)
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "any name"), data, 0o600)
	}
	path := filepath.Join(t.TempDir(), "core")
	if err == nil {
		err = os.WriteFile(path, core, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}

	out, errs, status := dbg(t, "core", "--batch", "--sysroot", root, "--ex", "bt", "--ex", "info sharedlibrary", path)
	if status != 0 || !strings.Contains(out, "leaf () from /usr/lib/libcrash.dylib") || strings.Contains(errs, "warning") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
	out, errs, status = dbg(t, "bt", "--format", "json", "--sysroot", root, path)
	var v struct {
		Target struct {
			Kind, Arch string
			Signal     struct{ Name string }
		}
		Threads []struct {
			ID     int
			Frames []struct {
				Function, Module string
				BuildID          string `json:"build_id"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || status != 0 {
		t.Fatalf("status %d, %v in %s%s", status, err, out, errs)
	}
	if v.Target.Kind != "core" || v.Target.Arch != "amd64" || v.Target.Signal.Name != "SIGSEGV" || len(v.Threads) != 1 || v.Threads[0].ID != 4711 ||
		v.Threads[0].Frames[0].Function != "leaf" || v.Threads[0].Frames[0].BuildID != f.BuildID() {
		t.Errorf("%+v", v)
	}
	if out, errs, status = dbg(t, "bt", "--color", "never", path); status != 0 || !strings.Contains(errs, "/usr/lib/libcrash.dylib: ") {
		t.Errorf("without the library: status %d, %s%s", status, out, errs)
	}
	if _, errs, status = dbg(t, "core", "--batch", lib); status != 1 || !strings.Contains(errs, "is a library: not a core file") {
		t.Errorf("a library: status %d, %s", status, errs)
	}
	for i := range 24 {
		n := len(core) * i / 24
		if err := os.WriteFile(path, core[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, status := dbg(t, "bt", "--format", "json", path)
		switch {
		case status == 0 && !json.Valid([]byte(out)):
			t.Errorf("cut at %d: %s", n, out)
		case status == 1 && (strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "dbg: ") || out != ""):
			t.Errorf("cut at %d: stdout %q, stderr %q", n, out, errs)
		case status > 1:
			t.Errorf("cut at %d: status %d, %s", n, status, errs)
		}
	}
}
