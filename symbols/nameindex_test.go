package symbols

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbg/dwarf"
	"dbg/image"
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
		m := Load(f, Options{})
		x := m.nameIndex()
		b.ReportMetric(float64(len(x.names)), "names")
		b.ReportMetric(float64(len(x.funcs)), "functions")
		m.Close()
		f.Close()
	}
}

// walkedNames are the names of a module as a walk over whole entries finds them, without the cursor.
func walkedNames(m *Module) (out []nameRef) {
	for i, u := range m.files.Units() {
		root, err := u.Entry(u.First)
		if err != nil {
			continue
		}
		scoped := lang.FromCode(u.Root().Language).Scoped()
		add := func(kind nameKind, name string, e *dwarf.Entry) {
			if kind == nameFunction {
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
			add(nameType, own(e), e)
			in := scopes[:depth-1]
			if len(in) > 0 && !slices.Contains(in, "") {
				add(nameType, strings.Join(in, "::")+"::"+own(e), e)
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
							add(nameEnumerator, own(k), c)
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
					add(nameVariable, entry.Name(c), c)
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
				add(nameFunction, entry.Name(c), c)
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
			m := load(t, compile(t, p.tool, p.source, flags(p.flags)...))
			got := m.nameIndex().names
			want := walkedNames(m)
			if len(want) < 20 || !slices.Equal(got, want) {
				t.Errorf("%d names, want %d", len(got), len(want))
				for _, w := range want {
					if !slices.Contains(got, w) {
						d, _ := m.names.die(&w)
						e, _ := d.Unit.Entry(d.Off)
						t.Errorf("missing: kind %d, 0x%x %s", w.kind(), d.Off, entry.Name(e))
					}
				}
				for _, g := range got {
					if !slices.Contains(want, g) {
						d, _ := m.names.die(&g)
						e, _ := d.Unit.Entry(d.Off)
						t.Errorf("too many: kind %d, 0x%x %s", g.kind(), d.Off, entry.Name(e))
					}
				}
			}
			for _, f := range m.names.funcs {
				d, ok := m.names.at(f.unit(), f.off)
				if fn := m.unit(d.Unit).function(d.Off); !ok || fn == nil || fn.ranges[0].Lo != f.lo {
					t.Errorf("function 0x%x of unit %d at 0x%x: %v", f.off, f.unit(), f.lo, fn)
				}
			}
		})
	}
}

// TestIndexFile keeps an index and finds it again; one that is damaged, of another file, or cut short is not used.
func TestIndexFile(t *testing.T) {
	exe := compile(t, "g++", "classes.cc", "-g", "-Wl,--build-id")
	dir := filepath.Join(t.TempDir(), "names")
	open := func(path string) *Module {
		f, err := image.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		m := Load(f, Options{IndexDir: dir})
		t.Cleanup(func() { m.Close(); f.Close() })
		return m
	}
	first := open(exe)
	path, err := first.SaveIndex()
	if err != nil || path == "" {
		t.Fatalf("%q, %v", path, err)
	}
	second := open(exe)
	if !second.loadIndex() || second.mapped == nil {
		t.Fatal("it is not found again")
	}
	if !slices.Equal(second.names.names, first.names.names) || !slices.Equal(second.names.funcs, first.names.funcs) || len(second.names.funcs) == 0 {
		t.Error("it is another one")
	}
	for _, f := range second.names.funcs {
		if f.skip == notKnown {
			t.Errorf("0x%x: no place for a breakpoint", f.lo)
		}
	}
	for _, name := range []string{"main", "geo::Square::area", "Shape"} {
		plain := load(t, exe)
		if got, want := second.BreakLocations(name), plain.BreakLocations(name); len(got) != len(want) {
			t.Errorf("%s: %d places with the index, %d without", name, len(got), len(want))
		} else {
			for i := range got {
				got[i].Describe()
				if got[i].Addr != want[i].Addr || got[i].Position != want[i].Position || got[i].Function.Name != want[i].Function.Name {
					t.Errorf("%s: %v %v %s, want %v %v %s", name, got[i].Addr, got[i].Position, got[i].Function.Name, want[i].Addr, want[i].Position, want[i].Function.Name)
				}
			}
		}
	}
	if again, err := open(exe).SaveIndex(); again != "" || err != nil {
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
		if m := open(exe); m.loadIndex() {
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
	other := compile(t, "g++", "types.cc", "-g", "-Wl,--build-id")
	m := open(other)
	p, _, err := m.indexPath()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if m.loadIndex() {
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
