package image

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// withMini makes a stripped program with .gnu_debugdata as Fedora's find-debuginfo does,
// and returns both the original's path and its own.
func withMini(t testing.TB, xzFlags ...string) (whole, stripped string) {
	t.Helper()
	fixture.Need(t, "xz", "objcopy", "strip")
	whole = build(t, "-g", "-Wl,--build-id")
	dir := filepath.Dir(whole)
	in := func(name string) string { return filepath.Join(dir, name) }
	// Functions that are not dynamic symbols are kept; here it is all functions.
	f, err := Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	var keep strings.Builder
	for _, s := range f.Symbols() {
		if s.Kind == Func {
			keep.WriteString(s.Name + "\n")
		}
	}
	f.Close()
	if err := os.WriteFile(in("keep"), []byte(keep.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "objcopy", "--only-keep-debug", whole, in("debug"))
	run(t, dir, "objcopy", "-S", "--remove-section", ".gnu_debugdata", "--remove-section", ".comment", "--keep-symbols="+in("keep"), in("debug"), in("mini"))
	run(t, dir, "xz", append(xzFlags, "-f", in("mini"))...)
	stripped = in("stripped")
	run(t, dir, "objcopy", "--strip-all", whole, stripped)
	run(t, dir, "objcopy", "--add-section", ".gnu_debugdata="+in("mini.xz"), stripped)
	return whole, stripped
}

// TestMiniDebug finds the functions of a stripped program, and their sections.
func TestMiniDebug(t *testing.T) {
	for _, flags := range [][]string{nil, {"--check=sha256"}, {"-T2", "--block-size=4096"}, {"--check=none", "-9e"}} {
		whole, stripped := withMini(t, flags...)
		w, s := open(t, whole), open(t, stripped)
		if s.HasSymtab() {
			t.Fatal("it is not stripped")
		}
		mini, err := s.MiniDebug()
		if err != nil || mini == nil {
			t.Fatalf("%v: %v", flags, err)
		}
		table := s.SymbolTableWith(mini)
		got := map[string]Symbol{}
		for i := range table.Len() {
			if sym, ok := table.Symbol(i); ok {
				got[sym.Name] = sym
			}
		}
		functions := 0
		for _, sym := range w.Symbols() {
			if sym.Kind != Func {
				continue
			}
			functions++
			if g := got[sym.Name]; g.Addr != sym.Addr || g.Size != sym.Size || g.Kind != Func || s.sects[g.Section].name != w.sects[sym.Section].name {
				t.Errorf("%v: %+v, want %+v", flags, g, sym)
			}
		}
		if functions < 5 {
			t.Errorf("%d functions", functions)
		}
	}
	whole := build(t, "-g")
	if mini, err := open(t, whole).MiniDebug(); mini != nil || err != nil {
		t.Errorf("of a file without: %v %v", mini, err)
	}
}

// TestMiniDebugDamaged changes each byte of the compressed file: never a wrong symbol,
// since xz has checksums, and never a panic.
func TestMiniDebugDamaged(t *testing.T) {
	_, stripped := withMini(t, "--lzma2=dict=64KiB")
	data := mustRead(t, stripped)
	f, err := FromMemory("whole", data)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := f.Section(".gnu_debugdata")
	at := bytes.Index(data, s.Data)
	want, err := f.MiniDebug()
	if err != nil || at < 0 {
		t.Fatal(at, err)
	}
	failed := 0
	for i := range s.Data {
		bad := bytes.Clone(data)
		bad[at+i] ^= 0x55
		f, err := FromMemory("bad", bad)
		if err != nil {
			t.Fatal(err)
		}
		mini, err := f.MiniDebug()
		if err != nil {
			failed++
			if !strings.Contains(err.Error(), "section .gnu_debugdata at offset 0x") {
				t.Errorf("byte %d: %v", i, err)
			}
		} else if !bytes.Equal(mini.data, want.data) {
			t.Errorf("byte %d: other contents", i)
		}
	}
	if failed < len(s.Data)*9/10 {
		t.Errorf("%d of %d changes were noticed", failed, len(s.Data))
	}
}
