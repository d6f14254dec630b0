package unwindtable

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/cfi"
	"dbg/compact"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// objectTargets are the targets whose object files have __compact_unwind.
var objectTargets = []string{"x86_64-apple-macos10.6", "arm64-apple-macos11", "i386-apple-macos10.6",
	"arm64_32-apple-watchos6", "armv7k-apple-watchos6"}

// eachObject compiles sources for each target and calls check with the object file.
func eachObject(t *testing.T, check func(t *testing.T, target, file string)) {
	fixture.Need(t, "clang-19")
	levels := []string{"-O2"}
	if fixture.All() {
		levels = []string{"-O0", "-O1", "-O2", "-O3", "-Os"}
	}
	for _, target := range objectTargets {
		sources := []string{"compact/testdata/frames.c", "compact/testdata/throws.cc"}
		if strings.HasPrefix(target, "armv7k") {
			sources[0] = "compact/testdata/thumb.c" // the other one names registers of other processors
		}
		for _, source := range sources {
			for _, level := range levels {
				t.Run(fmt.Sprint(target, " ", filepath.Base(source), " ", level), func(t *testing.T) {
					file := filepath.Join(t.TempDir(), "object.o")
					out, err := exec.Command("clang-19", "--target="+target, level, "-w", "-femit-dwarf-unwind=always",
						"-fasynchronous-unwind-tables", "-c", "-o", file, filepath.Join(fixture.Root(), source)).CombinedOutput()
					if err != nil {
						t.Fatalf("clang-19 %s: %s", source, out)
					}
					check(t, target, file)
				})
			}
		}
	}
}

// TestDescriptorsPeer holds __compact_unwind against llvm-objdump, every line.
func TestDescriptorsPeer(t *testing.T) {
	fixture.Need(t, "llvm-objdump-19")
	eachObject(t, func(t *testing.T, target, file string) {
		out, err := exec.Command("llvm-objdump-19", "--unwind-info", file).Output()
		if err != nil {
			t.Fatal(err)
		}
		_, want, ok := strings.Cut(string(out), "Unwind info:\n\n")
		got, err := printed(t, file, Options{Raw: true, Source: "compact"})
		if err != nil || !ok || got != want || strings.Count(got, "Entry at") < 3 {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
	})
}

// bodyRow returns the row of a descriptor's opcode.
func bodyRow(a *arch.Arch, d *compact.Descriptor, code func(uint64, int) []byte) (*row.Row, error) {
	t, err := compact.OfDescriptors(compact.Config{Arch: a, Code: code}, []compact.Descriptor{*d})
	if err != nil {
		return nil, err
	}
	var e compact.Entry
	if err := t.Find(d.Lo, &e); err != nil {
		return nil, err
	}
	r := &row.Row{}
	return r, t.Row(&e, r)
}

// sameRules reports whether two rows restore the same CFA and registers. A register that is saved nowhere may have no
// rule.
func sameRules(a, b *row.Row) bool {
	if a.CFA.Kind != b.CFA.Kind || a.CFA.Reg != b.CFA.Reg || a.CFA.N != b.CFA.N {
		return false
	}
	saved := func(r *row.Row) (list []string) {
		for _, x := range r.Regs {
			if x.Rule.Kind == row.At {
				list = append(list, fmt.Sprint(x.Reg, x.Rule.N))
			}
		}
		slices.Sort(list)
		return list
	}
	return slices.Equal(saved(a), saved(b))
}

// TestDescriptorsAgainstDWARF expects the row of each descriptor among the rows that the compiler
// describes in __eh_frame.
func TestDescriptorsAgainstDWARF(t *testing.T) {
	total := map[string]int{}
	eachObject(t, func(t *testing.T, target, file string) {
		img, err := image.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer img.Close()
		c, ok, err := img.CompactUnwind()
		eh, hasEH := img.Section("__eh_frame")
		if !ok || err != nil || !hasEH {
			t.Fatalf("__compact_unwind: %t, %v; __eh_frame: %t", ok, err, hasEH)
		}
		a := img.TableArch()
		opcodes := a
		if a == arch.ARM6432 {
			opcodes = arch.ARM64
		}
		list, err := compact.Descriptors(c.Data, a.ByteOrder, a.PtrSize)
		if err != nil {
			t.Fatal(err)
		}
		table := cfi.New(cfi.Config{Arch: a, Data: eh.Data, Addr: uint64(eh.Addr), DarwinEH: true})
		for i := range list {
			d := &list[i]
			r, err := bodyRow(opcodes, d, c.Code)
			if d.Opcode.Kind(opcodes) == compact.DWARF || d.Opcode.Kind(opcodes) == compact.None {
				continue
			}
			f, ok := table.Find(d.Lo)
			if err != nil || !ok {
				if !ok && err == nil { // its FDE has a relocation
					total[target+" without FDE"]++
					continue
				}
				t.Errorf("0x%x: %v", d.Lo, err)
				continue
			}
			found := false
			for x, err := range table.Rows(f) {
				found = found || err == nil && sameRules(x, r)
			}
			if !found {
				t.Errorf("the function at 0x%x: %s is no row of its FDE", d.Lo, d.Opcode.String(opcodes))
			}
			total[target]++
		}
	})
	for _, target := range objectTargets {
		if total[target]+total[target+" without FDE"] == 0 {
			t.Errorf("nothing was compared for %s", target)
		}
	}
	t.Log(total)
}

// TestDescriptorRows prints the rows of an object file, in which calls have no targets yet: they must be
// those of the same function in its FDE, prologue and epilogue too.
func TestDescriptorRows(t *testing.T) {
	fixture.Need(t, "clang-19")
	dir := t.TempDir()
	file := filepath.Join(dir, "object.o")
	cmd := exec.Command("clang-19", "--target=x86_64-apple-macos10.6", "-O1", "-c", "-o", file, "-xc", "-")
	cmd.Stdin = strings.NewReader("int g(int); int f(int x) { return g(x) + x; }")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("clang-19: %s", out)
	}
	got, err := printed(t, file, Options{Source: "compact"})
	want := `f 0x0..0x16  compact  (descriptor 0x0)
  pc   cfa    rbx  rbp  ra
  0x0  rsp+8  -    -    c-8
  0x1  rsp+16 -    c-16 c-8
  0x4  rbp+16 -    c-16 c-8
  0x5  rbp+16 c-24 c-16 c-8
  0x14 rbp+16 -    c-16 c-8
  0x15 rsp+8  -    -    c-8
`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// TestWatchOSPeer holds __unwind_info of a linked arm64_32 file against llvm-objdump.
func TestWatchOSPeer(t *testing.T) {
	fixture.Need(t, "clang-19", "ld64.lld-19", "llvm-objdump-19")
	dir := t.TempDir()
	object, file := filepath.Join(dir, "x.o"), filepath.Join(dir, "x.dylib")
	for _, args := range [][]string{
		{"clang-19", "--target=arm64_32-apple-watchos6", "-O1", "-w", "-c", "-o", object,
			filepath.Join(fixture.Root(), "compact/testdata/throws.cc")},
		{"ld64.lld-19", "-arch", "arm64_32", "-platform_version", "watchos", "6.0", "6.0", "-dylib", "-undefined",
			"dynamic_lookup", "-o", file, object},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", args, out)
		}
	}
	out, err := exec.Command("llvm-objdump-19", "--unwind-info", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(out), "Unwind info:\n\n")
	if got, err := printed(t, file, Options{Raw: true, Source: "compact"}); err != nil || got != want || got == "" {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if got, err := printed(t, file, Options{Source: "compact"}); err != nil || !strings.Contains(got, " x29+16 ") {
		t.Errorf("%v\n%s", err, got)
	}
}
