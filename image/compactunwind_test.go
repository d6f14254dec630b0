package image_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// TestWatchOS opens files for watchOS, whose processors dbg does not debug.
func TestWatchOS(t *testing.T) {
	fixture.Need(t, "clang-19")
	for name, want := range map[string]string{"arm64_32": "arm64_32", "armv7k": "arm"} {
		f, err := image.Open(watchObject(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Machine() != name || f.Arch() != nil || f.TableArch() == nil || f.TableArch().Name != want ||
			f.TableArch().PtrSize != 4 {
			t.Errorf("%s is %s, with %v and the tables of %v", name, f.Machine(), f.Arch(), f.TableArch())
		}
	}
}

func watchObject(t *testing.T, name string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name+".o")
	cmd := exec.Command("clang-19", "--target="+name+"-apple-watchos6", "-O1", "-c", "-o", out, "-xc", "-")
	cmd.Stdin = strings.NewReader("int g(int); int f(int x) { return g(x) + x; }")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("clang-19: %s", msg)
	}
	return out
}

// TestDamagedCompactUnwind changes each word of the relocations and of the section's header. Reading must end, with an
// error or without.
func TestDamagedCompactUnwind(t *testing.T) {
	fixture.Need(t, "clang-19")
	data, err := os.ReadFile(watchObject(t, "arm64_32"))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), "__compact_unwind")
	off := int(binary.LittleEndian.Uint32(data[at+48:]))
	count := int(binary.LittleEndian.Uint32(data[at+52:]))
	if count == 0 {
		t.Fatal("the section has no relocations")
	}
	failed := 0
	try := func(place int, v uint32) {
		b := append([]byte(nil), data...)
		binary.LittleEndian.PutUint32(b[place:], v)
		f, err := image.FromMemory("damaged", b)
		if err != nil {
			failed++
			return
		}
		if c, ok, err := f.CompactUnwind(); err != nil || !ok {
			failed++
		} else {
			for off := range c.Targets {
				c.TargetName(off, uint64(v))
			}
		}
	}
	for _, v := range []uint32{0, 1, 7, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff} {
		for place := at + 32; place < at+68; place += 4 {
			try(place, v)
		}
		for place := off; place < off+8*count; place += 4 {
			try(place, v)
		}
	}
	if failed < 20 {
		t.Errorf("only %d damaged files are errors", failed)
	}
}
