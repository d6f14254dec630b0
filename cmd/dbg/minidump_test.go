package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/target/minidump/dumptest"
)

// windowsCrash returns a dump of a thread at the entry of the function run of a DLL, which another
// function has called. caller is the return address in the DLL's own addresses.
func windowsCrash(t *testing.T, f *image.File, base uint64) (dump dumptest.Dump, caller uint64) {
	t.Helper()
	slide := base - uint64(f.ImageBase())
	run := uint64(0)
	for _, s := range f.Symbols() {
		if s.Name == "run" {
			run = uint64(s.Addr)
		}
	}
	text, ok := f.Section(".text")
	if !ok || run == 0 {
		t.Fatal("the DLL has no .text or no run")
	}
	for i := 0; i+5 < len(text.Data) && caller == 0; i++ { // E8: call
		at := uint64(text.Addr) + uint64(i) + 5
		to := at + uint64(int64(int32(binary.LittleEndian.Uint32(text.Data[i+1:]))))
		if text.Data[i] == 0xe8 && to >= uint64(text.Addr) && to < uint64(text.Addr)+text.Size {
			caller = at
		}
	}
	const stack = 0x10_0000
	r := arch.Registers{Arch: arch.AMD64}
	r.Set(arch.RIP, run+slide)
	r.Set(arch.RSP, stack+0x100)
	data := make([]byte, 0x1000)
	binary.LittleEndian.PutUint64(data[0x100:], caller+slide)
	stamp, size := f.StampAndSize()
	return dumptest.Dump{
		System: &dumptest.System{Processor: 9, Platform: 2, Major: 10, Build: 19045},
		Misc:   &dumptest.Misc{PID: 4711},
		Threads: []dumptest.Thread{{ID: 20, Name: "render"}, {ID: 21, Context: dumptest.AMD64(15, &r, nil),
			Stack: dumptest.Memory{Addr: stack, Data: data}}},
		Exception: &dumptest.Exception{Thread: 21, Code: 0xc0000005, Address: run + slide, Params: []uint64{0, 0x10}},
		Modules: []dumptest.Module{{Base: 0x40_0000, Size: 0x1000, Name: `C:\app\app.exe`},
			{Base: base, Size: size, Stamp: stamp, Name: `C:\app\Shapes.DLL`}},
	}, caller + slide
}

// TestMinidump: dbg opens a minidump of Windows, finds a DLL in the sysroot by its name and its id, unwinds
// with its function table, and reads a dump that was cut anywhere as far as it goes.
func TestMinidump(t *testing.T) {
	dll := fixture.PE(t, "amd64", []string{"macho/shapes.c", "pe/support.c"}, "-O2")
	data, err := os.ReadFile(dll)
	if err != nil {
		t.Fatal(err)
	}
	f, err := image.Open(dll)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const base = 0x7ff6_1234_0000
	dump, caller := windowsCrash(t, f, base)
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "crash.dmp")
	if err = os.Mkdir(filepath.Join(root, "bin"), 0o700); err == nil {
		err = os.WriteFile(filepath.Join(root, "bin", "shapes.dll"), data, 0o600)
	}
	whole := dump.Bytes()
	if err == nil {
		err = os.WriteFile(path, whole, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	type frame struct{ PC, Function, Module, Strategy string }
	var v struct {
		Target struct {
			Kind, Arch string
			PID        int
			Signal     struct{ Name, Code, Address, Exception string }
		}
		Threads []struct {
			ID        int
			StoppedBy string `json:"stopped_by"`
			Frames    []frame
		}
	}
	out, errs, status := dbg(t, "bt", "--format", "json", "--sysroot", root, path)
	if err := json.Unmarshal([]byte(out), &v); err != nil || status != 0 {
		t.Fatalf("status %d, %v in %s%s", status, err, out, errs)
	}
	const words = "access violation reading 0x10 (0xc0000005)"
	if v.Target.Kind != "core" || v.Target.Arch != "amd64" || v.Target.PID != 4711 || v.Target.Signal.Exception != words ||
		v.Target.Signal.Address != "0x10" {
		t.Errorf("the target is %+v", v.Target)
	}
	if len(v.Threads) != 2 || v.Threads[0].ID != 21 || v.Threads[1].ID != 20 || len(v.Threads[0].Frames) < 2 {
		t.Fatalf("the threads are %+v", v.Threads)
	}
	frames := v.Threads[0].Frames
	if frames[0].Function != "run" || frames[0].Module != `C:\app\Shapes.DLL` || frames[1].PC != fmt.Sprintf("0x%x",
		caller) || frames[1].Strategy != "pdata" {
		t.Errorf("the frames are %+v, want run and 0x%x by pdata", frames, caller)
	}

	out, errs, status = dbg(t, "core", "--batch", "--sysroot", root, "--ex", "info proc", "--ex", "info threads", "--ex",
		"x/4xb 0x7ff612341000", path)
	for _, want := range []string{"process 4711", "system = 'Windows 10.0.19045'",
		"exception = '" + words + " in thread 21'", "render", "0x7ff612341000"} {
		if !strings.Contains(out, want) {
			t.Errorf("status %d: no %q in %s%s", status, want, out, errs)
		}
	}
	// The DLL's own code is read from its file, since its id is that in the dump.
	if text, _ := f.Section(".text"); len(text.Data) > 4 && uint64(text.Addr) == uint64(f.ImageBase())+0x1000 {
		if want := fmt.Sprintf("0x%02x\t0x%02x\t0x%02x\t0x%02x", text.Data[0], text.Data[1], text.Data[2],
			text.Data[3]); !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	out, errs, _ = dbg(t, "core", "--sysroot", root, path)
	if !strings.Contains(out, "Program terminated with an exception: "+words+".") {
		t.Errorf("the greeting is %s%s", out, errs)
	}

	// Without the file, the DLL is read from the memory in the dump: all of it, or not at all.
	loaded := make([]byte, dump.Modules[1].Size)
	for _, s := range f.Segments() {
		copy(loaded[s.Lo-f.ImageBase():][:s.Hi-s.Lo], data[s.FileOff:s.FileOff+s.FileSize])
	}
	for _, have := range []int{len(loaded), 0x1100} {
		dump.Memory64 = []dumptest.Memory{{Addr: base, Data: loaded[:have]}}
		if err := os.WriteFile(path, dump.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, _ = dbg(t, "bt", "--format", "json", path)
		v.Threads = nil
		if json.Unmarshal([]byte(out), &v) != nil || len(v.Threads) != 2 {
			t.Fatalf("with 0x%x bytes of the DLL: %s%s", have, out, errs)
		}
		whole := have == len(loaded)
		frames := v.Threads[0].Frames
		if found := frames[0].Function == "run" && len(frames) > 1 && frames[1].Strategy == "pdata"; found != whole {
			t.Errorf("with 0x%x bytes of the DLL: frames %+v", have, frames)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}

	// A DLL with another id is not used.
	other := bytes.Clone(data)
	other[binary.LittleEndian.Uint32(data[0x3c:])+8]++ // TimeDateStamp
	if err := os.WriteFile(filepath.Join(root, "bin", "shapes.dll"), other, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, _ = dbg(t, "bt", "--sysroot", root, path); !strings.Contains(errs, "it is another file (id ") {
		t.Errorf("with another DLL: %s", errs)
	}
	cutMinidump(t, whole, path)
}

// cutMinidump opens parts of a dump.
func cutMinidump(t *testing.T, whole []byte, path string) {
	t.Helper()
	for i := range 16 {
		n := len(whole) * i / 16
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
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
