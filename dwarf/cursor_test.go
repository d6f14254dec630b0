package dwarf_test

import (
	"os"
	"testing"

	"dbg/dwarf"
	"dbg/image"
	"dbg/internal/fixture"
)

// cursorFiles lists files of several producers and versions.
func cursorFiles(t testing.TB) map[string]*dwarf.Data {
	list := map[string]*dwarf.Data{}
	add := func(name, path string) {
		f, err := image.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		list[name] = dwarf.New(f, f.BigEndian())
	}
	fixture.Need(t, "gcc", "g++", "clang-19")
	add("gcc", fixture.Build(t, "c/members.cc", "-g", "-O1"))
	add("gcc-2", fixture.Build(t, "c/compute.c", "-gdwarf-2", "-O1"))
	add("gcc-4-64", fixture.Build(t, "c/compute.c", "-gdwarf-4", "-gdwarf64", "-O2", "-fdebug-types-section"))
	add("clang", fixture.Build(t, "c/compute.c", "cc=clang-19", "-g", "-O1"))
	return list
}

// TestCursor compares the cursor with whole entries: tags, offsets, depths, names, and skipped
// entries.
func TestCursor(t *testing.T) {
	for name, d := range cursorFiles(t) {
		t.Run(name, func(t *testing.T) {
			units, err := d.Units()
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, u := range units {
				n += compareCursor(t, u)
			}
			if n < 20 {
				t.Errorf("%d entries", n)
			}
		})
	}
}

func compareCursor(t *testing.T, u *dwarf.Unit) int {
	type at struct {
		off   uint64
		tag   dwarf.Tag
		depth int
		name  string
	}
	for _, skip := range []dwarf.Tag{0, dwarf.TagSubprogram, dwarf.TagStructureType} {
		var want, got []at
		root, err := u.Entry(u.First)
		if err != nil {
			t.Fatal(err)
		}
		rootName, _ := root.String(dwarf.AttrName)
		want = append(want, at{root.Offset, root.Tag, 0, rootName})
		root.Walk(func(e *dwarf.Entry, depth int) bool {
			name, _ := e.String(dwarf.AttrName)
			want = append(want, at{e.Offset, e.Tag, depth, name})
			return e.Tag != skip
		}, nil)
		c, err := u.Cursor(u.First)
		if err != nil {
			t.Fatal(err)
		}
		for c.Next() {
			got = append(got, at{c.Offset(), c.Tag(), c.Depth(), string(c.Name())})
			if c.Tag() == skip {
				c.Skip()
			}
		}
		if c.Err() != nil {
			t.Fatal(c.Err())
		}
		if len(got) != len(want) {
			t.Fatalf("unit 0x%x without %x: %d entries, want %d", u.Offset, skip, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("unit 0x%x without %x: entry %d is %v, want %v", u.Offset, skip, i, got[i], want[i])
			}
		}
		if skip == dwarf.TagStructureType {
			return len(got)
		}
	}
	return 0
}

// TestCursorAllocates checks that a walk over a unit's entries and their names does not allocate.
func TestCursorAllocates(t *testing.T) {
	d := cursorFiles(t)["gcc"]
	units, _ := d.Units()
	walk := func() {
		for _, u := range units {
			c, _ := u.Cursor(u.First)
			for c.Next() {
				c.Name()
			}
		}
	}
	walk()
	if n := testing.AllocsPerRun(5, walk); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkCursor walks over all entries of the file in DBG_BENCH_FILE, or of this program.
func BenchmarkCursor(b *testing.B) {
	path := os.Getenv("DBG_BENCH_FILE")
	if path == "" {
		path, _ = os.Executable()
	}
	f, err := image.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	d := dwarf.New(f, f.BigEndian())
	units, _ := d.Units()
	for _, names := range []bool{false, true} {
		name := "entries"
		if names {
			name = "names"
		}
		b.Run(name, func(b *testing.B) {
			var entries, bytes int
			for range b.N {
				for _, u := range units {
					c, err := u.Cursor(u.First)
					if err != nil {
						b.Fatal(err)
					}
					for c.Next() {
						entries++
						if names {
							c.Name()
						}
					}
					bytes += int(u.End - u.Offset)
				}
			}
			b.ReportMetric(float64(bytes)/1e6/b.Elapsed().Seconds(), "MB/s")
			b.ReportMetric(float64(entries)/1e6/b.Elapsed().Seconds(), "Mentries/s")
		})
	}
}
