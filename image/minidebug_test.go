package image

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
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

// TestXZBombs gives streams that claim too much: nothing is inflated.
func TestXZBombs(t *testing.T) {
	fixture.Need(t, "xz")
	// A block whose index says that it inflates to more than is believed.
	index := binary.AppendUvarint([]byte{0, 1, 12}, maxMini+1)
	for len(index)%4 != 0 {
		index = append(index, 0)
	}
	index = append(index, 0, 0, 0, 0)
	foot := binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1))
	foot = append(foot, 0, 0)
	bomb := append([]byte("\xfd7zXZ\x00\x00\x00\xff\x12\xd9\x41\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3"), index...)
	bomb = append(append(binary.LittleEndian.AppendUint32(bomb, crc32.ChecksumIEEE(foot)), foot...), "YZ"...)
	if n, err := checkXZ(bomb); err == nil || !strings.Contains(err.Error(), "implausible") {
		t.Errorf("%d bytes: %v", n, err)
	}
	dir := t.TempDir()
	zeros := filepath.Join(dir, "zeros")
	if err := os.WriteFile(zeros, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(zeros, 1000); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "xz", "-f", "-k", "--lzma2=dict=1GiB", zeros)
	if _, err := inflateXZ(mustRead(t, zeros+".xz")); err == nil || !strings.Contains(err.Error(), "implausible dictionary") {
		t.Errorf("a dictionary of 1 GB: %v", err)
	}
	run(t, dir, "xz", "-f", "-k", zeros)
	if data, err := inflateXZ(mustRead(t, zeros+".xz")); err != nil || len(data) != 1000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
}

// FuzzXZ gives .gnu_debugdata of any kind.
func FuzzXZ(f *testing.F) {
	f.Add([]byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x00\x00\x00\x00\x1c\xdfD!\x1f\xb6\xf3}\x01\x00\x00\x00\x00\x04YZ"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if data, err := inflateXZ(raw); err == nil && len(data) > maxMini {
			t.Errorf("%d bytes", len(data))
		}
	})
}
