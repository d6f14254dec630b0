package main

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target"
	"dbg/target/elfcore"
	"dbg/target/minidump/dumptest"
)

// asMinidump writes a core of Linux as a minidump: registers, memory that can be written, modules with their
// build ids, and no code.
func asMinidump(t *testing.T, path string) []byte {
	t.Helper()
	c, err := elfcore.Open(path, elfcore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	dump := dumptest.Dump{System: &dumptest.System{Processor: 9, Platform: 0x8201},
		Misc: &dumptest.Misc{PID: uint32(c.PID())}, Raw: map[uint32][]byte{0x47670008: c.AuxvBytes()}}
	for i, th := range c.Threads() {
		r, err := c.Registers(th.ID)
		if err != nil {
			t.Fatal(err)
		}
		context := dumptest.AMD64(15, &r, nil)
		dump.Threads = append(dump.Threads, dumptest.Thread{ID: uint32(th.ID), Name: th.Name, Context: context})
		if s := th.Signal; i == 0 && s != nil {
			dump.Exception = &dumptest.Exception{Thread: uint32(th.ID), Code: uint32(s.Number), Flags: uint32(s.Code),
				Address: uint64(s.Addr), Context: context}
		}
	}
	maps, err := c.Mappings()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range maps {
		if m.Write == target.Allowed {
			data := make([]byte, m.Hi-m.Lo)
			n, _ := c.ReadMemory(m.Lo, data)
			dump.Memory = append(dump.Memory, dumptest.Memory{Addr: uint64(m.Lo), Data: data[:n]})
		}
		if !filepath.IsAbs(m.Path) {
			continue
		}
		if i := slices.IndexFunc(dump.Modules, func(o dumptest.Module) bool { return o.Name == m.Path }); i >= 0 {
			dump.Modules[i].Size = uint32(uint64(m.Hi) - dump.Modules[i].Base)
		} else if f, err := image.Open(m.Path); err == nil && m.Offset == 0 {
			id, _ := hex.DecodeString(f.BuildID())
			dump.Modules = append(dump.Modules, dumptest.Module{Base: uint64(m.Lo), Size: uint32(m.Hi - m.Lo), Name: m.Path,
				CodeView: dumptest.BuildID(id)})
			f.Close()
		}
	}
	return dump.Bytes()
}

// TestMinidumpOfCore: the frames of a core and of a minidump of the same process are equal, though the
// minidump has neither code nor a memory map.
func TestMinidumpOfCore(t *testing.T) {
	for _, p := range []struct{ source, optimise, arg string }{{"c/handler.c", "-O1", "altstack"}, {"c/threads8.c",
		"-O2", ""}} {
		t.Run(p.source, func(t *testing.T) { minidumpOfCore(t, fixture.Build(t, p.source, p.optimise), p.arg) })
	}
}

func minidumpOfCore(t *testing.T, exe, arg string) {
	core := fixture.Core(t, exe, arg)
	path := filepath.Join(t.TempDir(), "crash.dmp")
	if err := os.WriteFile(path, asMinidump(t, core), 0o600); err != nil {
		t.Fatal(err)
	}
	want, signal := ownFrames(t, core)
	got, other := ownFrames(t, path)
	if signal != other || len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%q in %d threads, the core has %q in %d", other, len(got), signal, len(want))
	}
	for i := range want {
		if got[i].id != want[i].id || !slices.Equal(got[i].pcs, want[i].pcs) || !slices.Equal(got[i].functions,
			want[i].functions) || len(got[i].pcs) == 0 {
			t.Errorf("thread %d: %+v, the core has %+v", i, got[i], want[i])
		}
	}
}

// TestMinidumpOfMac: a module of macOS is found below the sysroot by its UUID, under any name.
func TestMinidumpOfMac(t *testing.T) {
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
	id, _ := hex.DecodeString(f.BuildID())
	guid := [16]byte(id) // its first three fields are little-endian in the dump
	slices.Reverse(guid[0:4])
	slices.Reverse(guid[4:6])
	slices.Reverse(guid[6:8])
	dump := dumptest.Dump{System: &dumptest.System{Processor: 9, Platform: 0x8101, Major: 14, Minor: 5},
		Threads: []dumptest.Thread{{ID: 4711, Context: dumptest.AMD64(15, &r, nil), Stack: dumptest.Memory{Addr: stack,
			Data: make([]byte, 0x1000)}}},
		Exception: &dumptest.Exception{Thread: 4711, Code: 1, Flags: 1, Address: 0x10},
		Modules: []dumptest.Module{{Base: base, Size: 0x4000, Name: "/usr/lib/libcrash.dylib",
			CodeView: dumptest.PDB70(guid, 0, "libcrash.dylib")}}}
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "crash.dmp")
	data, err := os.ReadFile(lib)
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "any name"), data, 0o600)
	}
	if err == nil {
		err = os.WriteFile(path, dump.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out, errs, status := dbg(t, "core", "--batch", "--sysroot", root, "--ex", "bt", "--ex", "info proc", "--ex",
		"x/i $pc", path)
	if status != 0 || !strings.Contains(out, "#0  ") || !strings.Contains(out, " leaf ()") ||
		!strings.Contains(out, "exception = 'EXC_BAD_ACCESS (KERN_INVALID_ADDRESS, address 0x10) in thread 4711'") ||
		strings.Contains(errs, "warning") {
		t.Errorf("status %d, %s%s", status, out, errs)
	}
	if !strings.Contains(out, "<leaf") || strings.Contains(out, "annot access memory") {
		t.Errorf("the code of the library can't be read: %s", out)
	}
}
