package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// copyOf copies a program into the test's own folder.
func copyOf(t *testing.T, exe string) string {
	t.Helper()
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(exe))
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestModuleInCore reads a core that has all memory and whose program is gone: symbols and tables are in its memory.
func TestModuleInCore(t *testing.T) {
	filter, err := os.ReadFile("/proc/self/coredump_filter")
	if err != nil {
		fixture.Missing(t, err)
	}
	if err := os.WriteFile("/proc/self/coredump_filter", []byte("0x7f"), 0); err != nil { // the program inherits it
		fixture.Missing(t, err)
	}
	defer os.WriteFile("/proc/self/coredump_filter", append([]byte("0x"), filter...), 0)
	exe := copyOf(t, fixture.Build(t, "torture/chain.c", "-g", "-O2", "-fomit-frame-pointer", "-rdynamic", "-Wl,--build-id"))
	core := fixture.Core(t, exe)
	want := walkOf(t, openCore(t, core, ""), 0)
	if err := os.Remove(exe); err != nil {
		t.Fatal(err)
	}
	s := openCore(t, core, "")
	got := walkOf(t, s, 0)
	if !got.End.Outermost || len(got.Frames) == 0 {
		t.Fatalf("the walk ends after %d frames: %+v", len(got.Frames), *got.End)
	}
	// Inlined calls and static functions are in no dynamic symbol table.
	var machine []session.Frame
	for _, f := range want.Frames {
		if !f.Inlined && f.Strategy != "tailcall" {
			machine = append(machine, f)
		}
	}
	if len(machine) != len(got.Frames) {
		t.Fatalf("%d frames, want %d", len(got.Frames), len(machine))
	}
	named := 0
	for i, f := range got.Frames {
		if f.PC != machine[i].PC || f.Machine.Strategy != machine[i].Machine.Strategy || f.Trust != machine[i].Trust {
			t.Errorf("frame %d is at %v, %s, %s; want %v, %s, %s", i, f.PC, f.Strategy, f.Trust, machine[i].PC, machine[i].Strategy, machine[i].Trust)
		}
		if strings.HasPrefix(f.Module.Path, filepath.Dir(exe)) && f.FunctionName != "" {
			if named++; f.FunctionName != machine[i].FunctionName {
				t.Errorf("frame %d is in %s, want %s", i, f.FunctionName, machine[i].FunctionName)
			}
		}
	}
	if named < 3 {
		t.Errorf("%d frames of the program have names", named)
	}
	if places, err := s.FindLocation(session.LocationSpec{Function: "bottom"}); err != nil || len(places) != 1 {
		t.Errorf("bottom is at %v, %v", places, err)
	}
}
