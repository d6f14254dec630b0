package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// withDSYM copies a Mach-O file and puts its dSYM beside it.
func withDSYM(t testing.TB, path string) string {
	t.Helper()
	fixture.Need(t, "dsymutil-19")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(out, b, 0o755); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("dsymutil-19", out).CombinedOutput(); err != nil {
		t.Fatalf("dsymutil-19: %v\n%s", err, text)
	}
	return out
}

// TestMachOLines holds the chain of calls at every place of a Mach-O file's code
// against LLVM's addr2line, with debug information from a dSYM.
func TestMachOLines(t *testing.T) {
	fixture.Need(t, "llvm-addr2line-19")
	for _, source := range []string{"macho/image.c", "macho/throws.cc"} {
		for _, arch := range []string{"x86_64", "arm64"} {
			for _, opt := range []string{"-O0", "-O2"} {
				t.Run(source+" "+arch+" "+opt, func(t *testing.T) {
					path := withDSYM(t, fixture.MachO(t, source, arch, "-g", opt))
					m := load(t, path)
					text, ok := m.File().Section("__text")
					if !ok || !strings.HasPrefix(m.Origin(), "dSYM: ") || !m.HasDebugInfo() {
						t.Fatalf("no __text, or no debug information: %s", m.Origin())
					}
					var addrs []image.Addr
					for a := text.Addr; a < text.Addr+image.Addr(text.Size); a += 4 {
						addrs = append(addrs, a)
					}
					llvm := addr2line(t, m, "llvm-addr2line-19", path, addrs)
					known := 0
					for i, a := range addrs {
						calls := m.CallsAt(a)
						if len(calls) == 0 || calls[0].Function.FromSymbolTable {
							continue
						}
						known++
						if got := chain(m, calls); got != llvm[i] && !otherRow(m, a, calls, llvm[i], llvm[i]) {
							t.Fatalf("%v:\n got%s\nllvm%s", a, got, llvm[i])
						}
					}
					t.Logf("%d of %d addresses", known, len(addrs))
					// The rest is padding, and what is in assembly.
					if known*4 < len(addrs)*3 {
						t.Errorf("only %d of %d addresses have debug information", known, len(addrs))
					}
				})
			}
		}
	}
}

// TestMachOStubs names the stubs of functions of other libraries.
func TestMachOStubs(t *testing.T) {
	for arch, size := range map[string]image.Addr{"x86_64": 6, "arm64": 12} {
		m := load(t, fixture.MachO(t, "macho/image.c", arch, "-O1", "link:-x"))
		s, ok := m.File().Section("__stubs")
		if !ok {
			t.Fatal("no __stubs")
		}
		names := map[string]int{}
		for a := s.Addr; a < s.Addr+image.Addr(s.Size); a++ {
			name, off, ok := m.SymbolAt(a)
			if !ok {
				t.Errorf("%s: %v has no name", arch, a)
				continue
			}
			names[name]++
			if fn := m.FunctionAt(a); fn == nil || fn.Name != name || fn.Lo+image.Addr(off) != a || fn.Hi-fn.Lo != size {
				t.Errorf("%s: FunctionAt(%v) is %+v", arch, a, fn)
			}
		}
		if names["puts@stub"] != int(size) || names["strtod@stub"] != int(size) {
			t.Errorf("%s: %v", arch, names)
		}
	}
}
