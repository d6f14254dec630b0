package pdata_test

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/pdata"
)

const readobj = "llvm-readobj-19"

// openTable opens the function table of a PE image.
func openTable(t testing.TB, path string) (*image.File, *pdata.Table) {
	t.Helper()
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	data, addr, ok := f.FunctionTable()
	if !ok {
		t.Fatalf("%s has no function table", path)
	}
	tab, err := pdata.New(pdata.Config{Arch: f.Arch(), Data: data, Addr: uint64(addr), Base: uint64(f.ImageBase()),
		Read: func(a uint64, n int) []byte { return f.Bytes(image.Addr(a), n) }})
	if err != nil {
		t.Fatal(err)
	}
	return f, tab
}

// TestPeer prints files like llvm-readobj --unwind, every entry, and makes the rows of every entry:
// files of clang here, with DBG_ALL the libraries of wheels from PyPI (MSVC, mingw, clang) and Go's.
func TestPeer(t *testing.T) {
	fixture.Need(t, readobj)
	for _, machine := range []string{"amd64", "arm64"} {
		for _, level := range []string{"-O0", "-O2"} {
			t.Run(machine+level, func(t *testing.T) {
				sources := []string{"macho/shapes.c", "pe/support.c"}
				comparePeer(t, fixture.PE(t, machine, sources, level), 0)
			})
		}
	}
	if !fixture.All() {
		return
	}
	t.Run("Go", func(t *testing.T) {
		comparePeer(t, fixture.GoWindows(t, "cfi/hello.go"), 0)
	})
	for _, w := range fixture.WindowsWheels {
		for _, path := range fixture.Wheel(t, w) {
			t.Run(w.Name+path[strings.LastIndexByte(path, '/'):], func(t *testing.T) { comparePeer(t, path, w.Defects) })
		}
	}
}

// symbolNames matches the names that the tool puts before addresses.
var symbolNames = regexp.MustCompile(`(?m)(Address|Handler): \S.* (\(0x)`)

func comparePeer(t *testing.T, path string, defects int) {
	_, tab := openTable(t, path)
	out, err := exec.Command(readobj, "--unwind", path).Output()
	at := bytes.Index(out, []byte("UnwindInformation ["))
	if at < 0 {
		t.Fatalf("%s: %v", readobj, err)
	}
	var got bytes.Buffer
	if err := tab.Print(&got); err != nil {
		t.Fatal(err)
	}
	want := symbolNames.ReplaceAll(out[at:], []byte("$1: $2"))
	// The tool takes the section, not the directory: in an ARM64X image it runs into the other table, and aborts.
	if err != nil {
		want = append(want[:min(len(want), got.Len()-2)], "]\n"...)
	}
	if !bytes.Equal(got.Bytes(), want) {
		g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
		for i := range g {
			if i >= len(w) || g[i] != w[i] {
				t.Fatalf("line %d of %d is %q; %s has %q of %d lines", i+1, len(g), g[i], readobj, w[min(i, len(w)-1)], len(w))
			}
		}
		t.Fatalf("%d lines; %s has %d", len(g), readobj, len(w))
	}
	rows, bad := 0, 0
	for i := range tab.Entries() {
		e := tab.Entry(i)
		list, err := tab.Rows(&e)
		if err != nil {
			bad++
			t.Log(err)
		}
		next := e.Lo
		for k := range list {
			if list[k].Lo < next || list[k].Hi <= list[k].Lo || err == nil && list[k].Lo != next {
				t.Fatalf("row %d of the entry at 0x%x is from 0x%x to 0x%x", k, e.Lo, list[k].Lo, list[k].Hi)
			}
			next = list[k].Hi
		}
		if err == nil && next != e.Hi {
			t.Fatalf("the rows of the entry at 0x%x end at 0x%x, not 0x%x", e.Lo, next, e.Hi)
		}
		rows += len(list)
	}
	if bad != defects {
		t.Errorf("%d entries have a defect, want %d", bad, defects)
	}
	t.Logf("%d entries, %d lines equal, %d rows, %d entries with a defect", tab.Entries(), bytes.Count(want, []byte("\n")), rows, bad)
}
