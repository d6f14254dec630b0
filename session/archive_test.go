package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/session"
)

// TestELFInArchive has symbols, lines and tables of two libraries that are mapped from the middle of one file, side by side.
func TestELFInArchive(t *testing.T) {
	archive := make([]byte, 8192)
	copy(archive, "PK\x03\x04")
	args := []string{filepath.Join(t.TempDir(), "base.apk")}
	for _, source := range []string{"jit/code.c", "jit/other.c"} {
		lib := fixture.Build(t, source, append([]string{"-shared", "-fPIC", "-nostdlib", "-Wl,--build-id"}, jitFlags...)...)
		f, err := image.Open(lib)
		if err != nil {
			t.Fatal(err)
		}
		entry := ""
		for _, s := range f.Symbols() {
			if strings.HasSuffix(s.Name, "_outer") {
				entry = fmt.Sprint(uint64(s.Addr))
			}
		}
		f.Close()
		data, err := os.ReadFile(lib)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, fmt.Sprint(len(archive)), entry)
		archive = append(archive, data...)
		archive = append(archive, make([]byte, -len(archive)&4095)...)
	}
	if err := os.WriteFile(args[0], archive, 0o644); err != nil {
		t.Fatal(err)
	}
	exe := fixture.Build(t, "jit/archive.c", "-g", "-O1", "-w")
	s := openCore(t, fixture.Core(t, exe, args...), "")
	got := strings.Join(describeFrames(walkOf(t, s, 0)), "\n")
	want := "other_inner cfi other.c:7\nother_outer cfi other.c:14\nmain cfi archive.c:"
	if !strings.Contains(got, want) {
		t.Errorf("the frames are\n%s\nwant\n%s", got, want)
	}
	places, err := s.FindLocation(session.LocationSpec{Function: "made_inner"})
	if err != nil || len(places) != 1 || places[0].Addr>>16 != 0x2000 {
		t.Errorf("made_inner, in the first library, is at %+v, %v", places, err)
	}
}
