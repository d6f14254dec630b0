package dwarf

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"dbg/dwarf/linetable"
	"dbg/image"
	"dbg/internal/fixture"
)

// fuzzSections returns the sections of a small program, by name, for each installed compiler
// configuration.
var fuzzSections = sync.OnceValue(func() []sections {
	var out []sections
	dir, err := os.MkdirTemp("", "dwarf-fuzz")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(dir)
	src := filepath.Join(dir, "a.cc")
	text := "struct node { int v : 3; node *next; enum { A, B } e; }; static inline __attribute__((always_inline)) int sq(int x) { int y = x * x; return y; }\n" +
		"__attribute__((cold)) int far(int); int add(int a, node *n) { int r = sq(a); for (int i = 0; i < 3; i++) r += sq(i) + n->v; if (r < 0) return far(r); return r; }\n"
	if os.WriteFile(src, []byte(text), 0o600) != nil {
		return nil
	}
	for _, args := range [][]string{
		{"g++", "-gdwarf-5"}, {"g++", "-gdwarf-5", "-gdwarf64"}, {"g++", "-gdwarf-4", "-fdebug-types-section"}, {"g++", "-gdwarf-3", "-gstrict-dwarf"}, {"g++", "-gdwarf-2", "-gstrict-dwarf"},
		{"clang++-19", "-gdwarf-5"}, {"clang++-19", "-gdwarf-4"},
		{"g++", "-gdwarf-5", "-gsplit-dwarf"}, {"g++", "-gdwarf-4", "-gsplit-dwarf"}, {"clang++-19", "-gdwarf-5", "-gsplit-dwarf"},
	} {
		o := filepath.Join(dir, "a.so")
		cmd := exec.Command(args[0], append(args[1:], "-O2", "-shared", "-fPIC", "-nostdlib", "-ffunction-sections", "-dumpdir", dir+"/", "-o", o, src)...)
		if args[0] != "g++" {
			cmd = exec.Command(args[0], append(args[1:], "-O2", "-shared", "-fPIC", "-nostdlib", "-ffunction-sections", "-o", o, src)...)
		}
		cmd.Dir = dir
		if cmd.Run() != nil {
			continue
		}
		s := sections{}
		files := []string{o}
		more, _ := filepath.Glob(filepath.Join(dir, "*.dwo"))
		for _, path := range append(files, more...) {
			file, err := image.Open(path)
			if err != nil {
				continue
			}
			for _, sec := range file.Sections() {
				if one, ok := file.Section(sec.Name); ok && len(sec.Name) > 7 && sec.Name[:7] == ".debug_" {
					s[sec.Name] = append([]byte(nil), one.Data...)
				}
			}
			file.Close()
		}
		for _, path := range more {
			os.Remove(path)
		}
		out = append(out, s)
	}
	return out
})

// work counts operations, so that a limit does not depend on the machine.
type work struct{ entries, ranges, rows, files int }

// everything reads all of d, as far as a debugger may ask for it.
func everything(d *Data) (w work) {
	units, _ := d.Units()
	for i, u := range units {
		if i == 50 {
			break
		}
		w.unit(u)
	}
	d.Aranges(func(a Arange) bool { w.ranges++; return true })
	d.TypeUnits()
	d.HasSkeletons()
	d.MentionsName("x")
	d.typeUnit(1)
	d.UnitOf(100)
	d.EntryAt(100)
	d.Errors()
	return w
}

func (w *work) unit(u *Unit) {
	u.Root()
	full := u.Full()
	if full != u {
		w.unit(full)
	}
	read := func(e *Entry) {
		w.entries++
		for i := range e.Vals {
			v := &e.Vals[i]
			u.text(v)
			u.address(v)
			u.Location(v, u.Root().LowPC+1)
			if v.Attr == AttrType || v.Attr == AttrSpecification || v.Attr == AttrAbstractOrigin {
				e.Ref(v.Attr)
			}
		}
		e.EachRange(func(lo, hi uint64) { w.ranges++ })
	}
	if e, err := u.Entry(u.First); err == nil {
		read(e)
		e.AfterChildren()
		n := 0
		e.Walk(func(c *Entry, depth int) bool { n++; read(c); return n < 2000 }, nil)
	}
	if c, err := u.Cursor(u.First); err == nil {
		var v Value
		for c.Next() {
			w.entries++
			c.Name()
			c.Value(AttrType, &v)
			c.InUnit(AttrType)
			if c.Tag() == TagStructureType {
				c.Skip()
			}
		}
	}
	t := u.Files()
	for n := range min(t.NumFiles(), 1000) {
		w.files++
		t.File(uint64(n))
		t.Base(uint64(n))
	}
	t.Each(func(l linetable.Sequence) bool { w.rows += len(l.Rows); return true })
	t.At(u.Root().LowPC + 1)
	u.HasFile("a.cc")
}

// check compares the cost of reading with the size of the data: entries and rows have at least one
// byte, and a list has at most maxRanges elements.
func (w *work) check(t *testing.T, size int, used uint64) {
	t.Helper()
	if w.entries > 8*size+100 || w.rows > 8*size+100 {
		t.Errorf("%+v of %d bytes", *w, size)
	}
	if most := uint64(2000*size + 8<<20); used > most {
		t.Errorf("%d bytes were allocated for %d", used, size)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// fuzzSection makes a fuzz target that replaces one section of a program and reads everything.
func fuzzSection(f *testing.F, names ...string) {
	fixture.Need(f, "g++", "clang++-19")
	programs := fuzzSections()
	if len(programs) < 10 {
		f.Fatalf("%d programs", len(programs))
	}
	for i, p := range programs {
		for k, name := range names {
			if data := p[name]; data != nil {
				f.Add(uint8(i), uint8(k), data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, program, which uint8, data []byte) {
		name := names[int(which)%len(names)]
		s := sections{}
		size := len(data)
		for k, v := range programs[int(program)%len(programs)] {
			s[k] = v
			size += len(v)
		}
		s[name] = data
		before := allocated()
		d := New(s, false)
		split := NewSplit(s, false)
		d.Split = func(u *Unit) *Unit {
			full, err := split.SplitUnit(u)
			if err != nil {
				return nil
			}
			return full
		}
		d.Alt = func() *Data { return New(s, true) }
		w := everything(d)
		if len(s[".debug_info.dwo"]) > 0 {
			w2 := everything(split)
			w.entries += w2.entries
		}
		w.check(t, size, allocated()-before)
	})
}

// Each section has its own target, with the other sections of a real program.
func FuzzInfo(f *testing.F)   { fuzzSection(f, ".debug_info", ".debug_info.dwo") }
func FuzzTypes(f *testing.F)  { fuzzSection(f, ".debug_types", ".debug_types.dwo") }
func FuzzAbbrev(f *testing.F) { fuzzSection(f, ".debug_abbrev", ".debug_abbrev.dwo") }
func FuzzLine(f *testing.F)   { fuzzSection(f, ".debug_line", ".debug_line_str") }
func FuzzStrings(f *testing.F) {
	fuzzSection(f, ".debug_str", ".debug_str_offsets", ".debug_str_offsets.dwo")
}
func FuzzAddr(f *testing.F) { fuzzSection(f, ".debug_addr", ".debug_aranges") }
func FuzzRanges(f *testing.F) {
	fuzzSection(f, ".debug_ranges", ".debug_rnglists", ".debug_rnglists.dwo")
}
func FuzzLocations(f *testing.F) {
	fuzzSection(f, ".debug_loc", ".debug_loclists", ".debug_loc.dwo", ".debug_loclists.dwo")
}

// FuzzPackage replaces the indexes of a package.
func FuzzPackage(f *testing.F) {
	programs := fuzzSections()
	// Section 7.3.5.3: version, columns, units, slots; ids; rows; columns' numbers; offsets; sizes.
	index := func(version byte) []byte {
		return cat([]byte{version, 0, 0, 0}, u32(2), u32(1), u32(2), u64(0), u64(1), u32(0), u32(1), u32(1), u32(3), u32(0), u32(0), u32(0x40), u32(0x40))
	}
	f.Add(uint8(0), index(5), []byte(nil))
	f.Add(uint8(1), index(2), index(2))
	f.Fuzz(func(t *testing.T, program uint8, units, types []byte) {
		s := sections{".debug_cu_index": units, ".debug_tu_index": types}
		size := len(units) + len(types)
		if len(programs) > 0 {
			for k, v := range programs[int(program)%len(programs)] {
				s[k] = v
				size += len(v)
			}
		}
		before := allocated()
		d, err := NewPackage(s, program&0x80 != 0)
		if err != nil {
			return
		}
		w := everything(d)
		skeleton := New(s, false)
		list, _ := skeleton.Units()
		for _, u := range list {
			d.SplitUnit(u)
		}
		for id := range uint64(4) {
			d.packedUnit(d.pack.units, id)
			d.packedUnit(d.pack.types, id)
		}
		w.check(t, size, allocated()-before)
	})
}
