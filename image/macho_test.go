package image

import (
	"bufio"
	"bytes"
	gomacho "debug/macho"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// machoFile is a file that the tests read.
type machoFile struct {
	name, path string
}

// node returns the addon in a package.
func node(t testing.TB, name, version string) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(fixture.NPM(t, name, version), "*.node"))
	if len(found) != 1 {
		t.Fatalf("%s has %d addons", name, len(found))
	}
	return found[0]
}

// machoBuilds are the shapes of file that LLVM can make here.
var machoBuilds = []struct {
	name, arch string
	flags      []string
}{
	{"dylib x86_64", "x86_64", []string{"-g", "-O1"}},
	{"dylib arm64", "arm64", []string{"-g", "-O1"}},
	{"dylib arm64e", "arm64e", []string{"-O2"}},
	{"stripped x86_64", "x86_64", []string{"-O1", "link:-x"}},
	{"stripped arm64", "arm64", []string{"-O1", "link:-S", "link:-x"}},
	{"program x86_64", "x86_64", []string{"-g", "link:-execute", "link:-e", "link:_main"}},
	{"program arm64", "arm64", []string{"link:-execute", "link:-e", "link:_main"}},
	{"fixup chains", "arm64", []string{"link:-fixup_chains"}},
	{"dead code gone", "x86_64", []string{"-O1", "link:-execute", "link:-e", "link:_main", "link:-dead_strip"}},
	{"bundle", "x86_64", []string{"link:-bundle"}},
	{"object x86_64", "x86_64", []string{"-g", "-c"}},
	{"object arm64", "arm64", []string{"-g", "-c"}},
	{"object arm64e", "arm64e", []string{"-c"}},
	{"object i386", "i386", []string{"-g", "-c", "-D_Thread_local="}},
}

func machoFiles(t testing.TB) []machoFile {
	t.Helper()
	var out []machoFile
	for _, b := range machoBuilds {
		out = append(out, machoFile{b.name, fixture.MachO(t, "macho/image.c", b.arch, b.flags...)})
	}
	return out
}

// realMachOFiles are what other people's compilers and linkers made.
func realMachOFiles(t testing.TB) []machoFile {
	t.Helper()
	return []machoFile{
		{"lightningcss x64", node(t, "lightningcss-darwin-x64", "1.33.0")},
		{"lightningcss arm64", node(t, "lightningcss-darwin-arm64", "1.33.0")},
		{"swc x64", node(t, "@swc/core-darwin-x64", "1.16.18")},
		{"swc arm64", node(t, "@swc/core-darwin-arm64", "1.16.18")},
		{"watcher arm64", node(t, "@parcel/watcher-darwin-arm64", "2.5.1")}, // all symbols are in it
		{"fsevents x64", thin(t, node(t, "fsevents", "2.3.3"), "x86_64")},
		{"fsevents arm64", thin(t, node(t, "fsevents", "2.3.3"), "arm64")},
	}
}

// thin has lipo take a slice out of a fat file.
func thin(t testing.TB, path, arch string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	tool(t, "llvm-lipo-19", path, "-thin", arch, "-output", out)
	return out
}

// tool runs one of LLVM's tools and returns the lines that it prints.
func tool(t testing.TB, name string, args ...string) []string {
	t.Helper()
	fixture.Need(t, name)
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	var lines []string
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// equal compares two lists of lines and shows the first that differ.
func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		a, b := "nothing", "nothing"
		if i < len(got) {
			a = got[i]
		}
		if i < len(want) {
			b = want[i]
		}
		if a != b {
			t.Errorf("%s: number %d is\n%s\nand should be\n%s\n(%d and %d in all)", what, i, a, b, len(got), len(want))
			return
		}
	}
}

// TestMachOAgainstLLVM holds all that is read of a file against what
// llvm-objdump and llvm-nm say of it.
func TestMachOAgainstLLVM(t *testing.T) {
	t.Run("made", func(t *testing.T) { againstLLVM(t, machoFiles(t)) })
	t.Run("real", func(t *testing.T) { againstLLVM(t, realMachOFiles(t)) })
}

func againstLLVM(t *testing.T, files []machoFile) {
	for _, c := range files {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, c.path)
			if f.Format() != MachO || f.CheckArch() != nil {
				t.Fatalf("%v, %v", f.Format(), f.CheckArch())
			}
			compareHeaders(t, f)
			n := compareSymbols(t, f)
			s := compareStarts(t, f)
			i := compareStubs(t, f)
			compareContents(t, f)
			t.Logf("%d segments, %d sections, %d symbols, %d function starts, %d stubs", len(f.macho.Segments), len(f.sects)-1, n, s, i)
		})
	}
}

// compareHeaders compares segments, sections and what the other load commands
// say.
func compareHeaders(t *testing.T, f *File) {
	var want, got []string
	var command, uuid, install, dylinker string
	var libraries []string
	entry := ""
	v := map[string]string{}
	finish := func() {
		num := func(k string) uint64 { n, _ := strconv.ParseUint(strings.Fields(v[k] + " 0")[0], 0, 64); return n }
		switch {
		case v["sectname"] != "":
			want = append(want, fmt.Sprintf("section %s,%s 0x%x+0x%x @%d", v["segname"], v["sectname"], num("addr"), num("size"), num("offset")))
		case command == "LC_SEGMENT" || command == "LC_SEGMENT_64":
			want = append(want, fmt.Sprintf("segment %s 0x%x+0x%x @%d+%d %s", v["segname"], num("vmaddr"), num("vmsize"), num("fileoff"), num("filesize"), v["initprot"]))
		case command == "LC_UUID":
			uuid = strings.ToLower(strings.ReplaceAll(v["uuid"], "-", ""))
		case command == "LC_ID_DYLIB":
			install = strings.Fields(v["name"])[0]
		case command == "LC_LOAD_DYLINKER":
			dylinker = strings.Fields(v["name"])[0]
		case command == "LC_LOAD_DYLIB":
			libraries = append(libraries, strings.Fields(v["name"])[0])
		case command == "LC_MAIN":
			entry = Addr(uint64(f.HeaderAddr()) + num("entryoff")).String()
		}
		v = map[string]string{}
	}
	for _, l := range tool(t, "llvm-objdump-19", "--macho", "--private-headers", f.path) {
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch rest = strings.TrimSpace(rest); {
		case word == "Section" || strings.HasPrefix(l, "Load command"):
			finish()
			command = ""
		case word == "cmd":
			command = rest
			v[word] = rest
		default:
			v[word] = rest
		}
	}
	finish()
	at := 1
	for _, s := range f.macho.Segments {
		prot := []byte("---")
		for i, b := range []bool{s.Read, s.Write, s.Exec} {
			if b {
				prot[i] = "rwx"[i]
			}
		}
		got = append(got, fmt.Sprintf("segment %s 0x%x+0x%x @%d+%d %s", s.Name, uint64(s.Lo), uint64(s.Hi-s.Lo), s.FileOff, s.FileSize, prot))
		for ; at < len(f.sects) && (f.segmentOf(at) == s.Name || s.Name == ""); at++ {
			c := &f.sects[at]
			got = append(got, fmt.Sprintf("section %s,%s 0x%x+0x%x @%d", f.segmentOf(at), c.name, c.addr, c.size, c.off))
		}
	}
	equal(t, "segments and sections", got, want)
	equal(t, "facts", []string{f.BuildID(), f.InstallName(), f.Interp(), strings.Join(f.Libraries(), " ")}, []string{uuid, install, dylinker, strings.Join(libraries, " ")})
	if f.Entry() != 0 && f.Entry().String() != entry || f.Entry() == 0 && entry != "" {
		t.Errorf("the entry is %v and should be %s", f.Entry(), entry)
	}
}

// compareSymbols compares the defined symbols and returns how many there are.
func compareSymbols(t *testing.T, f *File) int {
	var want, got []string
	for _, l := range tool(t, "llvm-nm-19", "--format=posix", "--no-sort", f.path) {
		fields := strings.Fields(l)
		if len(fields) < 4 || fields[1] == "U" || fields[1] == "I" {
			continue
		}
		name, kind, value := fields[0], fields[1], fields[2]
		// A common symbol of an object file is not yet anywhere.
		if kind == "C" || assemblersOwn(name) {
			continue
		}
		want = append(want, fmt.Sprintf("%s %s %v", strings.TrimPrefix(name, "_"), value, kind == strings.ToUpper(kind)))
	}
	for _, s := range f.Symbols() {
		// llvm-nm writes a symbol that is hidden in an object as a local one.
		got = append(got, fmt.Sprintf("%s %x %v", s.Name, uint64(s.Addr), s.Global))
		if s.Section > 0 && s.Kind == Func && (s.Size == 0 || !f.inSection(s.Section, s.Addr+Addr(s.Size-1))) {
			t.Errorf("%s at %v has the size %d", s.Name, s.Addr, s.Size)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	equal(t, "symbols", got, want)
	return len(got)
}

func compareStarts(t *testing.T, f *File) int {
	var want, got []string
	for _, l := range tool(t, "llvm-objdump-19", "--macho", "--function-starts", f.path)[1:] {
		n, err := strconv.ParseUint(strings.TrimSpace(l), 16, 64)
		if err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		want = append(want, Addr(n).String())
	}
	for _, a := range f.FunctionStarts() {
		got = append(got, a.String())
	}
	equal(t, "function starts", got, want)
	return len(got)
}

func compareStubs(t *testing.T, f *File) int {
	var want, got []string
	in := false
	for _, l := range tool(t, "llvm-objdump-19", "--macho", "--indirect-symbols", f.path) {
		fields := strings.Fields(l)
		if strings.HasPrefix(l, "Indirect symbols for") {
			in = strings.Contains(l, "stubs)")
		} else if in && len(fields) == 3 && strings.HasPrefix(l, "0x") {
			n, _ := strconv.ParseUint(fields[0], 0, 64)
			want = append(want, fmt.Sprintf("%v %s", Addr(n), strings.TrimPrefix(fields[2], "_")))
		}
	}
	for _, s := range f.Stubs() {
		got = append(got, fmt.Sprintf("%v %s", s.Addr, s.Name))
	}
	equal(t, "stubs", got, want)
	return len(got)
}

// assemblersOwn reports whether the assembler made up a label: ltmp3, or a name with L.
func assemblersOwn(name string) bool {
	return regexp.MustCompile(`^(L|ltmp[0-9]+$)`).MatchString(name)
}

// compareContents compares the bytes of sections and of addresses with what
// debug/macho reads.
func compareContents(t *testing.T, f *File) {
	m, err := gomacho.Open(f.path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for i, s := range m.Sections {
		got := f.section(i + 1)
		if typ := f.macho.Sections[i+1].Type; typ == 0x1 || typ == 0x12 {
			if got.Data != nil {
				t.Errorf("%s,%s has bytes", s.Seg, s.Name)
			}
			continue
		}
		want, err := s.Data()
		if err != nil || !bytes.Equal(got.Data, want) || uint64(len(got.Data)) != s.Size {
			t.Errorf("%s,%s: %d bytes, should be %d (%v)", s.Seg, s.Name, len(got.Data), len(want), err)
		}
		if in, ok := f.SectionIn(s.Seg, s.Name); !ok || in.Addr != Addr(s.Addr) || in.Segment != s.Seg {
			t.Errorf("SectionIn(%s, %s) gives %v, %v", s.Seg, s.Name, in.Addr, ok)
		}
		buf := make([]byte, min(s.Size, 1<<16))
		if n, err := f.ReadAt(Addr(s.Addr), buf); err != nil || !bytes.Equal(buf[:n], want[:len(buf)]) {
			t.Errorf("ReadAt %s,%s: %d bytes, %v", s.Seg, s.Name, n, err)
		}
	}
}

// TestMachOSymbols says what is made of names, kinds and sizes.
func TestMachOSymbols(t *testing.T) {
	for _, arch := range []string{"x86_64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			f := open(t, fixture.MachO(t, "macho/image.c", arch, "-g", "-O1"))
			object := open(t, fixture.MachO(t, "macho/image.c", arch, "-g", "-O1", "-c"))
			if f.Kind() != Shared || object.Kind() != Relocatable || f.PIE() || !f.HasSymtab() || f.HasDebugInfo() || !object.HasDebugInfo() {
				t.Errorf("kinds %v and %v", f.Kind(), object.Kind())
			}
			find := func(f *File, name string) Symbol {
				for _, s := range f.Symbols() {
					if s.Name == name {
						return s
					}
				}
				t.Errorf("no symbol %s", name)
				return Symbol{}
			}
			for _, c := range []struct {
				name         string
				kind         SymbolKind
				global, weak bool
				segment      string
			}{
				{"main", Func, true, false, "__TEXT"},
				{"fn", Func, false, false, "__TEXT"},
				{"weak_fn", Func, true, true, "__TEXT"},
				{"outer", Func, true, false, "__TEXT"},
				{"data", Object, true, false, "__DATA"},
				{"zeros", Object, true, false, "__DATA"},
				{"hidden_zeros", Object, false, false, "__DATA"},
				{"weak_data", Object, true, true, "__DATA"},
			} {
				s := find(f, c.name)
				if s.Kind != c.kind || s.Global != c.global || s.Weak != c.weak || f.Sections()[s.Section].Segment != c.segment {
					t.Errorf("%+v in %s", s, f.Sections()[s.Section].Segment)
				}
			}
			// The object says which is an alternative entry; lld's files don't.
			outer, inner := find(object, "outer"), find(object, "inner")
			if inner.Addr <= outer.Addr || outer.Addr+Addr(outer.Size) < inner.Addr+Addr(inner.Size) {
				t.Errorf("%+v is not within %+v", inner, outer)
			}
			// main is the last but for padding, and the debug map says how long it is.
			if m := find(f, "main"); m.Size == 0 || m.Size > 400 {
				t.Errorf("%+v", m)
			}
		})
	}
}

// TestMachODWARFNames finds debug sections by ELF's names.
func TestMachODWARFNames(t *testing.T) {
	f := open(t, fixture.MachO(t, "macho/image.c", "x86_64", "-gdwarf-5", "-c"))
	for _, c := range []struct{ elf, name string }{
		{".debug_info", "__debug_info"}, {".debug_abbrev", "__debug_abbrev"}, {".debug_line", "__debug_line"},
		{".debug_str_offsets", "__debug_str_offs"}, {".debug_line_str", "__debug_line_str"}, {".debug_addr", "__debug_addr"},
	} {
		s, ok := f.Section(c.elf)
		if !ok || s.Name != c.name || s.Segment != "__DWARF" || len(s.Data) == 0 || !f.HasSection(c.elf) ||
			!bytes.Equal(f.Prefix(c.elf, 8), s.Data) {
			t.Errorf("%s is %q, %d bytes", c.elf, s.Name, len(s.Data))
		}
	}
	for _, name := range []string{".eh_frame", ".text", ".debug_nothing", "debug_info"} {
		if f.HasSection(name) {
			t.Errorf("%s is found", name)
		}
	}
}
