package compact_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/compact"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/row"
)

const objdump = "llvm-objdump-19"

// builds are the linked files that are made here.
var builds = []struct {
	source, arch string
	flags        []string
}{
	{"frames.c", "x86_64", []string{"-O0"}},
	{"frames.c", "x86_64", []string{"-O2"}},
	{"frames.c", "x86_64", []string{"-O2", "-fomit-frame-pointer", "-DBP"}},
	{"frames.c", "x86_64", []string{"-Os", "-fomit-frame-pointer", "-DBP", "-fno-stack-protector"}},
	{"frames.c", "arm64", []string{"-O0"}},
	{"frames.c", "arm64", []string{"-O2"}},
	{"frames.c", "arm64", []string{"-Os", "-momit-leaf-frame-pointer"}},
	{"throws.cc", "x86_64", []string{"-O0"}},
	{"throws.cc", "x86_64", []string{"-O2", "-fomit-frame-pointer"}},
	{"throws.cc", "arm64", []string{"-O0"}},
	{"throws.cc", "arm64", []string{"-O2"}},
	{"throws.cc", "arm64e", []string{"-O2"}},
}

// opened is a file's table.
type opened struct {
	*compact.Table
	path string
	base uint64
	file *image.File

	config compact.Config
}

func open(t testing.TB, path string) opened {
	t.Helper()
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	data, err := f.SectionData("__unwind_info")
	if err != nil {
		t.Fatal(err)
	}
	c := compact.Config{Arch: f.Arch(), Data: data, Base: uint64(f.HeaderAddr()),
		Code: func(addr uint64, n int) []byte {
			b := make([]byte, n)
			n, _ = f.ReadAt(image.Addr(addr), b)
			return b[:n]
		}}
	tab, err := compact.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return opened{tab, path, c.Base, f, c}
}

func build(t testing.TB, source, arch string, flags ...string) string {
	return fixture.MachO(t, filepath.Join("../compact/testdata", source), arch, flags...)
}

type npmAddon struct{ name, version string }

// addons are what other people's compilers and Apple's linker made.
var addons = []npmAddon{
	{"lightningcss-darwin-x64", "1.33.0"}, {"lightningcss-darwin-arm64", "1.33.0"},
	{"@swc/core-darwin-x64", "1.16.18"}, {"@swc/core-darwin-arm64", "1.16.18"},
	{"@parcel/watcher-darwin-arm64", "2.5.1"},
}

// largeAddons have 90 MB each, and were linked by LLVM's linker.
var largeAddons = []npmAddon{{"@next/swc-darwin-arm64", "16.4.5"}, {"@next/swc-darwin-x64", "16.4.5"}}

func addon(t testing.TB, name, version string) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(fixture.NPM(t, name, version), "*.node"))
	if len(found) != 1 {
		t.Fatalf("%s has %d addons", name, len(found))
	}
	return found[0]
}

// Everything that llvm-objdump says of a file, this says too.
func TestPeer(t *testing.T) {
	fixture.Need(t, objdump)
	for _, b := range builds {
		t.Run(fmt.Sprint(b.source, b.arch, b.flags), func(t *testing.T) {
			comparePeer(t, open(t, build(t, b.source, b.arch, b.flags...)))
		})
	}
	files := addons
	if fixture.All() {
		files = append(addons[:len(addons):len(addons)], largeAddons...)
	}
	for _, n := range files {
		t.Run(n.name, func(t *testing.T) { comparePeer(t, open(t, addon(t, n.name, n.version))) })
	}
}

func comparePeer(t *testing.T, o opened) {
	out, err := exec.Command(objdump, "--unwind-info", o.path).Output()
	if err != nil {
		t.Fatal(err)
	}
	const head = "Contents of __unwind_info section:\n"
	at := bytes.Index(out, []byte(head))
	if at < 0 {
		t.Fatal("llvm-objdump prints no __unwind_info")
	}
	var got bytes.Buffer
	if err := o.Print(&got); err != nil {
		t.Fatal(err)
	}
	want := out[at:]
	if !bytes.Equal(got.Bytes(), want) {
		g, w := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
		for i := range w {
			if i >= len(g) || g[i] != w[i] {
				t.Fatalf("line %d of %d is %q; llvm-objdump has %q of %d lines", i+1, len(g), g[min(i, len(g)-1)], w[i], len(w))
			}
		}
		t.Fatalf("%d lines; llvm-objdump has %d", len(g), len(w))
	}
	compareEntries(t, o, want)
}

// compareEntries looks up what the peer's text has.
func compareEntries(t *testing.T, o opened, text []byte) {
	lsdas := map[uint64]uint64{}
	var slots []uint64
	var entries, ds, ps, unsaid int
	kinds := map[compact.Kind]int{}
	var e compact.Entry
	var w row.Row
	type line struct{ addr, op uint64 }
	var all []line
	s := bufio.NewScanner(bytes.NewReader(text))
	section := ""
	for s.Scan() {
		l := strings.TrimSpace(s.Text())
		var i, k int
		var a, b uint64
		switch {
		case strings.HasPrefix(l, "Page encodings:"):
		case strings.HasSuffix(l, ":") || strings.Contains(l, "(count"):
			section = l
		case strings.HasPrefix(l, "personality["):
			fmt.Sscanf(l, "personality[%d]: 0x%x", &i, &a)
			slots = append(slots, a)
		case strings.HasPrefix(section, "LSDA"):
			fmt.Sscanf(l, "[%d]: function offset=0x%x, LSDA offset=0x%x", &i, &a, &b)
			lsdas[a] = b
		case strings.HasPrefix(section, "Second") && strings.HasPrefix(l, "["):
			if n, _ := fmt.Sscanf(l, "[%d]: function offset=0x%x, encoding[%d]=0x%x", &i, &a, &k, &b); n != 4 {
				if n, _ := fmt.Sscanf(l, "[%d]: function offset=0x%x, encoding=0x%x", &i, &a, &b); n != 3 {
					t.Fatalf("llvm-objdump prints %q", l)
				}
			}
			all = append(all, line{a, b})
		}
	}
	for i, l := range all {
		if i+1 < len(all) && all[i+1].addr == l.addr {
			continue // of no length
		}
		pc := o.base + l.addr
		if err := o.Find(pc, &e); err != nil || e.Lo != pc || uint64(e.Opcode) != l.op || i+1 < len(all) && e.Hi > o.base+all[i+1].addr {
			t.Fatalf("Find(%#x) is %+v, %v; want opcode %#x", pc, e, err, l.op)
		}
		entries++
		kinds[e.Opcode.Kind(o.file.Arch())]++
		addr, ok, err := o.LSDA(&e)
		want, has := lsdas[l.addr]
		if has && e.Opcode&(1<<30) == 0 && e.Opcode.Kind(o.file.Arch()) == compact.DWARF {
			has = false // see LSDA
			unsaid++
		}
		if err != nil || has != ok || ok && addr != o.base+want {
			t.Fatalf("at %#x: LSDA %#x, %v, %v; want %#x, %v", pc, addr, ok, err, want, has)
		}
		if ok {
			ds++
		}
		slot, ok, err := o.Personality(&e)
		if n := l.op >> 28 & 3; err != nil || ok != (n != 0) || ok && slot != o.base+slots[n-1] {
			t.Fatalf("at %#x: personality %#x, %v, %v; want number %d of %x", pc, slot, ok, err, n, slots)
		}
		if ok {
			ps++
		}
		var dwarf *compact.ErrDWARF
		if err := o.Row(&e, &w); err != nil && err != compact.ErrNone && !errors.As(err, &dwarf) {
			t.Errorf("at %#x: %v", pc, err)
		}
		if start, err := o.FunctionStart(&e); err != nil || start != e.Lo {
			t.Errorf("at %#x: function starts at %#x, %v", pc, start, err)
		}
	}
	if ds+unsaid != len(lsdas) {
		t.Errorf("%d LSDAs and %d that opcodes do not tell of; llvm-objdump has %d", ds, unsaid, len(lsdas))
	}
	n := 0
	for e, err := range o.All() {
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Find(e.Hi-1, &compact.Entry{}); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != entries || entries == 0 {
		t.Errorf("All gives %d entries, want %d", n, entries)
	}
	t.Logf("%d lines; %d entries, %d LSDAs and %d that opcodes do not tell of, %d with a personality routine of %d, all equal; %v", bytes.Count(text, []byte{'\n'}), entries, ds, unsaid, ps, len(slots), kinds)
}
