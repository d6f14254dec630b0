package symbols

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/arch"
	"dbg/expr"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/symbols/entry"
	"dbg/symbols/types"
	"dbg/target"
)

// splitBuild is a program that is built as usual and with -gsplit-dwarf.
type splitBuild struct {
	name, tool, source string
	flags              []string
	extra              string // a second source file, made by the test
}

// secondUnit makes a program of two units: each has its part of every table.
const secondUnit = `
struct second { int a; struct second *next; };
static struct second here = {7, &here};
static inline int inner(struct second *s, int n) { return n > s->a ? n * s->a : s->a - n; }
__attribute__((noinline)) int second_sum(int n) {
	int sum = 0;
	for (int i = 0; i < n; i++) { sum += inner(&here, i); }
	return sum;
}
`

var splitBuilds = []splitBuild{
	{"gcc-4-O0", "gcc", "symbols/testdata/basic.c", flags("-g -gdwarf-4 -O0"), secondUnit},
	{"gcc-4-O2", "gcc", "symbols/testdata/basic.c", flags("-g -gdwarf-4 -O2"), secondUnit},
	{"gcc-5-O0", "gcc", "symbols/testdata/basic.c", flags("-g -gdwarf-5 -O0"), secondUnit},
	{"gcc-5-O2", "gcc", "symbols/testdata/basic.c", flags("-g -gdwarf-5 -O2"), secondUnit},
	{"gcc-5-O2-zlib", "gcc", "symbols/testdata/basic.c", flags("-g -gdwarf-5 -O2 -gz"), secondUnit},
	{"clang-4-O0", "clang-19", "symbols/testdata/basic.c", flags("-g -gdwarf-4 -O0"), secondUnit},
	{"clang-4-O2", "clang-19", "symbols/testdata/basic.c", flags("-g -gdwarf-4 -O2"), secondUnit},
	{"clang-5-O0", "clang-19", "symbols/testdata/basic.c", flags("-g -gdwarf-5 -O0"), secondUnit},
	{"clang-5-O2", "clang-19", "symbols/testdata/basic.c", flags("-g -gdwarf-5 -O2"), secondUnit},
	{"clang-5-O2-inlining", "clang-19", "symbols/testdata/basic.c", flags("-g -gdwarf-5 -O2 -fsplit-dwarf-inlining"), secondUnit},
	{"clang-4-O2-inlining", "clang-19", "symbols/testdata/basic.c", flags("-g -gdwarf-4 -O2 -fsplit-dwarf-inlining"), secondUnit},
	{"gcc-4-O2-compute", "gcc", "testdata/c/compute.c", flags("-g -gdwarf-4 -O2"), ""},
	{"gcc-5-O2-compute", "gcc", "testdata/c/compute.c", flags("-g -gdwarf-5 -O2"), ""},
	{"gcc-5-O2-threads8", "gcc", "testdata/c/threads8.c", flags("-g -gdwarf-5 -O2 -pthread"), ""},
	{"clang-5-O2-compute", "clang-19", "testdata/c/compute.c", flags("-g -gdwarf-5 -O2"), ""},
	{"g++-4-O2-members", "g++", "testdata/c/members.cc", flags("-g -gdwarf-4 -O2"), ""},
	{"g++-4-O0-types", "g++", "symbols/testdata/types.cc", flags("-g -gdwarf-4 -O0 -fdebug-types-section"), ""},
	{"g++-5-O0-types", "g++", "symbols/testdata/types.cc", flags("-g -gdwarf-5 -O0 -fdebug-types-section"), ""},
	{"g++-5-O1-types", "g++", "symbols/testdata/types.cc", flags("-g -gdwarf-5 -O1"), ""},
	{"clang++-4-O0-types", "clang++-19", "symbols/testdata/types.cc", flags("-g -gdwarf-4 -O0 -fdebug-types-section"), ""},
	{"clang++-5-O0-types", "clang++-19", "symbols/testdata/types.cc", flags("-g -gdwarf-5 -O0 -fdebug-types-section"), ""},
	{"g++-4-O2-classes", "g++", "symbols/testdata/classes.cc", flags("-g -gdwarf-4 -O2 -fdebug-types-section"), ""},
	{"g++-5-O2-classes", "g++", "symbols/testdata/classes.cc", flags("-g -gdwarf-5 -O2 -fdebug-types-section"), ""},
	{"clang++-5-O2-classes", "clang++-19", "symbols/testdata/classes.cc", flags("-g -gdwarf-5 -O2"), ""},
}

// make builds the program and returns its path. The object files, and with them
// the .dwo files, are beside it.
func (b splitBuild) make(t testing.TB, dir string, more ...string) string {
	t.Helper()
	fixture.Need(t, b.tool)
	var objects []string
	sources := []string{filepath.Join(fixture.Root(), b.source)}
	if b.extra != "" {
		second := filepath.Join(filepath.Dir(dir), "second.c")
		if err := os.WriteFile(second, []byte(b.extra), 0o644); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, second)
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(b.tool, args...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", b.tool, strings.Join(args, " "), err, text)
		}
	}
	for i, src := range sources {
		o := fmt.Sprintf("part%d.o", i)
		run(append(append(slices.Clone(b.flags), more...), "-c", "-o", o, src)...)
		objects = append(objects, o)
	}
	run(append(append(slices.Clone(b.flags), objects...), "-o", "prog")...)
	return filepath.Join(dir, "prog")
}

// tree makes a folder of a name that has the same length for every variant.
func tree(t testing.TB, top, name string) string {
	t.Helper()
	dir := filepath.Join(top, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSplit holds every build with split debug information, in files and packed,
// against the same program with all in one file, at every address of its code.
func TestSplit(t *testing.T) {
	for _, b := range splitBuilds {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			want := load(t, b.make(t, tree(t, top, "one")))
			path := b.make(t, tree(t, top, "two"), "-gsplit-dwarf")
			gccBug := b.tool[0] == 'g' && strings.Contains(b.name, "-4-")
			files := load(t, path)
			compareSplit(t, "files", want, files, gccBug)
			if o := files.Origin(); !strings.Contains(o, "split: ") || strings.Contains(o, "missing") {
				t.Errorf("files: the origin is %q", o)
			}
			for _, packer := range []string{"llvm-dwp-19", "dwp"} {
				if packer == "dwp" && strings.Contains(b.name, "-5-") {
					continue // that of binutils 2.40 crashes
				}
				if packer == "llvm-dwp-19" && b.tool[0] == 'g' && strings.Contains(b.name, "-5-") {
					continue // reads the end of gcc's abbreviations for ever
				}
				t.Run(packer, func(t *testing.T) {
					path := pack(t, packer, path)
					m := load(t, path)
					compareSplit(t, packer, want, m, gccBug)
					if o := m.Origin(); !strings.Contains(o, "split: "+path+".dwp") || strings.Contains(o, "missing") {
						t.Errorf("the origin is %q", o)
					}
				})
			}
		})
	}
}

// pack copies a program and packs its .dwo files beside the copy.
func pack(t testing.TB, packer, prog string) string {
	t.Helper()
	fixture.Need(t, packer)
	path := filepath.Join(t.TempDir(), "packed")
	copyFile(t, prog, path)
	cmd := exec.Command(packer, "-e", prog, "-o", path+".dwp")
	cmd.Dir = filepath.Dir(prog)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", packer, err, text)
	}
	return path
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
}

// compareSplit compares two modules of the same code. With gccBug, locations
// may end two bytes early: gcc writes the length of a location list's entry as
// END-START-1 where it means END-(START-1), in DWARF 4.
func compareSplit(t *testing.T, what string, want, got *Module, gccBug bool) {
	t.Helper()
	text, _ := want.File().Section(".text")
	other, _ := got.File().Section(".text")
	if text.Addr != other.Addr || string(text.Data) != string(other.Data) {
		t.Fatalf("%s: the code is different", what)
	}
	known, variables, bad := 0, 0, 0
	wantTypes, gotTypes := described{}, described{}
	stride := image.Addr(1)
	if !fixture.All() && text.Size > 2000 {
		stride = 7 // a sample, at all alignments
	}
	for a := text.Addr; a < text.Addr+image.Addr(text.Size) && bad < 4; a += stride {
		w, g := everythingAt(want, wantTypes, a), everythingAt(got, gotTypes, a)
		for i := range max(len(w), len(g)) {
			if i < len(w) && i < len(g) && (w[i] == g[i] || gccBug && endsAt(want, wantTypes, a, i)) {
				continue
			}
			bad++
			t.Errorf("%s: %v:\nwant %s\n got %s", what, a, strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""), strings.Join(g[min(i, len(g)):min(i+1, len(g))], ""))
			break
		}
		if f := want.FunctionAt(a); f != nil && !f.FromSymbolTable {
			known++
			variables += len(want.Locals(a))
		}
	}
	if known == 0 || variables == 0 {
		t.Errorf("%s: nothing to compare: %d addresses with functions, %d variables", what, known, variables)
	}
	for _, name := range []string{"main", "second_sum", "add", "geo::Square::area", "overload(int)", "counter", "head", "here", "point", "struct node", "struct second", "geo::Square"} {
		w, g := byName(want, name), byName(got, name)
		if w != g {
			t.Errorf("%s: %s:\nwant %s\n got %s", what, name, w, g)
		}
	}
	for _, line := range []int{5, 10, 20, 30, 40} {
		file := filepath.Base(want.SourceFiles()[0])
		for _, f := range want.SourceFiles() {
			if strings.Contains(f, "testdata") {
				file = f
			}
		}
		w, g := locations(want.LinesByFile(file, line)), locations(got.LinesByFile(file, line))
		if w != g {
			t.Errorf("%s: %s:%d:\nwant %s\n got %s", what, file, line, w, g)
		}
	}
}

// endsAt reports whether line i of what everythingAt says is of a variable whose
// location is another one two bytes on.
func endsAt(m *Module, d described, a image.Addr, i int) bool {
	here := everythingAt(m, d, a)
	for _, on := range []image.Addr{a + 1, a + 2} {
		if there := everythingAt(m, d, on); i >= len(there) || here[i] != there[i] {
			return strings.HasPrefix(here[i], "  ")
		}
	}
	return false
}

func locations(list []Location) (s string) {
	for _, l := range list {
		s += fmt.Sprintf(" %v %s:%d", l.Addr, l.File, l.Line)
		if l.Function != nil {
			s += " " + l.Function.Name
		}
	}
	return s
}

// everythingAt writes down what a module knows of an address, without offsets
// in the file.
func everythingAt(m *Module, d described, a image.Addr) (out []string) {
	line, ok := m.LineAt(a)
	out = append(out, fmt.Sprintf("%+v %v", line, ok))
	calls := m.CallsAt(a)
	for i := range calls {
		c := &calls[i]
		f := *c.Function
		f.impl = nil
		out = append(out, fmt.Sprintf("%+v %+v %v %v", f, c.Position, c.Inlined, d.of(m.FunctionType(c.Function))))
		for _, v := range m.LocalsOf(c, a) {
			out = append(out, "  "+variableAt(m, d, v, a))
		}
	}
	return out
}

func variableAt(m *Module, d described, v *Variable, a image.Addr) string {
	loc := v.Locate(a)
	where := ""
	if loc.Expr != nil {
		where = locate(loc, m.File().Arch())
	}
	return fmt.Sprintf("%s %s line %d depth %d param %v artificial %v const % x at %s", v.Name, d.of(v.Type), v.Line, v.Depth, v.Param, v.Artificial, loc.Const, where)
}

// described keeps descriptions of types: the same ones come at every address.
type described map[*types.Type]string

func (d described) of(t *types.Type) string {
	s, ok := d[t]
	if !ok {
		s = describeType(t, 0)
		d[t] = s
	}
	return s
}

func describeType(t *types.Type, depth int) string {
	if t == nil {
		return "void"
	}
	s := fmt.Sprintf("%s(%d)", t.String(), t.Size)
	if depth > 2 {
		return s
	}
	if e := t.Elem(); e != nil {
		s += "->" + describeType(e, depth+1)
	}
	for _, f := range t.Fields() {
		s += fmt.Sprintf("{%s %d %s}", f.Name, f.Offset, describeType(f.Type, depth+1))
	}
	for _, e := range t.Enumerators() {
		s += fmt.Sprintf("{%s=%d}", e.Name, e.Value)
	}
	return s
}

// locate evaluates a location in a frame of the test's own.
func locate(loc entry.Location, a *arch.Arch) string {
	var regs arch.Registers
	for r := range 17 {
		regs.Set(arch.Reg(r), uint64(0x7f0000001000+r*0x100))
	}
	c := expr.Context{Arch: a, Regs: &regs, Mem: echo{}, CFA: func() (uint64, error) { return 0x7f0000009000, nil },
		TLS: func(off uint64) (uint64, error) { return 0x7e0000000000 + off, nil }}
	if loc.Fill != nil {
		loc.Fill(&c)
	}
	c.FrameBase = func() (uint64, error) {
		fb := expr.Context{Arch: a, Regs: &regs, Mem: echo{}, CFA: c.CFA}
		pieces, err := expr.Locate(loc.FrameBase, &fb)
		if err != nil || len(pieces) != 1 {
			return 0, err
		}
		if pieces[0].Kind == expr.InRegister {
			v, _ := regs.Get(pieces[0].Reg)
			return v, nil
		}
		return uint64(pieces[0].Addr), nil
	}
	pieces, err := expr.Locate(loc.Expr, &c)
	pieces = slices.Clone(pieces)
	for i := range pieces {
		p := &pieces[i]
		p.DIE = 0
		// clang converts to a base type, of so many bytes, only where it does not
		// split.
		p.Bytes = bytes.TrimRight(p.Bytes, "\x00")
	}
	return fmt.Sprintf("%+v %v", pieces, err)
}

// echo is a memory in which every word has its address.
type echo struct{}

func (echo) ReadMemory(a target.Addr, buf []byte) (int, error) {
	var word [8]byte
	for i := range buf {
		at := uint64(a) + uint64(i)
		binary.LittleEndian.PutUint64(word[:], at&^7)
		buf[i] = word[at%8]
	}
	return len(buf), nil
}

func byName(m *Module, name string) (s string) {
	for _, f := range m.FunctionsByName(name) {
		s += fmt.Sprintf("%s %v-%v; ", f.Name, f.Lo, f.Hi)
	}
	for _, v := range m.Global(name) {
		s += variableAt(m, described{}, v, 0) + "; "
	}
	if t := m.Type(name); t != nil {
		s += describeType(t, 0)
	}
	return s
}

// TestSplitMissing takes away the .dwo file, or puts that of another build in
// its place: lines and the names of symbols still work, and the origin says what
// is missing.
func TestSplitMissing(t *testing.T) {
	for _, v := range []string{"4", "5"} {
		for _, tool := range []string{"gcc", "clang-19"} {
			t.Run(tool+"-"+v, func(t *testing.T) {
				t.Parallel()
				b := splitBuild{tool: tool, source: "symbols/testdata/basic.c", flags: []string{"-gdwarf-" + v, "-O1"}}
				top := t.TempDir()
				whole := load(t, b.make(t, tree(t, top, "one")))
				path := b.make(t, tree(t, top, "two"), "-gsplit-dwarf")
				dwo := filepath.Join(filepath.Dir(path), "part0.dwo")
				b.flags = append(b.flags, "-O2")
				other := filepath.Join(filepath.Dir(b.make(t, tree(t, top, "old"), "-gsplit-dwarf")), "part0.dwo")
				if err := os.Remove(dwo); err != nil {
					t.Fatal(err)
				}
				check := func(why string) {
					t.Helper()
					m := load(t, path)
					text, _ := m.File().Section(".text")
					lines := 0
					for a := text.Addr; a < text.Addr+image.Addr(text.Size); a++ {
						w, wok := whole.LineAt(a)
						g, gok := m.LineAt(a)
						if w != g || wok != gok {
							t.Fatalf("%v: line %+v, want %+v", a, g, w)
						}
						if gok {
							lines++
						}
						if w, g := whole.FunctionAt(a), m.FunctionAt(a); w != nil && (g == nil || w.Name != g.Name) {
							t.Fatalf("%v: function %+v, want %+v", a, g, w)
						}
					}
					if lines == 0 {
						t.Error("there are no lines")
					}
					if o := m.Origin(); !strings.Contains(o, "split debug information of 1 units is missing: ") || !strings.Contains(o, why) {
						t.Errorf("the origin is %q, want %q in it", o, why)
					}
				}
				check("there is no file " + dwo)
				copyFile(t, other, dwo)
				check("it is from another build")
				if err := os.WriteFile(dwo, []byte("\x7fELF\x02\x01\x01"), 0o644); err != nil {
					t.Fatal(err)
				}
				check(dwo)
				copyFile(t, path, dwo) // no split unit in it
				check("the file has no split unit")
			})
		}
	}
}

// TestSplitElsewhere moves .dwo files to where they are looked for next.
func TestSplitElsewhere(t *testing.T) {
	b := splitBuild{tool: "gcc", source: "symbols/testdata/basic.c", flags: []string{"-g", "-O1"}}
	top := t.TempDir()
	path := b.make(t, tree(t, top, "two"), "-gsplit-dwarf")
	dwo := filepath.Join(filepath.Dir(path), "part0.dwo")
	debug := filepath.Join(top, "debug")
	for _, to := range []string{
		filepath.Join(top, "moved", "part0.dwo"),
		filepath.Join(debug, dwo),
		filepath.Join(debug, "part0.dwo"),
	} {
		t.Run(strings.TrimPrefix(to, top), func(t *testing.T) {
			moved := filepath.Join(top, "moved", "prog")
			for _, p := range []string{moved, to} {
				if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Rename(dwo, to); err != nil {
				t.Fatal(err)
			}
			defer os.Rename(to, dwo)
			copyFile(t, path, moved)
			f, err := image.Open(moved)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			m := Load(f, Options{DebugDirs: []string{debug}})
			defer m.Close()
			if got := m.Global("head"); len(got) == 0 && len(m.FunctionsByName("main")) == 0 {
				t.Error("nothing is found")
			}
			if fs := m.FunctionsByName("main"); len(fs) != 1 || fs[0].FromSymbolTable {
				t.Errorf("main: %+v", fs)
			}
			if o := m.Origin(); !strings.Contains(o, "split: "+to) {
				t.Errorf("the origin is %q", o)
			}
		})
	}
}
