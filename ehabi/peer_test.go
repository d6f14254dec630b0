package ehabi_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dbg/ehabi"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

// packages are Debian's for armhf with real tables.
var packages = []string{"libc6", "libstdc++6", "libgcc-s1", "perl-base", "bash", "libssl3", "python3.11-minimal"}

// open makes the table of a file; nil if the file has none.
func open(t testing.TB, path string) (*ehabi.Table, image.Section) {
	t.Helper()
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	s, ok := f.Section(".ARM.exidx")
	if !ok {
		return nil, s
	}
	tab, err := ehabi.New(ehabi.Config{Data: s.Data, Addr: uint64(s.Addr), Bytes: func(a uint64, n int) []byte { return f.BytesAt(image.Addr(a), n) }})
	if err != nil {
		t.Fatal(err)
	}
	return tab, s
}

// TestPeer holds the entries of linked files against readelf -u and llvm-readobj --unwind: here those of
// the cross compiler's libraries, and of a file with every instruction; with DBG_ALL those of Debian's.
func TestPeer(t *testing.T) {
	fixture.Need(t, "readelf", "llvm-readobj-19")
	files, _ := filepath.Glob("/usr/arm-linux-gnueabihf/lib/lib*.so.*")
	if len(files) == 0 {
		fixture.Missing(t, "the libraries of arm-linux-gnueabihf")
	}
	files = append(files, fixture.Build(t, "unwind/ehabi.s", "cc=arm-linux-gnueabihf-gcc", "-nostdlib", "-static"))
	if fixture.All() {
		root := fixture.DebianFor(t, "armhf", "bookworm", packages...)
		for _, pattern := range []string{"usr/bin/*", "bin/*", "lib/*/*", "usr/lib/*/*", "usr/lib/*/*/*", "sbin/*"} {
			more, _ := filepath.Glob(filepath.Join(root, pattern))
			files = append(files, more...)
		}
	}
	var total, kinds [5]int
	compared := 0
	for _, path := range files {
		if path, err := filepath.EvalSymlinks(path); err != nil || !isELF(path) {
			continue
		}
		tab, s := open(t, path)
		if tab == nil {
			continue
		}
		compared++
		againstReadelf(t, path, tab, s)
		againstLLVM(t, path, tab, &kinds)
		total[0] += tab.Entries()
	}
	t.Logf("%d files, %d entries: %d cantunwind, %d inline, %d compact, %d generic, of these %d with known instructions; all equal",
		compared, total[0], kinds[0], kinds[1], kinds[2], kinds[3], kinds[4])
	if compared < 5 || total[0] < 500 {
		t.Errorf("%d files and %d entries are too few", compared, total[0])
	}
}

func isELF(path string) bool {
	f, err := image.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return f.Format() == image.ELF
}

var symbol = regexp.MustCompile(` <[^>]*>`)

// againstReadelf compares line by line. readelf does not know the instructions of routines whose names are
// stripped, and calls what is spare unsupported.
func againstReadelf(t *testing.T, path string, tab *ehabi.Table, s image.Section) {
	out, err := exec.Command("readelf", "-u", path).Output()
	if len(out) == 0 { // it fails after spare instructions, which it prints
		t.Fatal(err)
	}
	var own bytes.Buffer
	p := ehabi.Printer{W: &own}
	if err := p.Header(tab, s.Offset); err != nil {
		t.Fatal(err)
	}
	for e, err := range tab.All() {
		if err := p.Entry(e, err); err != nil {
			t.Fatal(err)
		}
	}
	peer := strings.ReplaceAll(symbol.ReplaceAllString(string(out), ""), "[unsupported opcode]", "[Spare]")
	want, got := strings.Split(strings.TrimSpace(peer), "\n"), strings.Split(strings.TrimSpace(own.String()), "\n")
	i := 0
	for _, line := range want {
		for i < len(got) && got[i] != line && strings.HasPrefix(got[i], "  0x") && line == "" {
			i++ // instructions that readelf leaves out
		}
		if i >= len(got) || got[i] != line {
			t.Fatalf("%s: line %d is %q; readelf has %q", path, i+1, got[min(i, len(got)-1)], line)
		}
		i++
	}
	if i != len(got) {
		t.Errorf("%s: %d lines, readelf has %d", path, len(got), len(want))
	}
}

// againstLLVM compares what llvm-readobj says of each entry: addresses, models and the instructions' bytes.
func againstLLVM(t *testing.T, path string, tab *ehabi.Table, kinds *[5]int) {
	out, err := exec.Command("llvm-readobj-19", "--unwind", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(string(out), "      Entry {\n")[1:]
	if len(entries) != tab.Entries() {
		t.Fatalf("%s: %d entries, llvm-readobj has %d", path, tab.Entries(), len(entries))
	}
	i := 0
	for e, err := range tab.All() {
		want := regexp.MustCompile(`(?m)^ *(FunctionAddress|TableEntryAddress|Model|PersonalityIndex|PersonalityRoutineAddress): .*|^ *(0x[0-9A-F]{2} )+`).FindAllString(entries[i], -1)
		for k := range want {
			want[k] = strings.TrimSpace(want[k])
		}
		got := []string{fmt.Sprintf("FunctionAddress: 0x%X", e.Lo)}
		if e.Table != 0 {
			got = append(got, fmt.Sprintf("TableEntryAddress: 0x%X", e.Table))
		}
		model := map[ehabi.Model]string{ehabi.CantUnwind: "CantUnwind", ehabi.Inline: "Compact (Inline)", ehabi.Compact: "Compact", ehabi.Generic: "Generic"}
		got = append(got, "Model: "+model[e.Model])
		switch e.Model {
		case ehabi.Inline, ehabi.Compact:
			got = append(got, fmt.Sprintf("PersonalityIndex: %d", e.Index))
			for at := 0; at < e.Code.Len(); {
				op := e.Code.Op(at)
				var b []string
				for k := range op.Size {
					b = append(b, fmt.Sprintf("0x%02X", e.Code.At(at+k)))
				}
				got = append(got, strings.Join(b, " "))
				at += op.Size
			}
		case ehabi.Generic:
			got = append(got, fmt.Sprintf("PersonalityRoutineAddress: 0x%X", e.Personality))
			if e.Code.Len() > 0 {
				kinds[4]++
			}
		}
		kinds[e.Model]++
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%s: entry %d is %q, %v; llvm-readobj has %q", path, i, got, err, want)
		}
		var r row.Row
		if rerr := tab.Row(e, &r); rerr != nil && rerr != ehabi.ErrCantUnwind && !strings.HasSuffix(path, "ehabi.s") && strings.Contains(path, ".so") {
			t.Errorf("%s: 0x%x: %v", path, e.Lo, rerr)
		}
		i++
	}
}
