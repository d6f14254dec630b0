package frames_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// The module of a Mach-O file knows how its __eh_frame numbers i386's registers.
func TestDarwinEH(t *testing.T) {
	fixture.Need(t, "clang-19")
	dir := t.TempDir()
	src, obj := filepath.Join(dir, "f.c"), filepath.Join(dir, "f.o")
	if err := os.WriteFile(src, []byte("int g(int); int f(int a) { return g(a) + 1; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("clang-19", "--target=i386-apple-macosx10.15", "-O1", "-fno-omit-frame-pointer",
		"-fasynchronous-unwind-tables", "-c", "-o", obj, src).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := image.Open(obj)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, table := frames.ModuleOf(f, nil).Tables(arch.I386)
	var r row.Row
	if err := table.RowAt(10, &r); err != nil || r.Format(arch.I386) != "0000000000000003 cfa=ebp+8 ebp=c-8 ra=c-4" {
		t.Errorf("%v: %s", err, r.Format(arch.I386))
	}
}
