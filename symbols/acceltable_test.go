package symbols

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/dwarf"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/symbols/entry"
	"dbg/symbols/names"
	"dbg/symbols/spelling"
)

// tableBuild is a way to make a program of two units with a table of names.
type tableBuild struct {
	name, tool    string
	first, second string // flags of the units
	link          string
	after         []string // run on the program
	none          bool     // the table is one that is not relied on
	whole         bool     // some names need a whole index
}

var tableBuilds = []tableBuild{
	{name: "clang", tool: "clang++-19", first: "-O0 -gpubnames", second: "-O0 -gpubnames"},
	{name: "clang-O2", tool: "clang++-19", first: "-O2 -gpubnames", second: "-O2 -gpubnames"},
	{name: "clang-64", tool: "clang++-19", first: "-O1 -gpubnames -gdwarf64", second: "-O1 -gpubnames"},
	{name: "clang-half", tool: "clang++-19", first: "-O1 -gpubnames", second: "-O1"},
	{name: "clang-types", tool: "clang++-19", first: "-O1 -gpubnames -fdebug-types-section", second: "-O1 -gpubnames -fdebug-types-section"},
	{name: "clang-simple", tool: "clang++-19", first: "-O1 -gpubnames -gsimple-template-names", second: "-O1 -gpubnames -gsimple-template-names"},
	{name: "clang-split", tool: "clang++-19", first: "-O1 -gpubnames -gsplit-dwarf", second: "-O1 -gpubnames -gsplit-dwarf", whole: true},
	{name: "clang-split-types", tool: "clang++-19", first: "-O1 -gpubnames -gsplit-dwarf -fdebug-types-section", second: "-O1 -gpubnames -gsplit-dwarf -fdebug-types-section", whole: true},
	{name: "clang-package", tool: "clang++-19", first: "-O1 -gpubnames -gsplit-dwarf", second: "-O1 -gpubnames -gsplit-dwarf", after: []string{"llvm-dwp-19 -e prog -o prog.dwp"}, whole: true},
	{name: "lld-names", tool: "clang++-19", first: "-O1 -gpubnames", second: "-O2 -gpubnames", link: "-fuse-ld=lld -Wl,--debug-names"},
	{name: "lld-names-types", tool: "clang++-19", first: "-O1 -gpubnames -fdebug-types-section", second: "-O1 -gpubnames", link: "-fuse-ld=lld -Wl,--debug-names", whole: true},
	{name: "lld-index", tool: "clang++-19", first: "-O0 -ggnu-pubnames", second: "-O2 -ggnu-pubnames", link: "-fuse-ld=lld -Wl,--gdb-index"},
	{name: "lld-index-half", tool: "clang++-19", first: "-O0 -ggnu-pubnames", second: "-O1", link: "-fuse-ld=lld -Wl,--gdb-index"},
	{name: "lld-index-4", tool: "clang++-19", first: "-O1 -ggnu-pubnames -gdwarf-4", second: "-O1 -ggnu-pubnames", link: "-fuse-ld=lld -Wl,--gdb-index"},
	{name: "gold-index", tool: "g++", first: "-O0 -ggnu-pubnames", second: "-O2 -ggnu-pubnames", link: "-fuse-ld=gold -Wl,--gdb-index"},
	{name: "gdb-index", tool: "g++", first: "-O0", second: "-O2", after: []string{"gdb-add-index prog"}},
	{name: "gdb-index-4-types", tool: "g++", first: "-O0 -gdwarf-4 -fdebug-types-section", second: "-O2 -gdwarf-4 -fdebug-types-section", after: []string{"gdb-add-index prog"}, none: true},
	{name: "gdb-index-5-types", tool: "g++", first: "-O0 -fdebug-types-section", second: "-O2 -fdebug-types-section", after: []string{"gdb-add-index prog"}, none: true},
	{name: "gdb-index-clang", tool: "clang++-19", first: "-O1", second: "-O2", after: []string{"gdb-add-index prog"}},
	{name: "gdb-names", tool: "g++", first: "-O0", second: "-O2", after: []string{"gdb-add-index -dwarf-5 prog"}, none: true},
	{name: "lto", tool: "g++", first: "-O2 -flto", second: "-O2 -flto", link: "-O2 -flto", after: []string{"gdb-add-index prog"}},
}

// make returns the program's path.
func (b tableBuild) make(t testing.TB) string {
	t.Helper()
	fixture.Need(t, b.tool, "ld.lld-19", "gold", "gdb-add-index", "llvm-dwp-19")
	dir := t.TempDir()
	src := filepath.Join(fixture.Root(), "symbols/testdata/named.cc")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, text)
		}
	}
	run(append(append([]string{b.tool, "-g"}, flags(b.first)...), "-c", "-o", "first.o", src)...)
	run(append(append([]string{b.tool, "-g", "-DSECOND"}, flags(b.second)...), "-c", "-o", "second.o", src)...)
	run(append(append([]string{b.tool}, flags(b.link)...), "-g", "-o", "prog", "first.o", "second.o")...)
	for _, after := range b.after {
		run(flags(after)...)
	}
	return filepath.Join(dir, "prog")
}

// withoutTables is the module of a file that answers from an index of its own.
func withoutTables(t testing.TB, path string) *Module {
	m := load(t, path)
	m.names.Index()
	return m
}

// allNames are the names of everything in a module, each in all the ways that it can be written; and some that are not there.
func allNames(m *Module) []string {
	set := map[string]bool{"": true, "none": true, "n::none": true, "X": true, "int": true, "unsigned long": true, "long unsigned int": true, "struct S": true, "user": true}
	for _, kind := range []names.Kind{names.Type, names.Variable, names.Function, names.Enumerator} {
		m.names.Index().Each(kind, func(_ int, d entry.Ref) bool {
			e, err := d.Read()
			if err != nil {
				return true
			}
			list := []string{m.scopes.Qualified(e)}
			if kind == names.Enumerator {
				e.Walk(func(c *dwarf.Entry, _ int) bool {
					list = append(list, list[0]+"::"+string(c.Bytes(dwarf.AttrName)))
					return false
				}, nil)
			}
			for _, name := range list {
				for _, s := range spellings(name, false) {
					set[s] = true
					set[s+"x"] = true
				}
			}
			return true
		})
	}
	out := make([]string, 0, len(set))
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// answers are what a module says of a name, as text, one line each.
func answers(m *Module, name string) (out []string) {
	for _, f := range m.FunctionsByName(name) {
		out = append(out, fmt.Sprintf("function %s %s 0x%x %v %s:%d", f.Name, f.Linkage, f.Lo, f.Ranges, filepath.Base(f.File), f.Line))
	}
	if q, ok := spelling.ParseQuery(name); ok {
		// As if the program had no symbol table.
		m.functionsNamed(q, func(f *Function) {
			out = append(out, fmt.Sprintf("function of debug information %s 0x%x", f.Name, f.Lo))
		})
	}
	for _, l := range m.BreakLocations(name) {
		out = append(out, fmt.Sprintf("place 0x%x", l.Addr))
	}
	for _, v := range m.Global(name) {
		out = append(out, fmt.Sprintf("variable %s %s at 0x%x", v.Name, v.Type, v.impl.e.Offset))
	}
	if t := m.Type(name); t != nil {
		out = append(out, fmt.Sprintf("type %s %v %d %d fields", t, t.Kind, t.Size, len(t.Fields())))
	}
	if t, v, ok := m.Enumerator(name); ok {
		out = append(out, fmt.Sprintf("enumerator of %s: %d", t, v))
	}
	return out
}

// TestAccelTables: with a table of names, of each kind, the answers to every name are those without.
func TestAccelTables(t *testing.T) {
	for _, b := range tableBuilds {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			path := b.make(t)
			got, want := load(t, path), withoutTables(t, path)
			relied := got.names.HasTables()
			if relied == b.none {
				t.Fatalf("tables are relied on: %v", relied)
			}
			all := allNames(want)
			if len(all) < 300 {
				t.Errorf("%d names", len(all))
			}
			found := 0
			for _, name := range all {
				g, w := answers(got, name), answers(want, name)
				if !slices.Equal(g, w) {
					t.Errorf("%q:\n\t%s\nwithout the table:\n\t%s", name, strings.Join(g, "\n\t"), strings.Join(w, "\n\t"))
				}
				found += len(g)
			}
			if found < 150 {
				t.Errorf("%d answers", found)
			}
			if made := got.names.Present() != nil; relied && made != b.whole {
				t.Errorf("an index was made: %v", made)
			}
			if relied && !b.whole {
				damageTable(t, path)
			}
		})
	}
}

// damage changes a few bytes of a section.
func damage(data []byte, s image.Section, r *rand.Rand) []byte {
	out := bytes.Clone(data)
	for range 1 + r.IntN(6) {
		out[s.Offset+r.Uint64N(s.Size)] = byte(r.Uint32())
	}
	return out
}

// damageTable: what a damaged table gives is there without it too.
func damageTable(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := withoutTables(t, path)
	there := map[string][]string{}
	some := []string{"S", "user", "n::instance", "only_inlined", "glob", "X2", "second_inline", "Box<int, 3>", "none", "konst", "S::Nest", "unsigned long"}
	for _, name := range some {
		there[name] = answers(want, name)
	}
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	i := slices.IndexFunc(f.Sections(), func(s image.Section) bool { return s.Name == ".debug_names" || s.Name == ".gdb_index" })
	if i < 0 {
		t.Fatal("there is no table")
	}
	// A version that nobody knows: it is said, and answered without.
	bad := bytes.Clone(data)
	at := f.Sections()[i].Offset
	if f.Sections()[i].Name == ".debug_names" {
		if at += 4; bytes.HasPrefix(bad[at-4:], []byte{0xff, 0xff, 0xff, 0xff}) {
			at += 8
		}
	}
	bad[at] = 77
	file, err := image.FromMemory("unknown", bad)
	if err != nil {
		t.Fatal(err)
	}
	m := Load(file, Options{DebugDirs: []string{}})
	defer m.Close()
	for _, name := range some {
		if got := answers(m, name); !slices.Equal(got, there[name]) {
			t.Errorf("%q with a table of an unknown version: %q, want %q", name, got, there[name])
		}
	}
	if o := m.Origin(); !strings.Contains(o, "unsupported version 77") || !strings.Contains(o, f.Sections()[i].Name) {
		t.Errorf("the origin: %s", o)
	}
	r := rand.New(rand.NewPCG(1, 2))
	used := 0
	for range 60 {
		f, err := image.FromMemory("damaged", damage(data, f.Sections()[i], r))
		if err != nil {
			t.Fatal(err)
		}
		m := Load(f, Options{DebugDirs: []string{}})
		if m.names.HasTables() {
			used++
		}
		for _, name := range some {
			for _, a := range answers(m, name) {
				builtin := name == "unsigned long" // C's own, where none is found
				if !slices.Contains(there[name], a) && !builtin {
					t.Errorf("%q: %s, of %q", name, a, there[name])
				}
			}
		}
		m.Close()
	}
	if used < 5 {
		t.Errorf("%d tables of 60 are used", used)
	}
}

// FuzzAccelTables gives a program a table of its own kind that is overwritten somewhere.
func FuzzAccelTables(f *testing.F) {
	type program struct {
		data    []byte
		section image.Section
	}
	var programs []program
	for _, b := range tableBuilds {
		if !slices.Contains([]string{"clang-types", "lld-names", "lld-index-half", "gold-index", "gdb-index"}, b.name) {
			continue
		}
		path := b.make(f)
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		file, err := image.Open(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range file.Sections() {
			if s.Name == ".debug_names" || s.Name == ".gdb_index" {
				programs = append(programs, program{data, s})
				f.Add(uint8(len(programs)-1), uint32(12), []byte{1})
				f.Add(uint8(len(programs)-1), uint32(100), []byte{0xff, 0xff, 0, 0x80})
			}
		}
		file.Close()
	}
	f.Fuzz(func(t *testing.T, which uint8, offset uint32, patch []byte) {
		p := programs[int(which)%len(programs)]
		data := bytes.Clone(p.data)
		copy(data[p.section.Offset+uint64(offset)%p.section.Size:p.section.Offset+p.section.Size], patch)
		file, err := image.FromMemory("fuzz", data)
		if err != nil {
			return
		}
		m := Load(file, Options{DebugDirs: []string{}})
		defer m.Close()
		for _, name := range []string{"S", "user", "n::instance", "glob", "X2", "Box<int, 3>", "none"} {
			answers(m, name)
		}
	})
}
