package names

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/dwarf"
	"dbg/image"
	"dbg/internal/fixture"
	"dbg/symbols/debugfiles"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// BenchmarkIndex makes the index of the file in DBG_BENCH_FILE.
func BenchmarkIndex(b *testing.B) {
	path := os.Getenv("DBG_BENCH_FILE")
	if path == "" {
		b.Skip("DBG_BENCH_FILE says of what")
	}
	for range b.N {
		f, err := image.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		files := debugfiles.New(f, debugfiles.Options{})
		x := New(files, Options{}).Index()
		b.ReportMetric(float64(len(x.names)), "names")
		b.ReportMetric(float64(len(x.funcs)), "functions")
		files.Close()
		f.Close()
	}
}

// open returns the Lookup of a file.
func open(t testing.TB, path string, opt Options) *Lookup {
	t.Helper()
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	files := debugfiles.New(f, debugfiles.Options{})
	l := New(files, opt)
	t.Cleanup(func() { l.Close(); files.Close(); f.Close() })
	return l
}

// walkedNames returns the names of debug information as a walk over whole entries finds them,
// without the cursor.
func walkedNames(units []*dwarf.Unit) (out []nameRef) {
	for i, u := range units {
		root, err := u.Entry(u.First)
		if err != nil {
			continue
		}
		scoped := lang.FromCode(u.Root().Language).Scoped()
		add := func(kind Kind, name string, e *dwarf.Entry) {
			if kind == Function {
				name = spelling.WithoutTemplate(name)
			}
			if name != "" {
				out = append(out, newNameRef(hashName(name), kind, uint32(i), e.Offset-u.Offset))
			}
		}
		own := func(e *dwarf.Entry) string { return string(e.Bytes(dwarf.AttrName)) }
		var scopes []string // by depth
		addType := func(e *dwarf.Entry, depth int) {
			if e.Flag(dwarf.AttrDeclaration) || own(e) == "" {
				return
			}
			add(Type, own(e), e)
			in := scopes[:depth-1]
			if len(in) > 0 && !slices.Contains(in, "") {
				add(Type, strings.Join(in, "::")+"::"+own(e), e)
			}
		}
		root.Walk(func(c *dwarf.Entry, depth int) bool {
			scopes = append(scopes[:depth-1], own(c))
			switch c.Tag {
			case dwarf.TagNamespace, dwarf.TagModule:
				return true
			case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType:
				addType(c, depth)
				return scoped
			case dwarf.TagEnumerationType:
				addType(c, depth)
				if !c.Flag(dwarf.AttrDeclaration) {
					c.Walk(func(k *dwarf.Entry, _ int) bool {
						if k.Tag == dwarf.TagEnumerator {
							add(Enumerator, own(k), c)
						}
						return false
					}, nil)
				}
			case dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagUnspecifiedType, dwarf.TagTemplateAlias:
				addType(c, depth)
			case dwarf.TagVariable, dwarf.TagMember:
				if c.Tag == dwarf.TagMember && !c.Flag(dwarf.AttrExternal) && !c.Flag(dwarf.AttrDeclaration) {
					break
				}
				if c.Has(dwarf.AttrLocation) || entry.Inherited(c, dwarf.AttrConstValue) != nil {
					add(Variable, entry.Name(c), c)
				}
			case dwarf.TagSubprogram:
				if c.Flag(dwarf.AttrDeclaration) {
					break
				}
				if ranges, _ := c.Ranges(); c.Has(dwarf.AttrLowPC) || c.Has(dwarf.AttrRanges) {
					if !slices.ContainsFunc(ranges, func(r dwarf.Range) bool { return r.Lo != 0 }) {
						break
					}
				}
				add(Function, entry.Name(c), c)
			}
			return false
		}, nil)
	}
	return fewTypes(sortNames(out))
}

var indexedPrograms = []struct{ tool, source, flags string }{
	{"gcc", "basic.c", "-g -O2"}, {"g++", "classes.cc", "-g -O0"}, {"g++", "classes.cc", "-g -O2 -flto"}, {"g++", "types.cc", "-g -gdwarf-4 -fdebug-types-section"},
	{"clang++-19", "classes.cc", "-g -O1"}, {"clang++-19", "types.cc", "-g -gdwarf-4"},
}

// TestNameIndex holds the index against a walk that decodes every entry.
func TestNameIndex(t *testing.T) {
	for _, p := range indexedPrograms {
		t.Run(p.tool+" "+p.source+" "+p.flags, func(t *testing.T) {
			t.Parallel()
			l := open(t, fixture.Compile(t, p.tool, "symbols/testdata/"+p.source, strings.Fields(p.flags)...), Options{})
			x := l.Index()
			got, want := x.names, walkedNames(x.units)
			if len(want) < 20 || !slices.Equal(got, want) {
				t.Errorf("%d names, want %d", len(got), len(want))
				for _, w := range want {
					if !slices.Contains(got, w) {
						d, _ := x.die(&w)
						e, _ := d.Unit.Entry(d.Off)
						t.Errorf("missing: kind %d, 0x%x %s", w.kind(), d.Off, entry.Name(e))
					}
				}
				for _, g := range got {
					if !slices.Contains(want, g) {
						d, _ := x.die(&g)
						e, _ := d.Unit.Entry(d.Off)
						t.Errorf("too many: kind %d, 0x%x %s", g.kind(), d.Off, entry.Name(e))
					}
				}
			}
			for _, f := range x.funcs {
				d, ok := x.at(f.unit(), f.off)
				if !ok {
					t.Errorf("function 0x%x of unit %d has no entry", f.off, f.unit())
					continue
				}
				e, err := d.Read()
				if err != nil || e.Tag != dwarf.TagSubprogram {
					t.Errorf("function 0x%x of unit %d: %v, %v", f.off, f.unit(), e, err)
					continue
				}
				ranges, _ := e.Ranges()
				if i := slices.IndexFunc(ranges, func(r dwarf.Range) bool { return r.Lo != 0 }); i < 0 || ranges[i].Lo != f.lo {
					t.Errorf("function 0x%x of unit %d at 0x%x: %v", f.off, f.unit(), f.lo, ranges)
				}
			}
		})
	}
}

// atEntry is a Placer that places every breakpoint four bytes after the function's start.
type atEntry struct{}

func (atEntry) Place(_ *dwarf.Unit, starts, _ []uint64, set func(i int, at uint64) bool) {
	for i, lo := range starts {
		set(i, lo+4)
	}
}

// TestSave saves an index and loads it again. An index that is damaged, of another file, or cut
// short is not used.
func TestSave(t *testing.T) {
	exe := fixture.Compile(t, "g++", "symbols/testdata/classes.cc", "-g", "-Wl,--build-id")
	opt := Options{Dir: filepath.Join(t.TempDir(), "names")}
	first := open(t, exe, opt)
	path, err := first.Save(atEntry{})
	if err != nil || path == "" {
		t.Fatalf("%q, %v", path, err)
	}
	second := open(t, exe, opt)
	if second.Load() == nil || second.mapped == nil {
		t.Fatal("it is not found again")
	}
	if !slices.Equal(second.index.names, first.index.names) || !slices.Equal(second.index.funcs, first.index.funcs) || len(second.index.funcs) == 0 {
		t.Error("it is another one")
	}
	for _, f := range second.index.funcs {
		if f.skip != 4 {
			t.Errorf("0x%x: the place of a breakpoint is %d bytes after the start, want 4", f.lo, f.skip)
		}
	}
	if again, err := open(t, exe, opt).Save(atEntry{}); again != "" || err != nil {
		t.Errorf("it is written twice: %q, %v", again, err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, data []byte) {
		os.Remove(path) // the old one is mapped
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if open(t, exe, opt).Load() != nil {
			t.Errorf("%s: it is used", what)
		}
	}
	for _, n := range []int{0, 1, headerSize - 1, headerSize, headerSize + 16, len(good) - 1} {
		try("cut short", good[:n])
	}
	for i := 0; i < len(good); i += 1 + i/97 {
		bad := slices.Clone(good)
		bad[i] ^= 1 << (i % 8)
		try("damaged", bad)
	}
	try("longer", append(slices.Clone(good), 0))
	other := open(t, fixture.Compile(t, "g++", "symbols/testdata/types.cc", "-g", "-Wl,--build-id"), opt)
	p, _, err := other.path()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if other.Load() != nil {
		t.Error("that of another program is used")
	}
}

// TestHashCounts holds the counts against a map.
func TestHashCounts(t *testing.T) {
	const most = 3
	r := rand.New(rand.NewPCG(7, 8))
	var c hashCounts
	want := map[uint32]int{}
	for range 200_000 {
		h := uint32(r.Uint64N(1 << (4 + r.Uint64N(29))))
		if got := c.count(h, most); got != (want[h] < most) {
			t.Fatalf("%#x after %d times: %v", h, want[h], got)
		}
		want[h]++
	}
	if c.used != len(want) {
		t.Errorf("%d of %d hashes", c.used, len(want))
	}
}
