package symtab

import (
	"math/rand/v2"
	"os"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
	"dbg/symbols/debugfiles"
)

const libcPath = "/lib/x86_64-linux-gnu/libc.so.6"

// open returns the Table of a file, and the file.
func open(t testing.TB, path string) (*Table, *image.File) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		fixture.Missing(t, err)
	}
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	files := debugfiles.New(f, debugfiles.Options{})
	t.Cleanup(func() { files.Close(); f.Close() })
	return New(f, files), f
}

// TestNearest asserts that a walk through the symbol table and a search in the sorted one give the
// same symbol: for each of many symbols, with aliases, labels without a size, and symbols within
// others.
func TestNearest(t *testing.T) {
	for _, path := range []string{libcPath, fixture.Build(t, "c/compute.c", "-O2", "-static")} {
		r := rand.New(rand.NewPCG(3, 4))
		x, _ := open(t, path)
		x.sort()
		n := x.table.Len()
		if n == 0 {
			t.Fatalf("%s has no symbols", path)
		}
		found := 0
		for range 300 {
			e, ok := x.table.Entry(r.IntN(n))
			if !ok {
				continue
			}
			for _, a := range []image.Addr{e.Addr, e.Addr - 1, e.Addr + image.Addr(e.Size), e.Addr + image.Addr(r.Uint64N(e.Size+2))} {
				for _, class := range []Class{Code, Data} {
					want, have := x.search(class, a), x.nearest(class, a)
					if have != want {
						t.Errorf("%s: %#x: symbol %d by walking, %d by searching", path, uint64(a), have, want)
					}
					if have >= 0 {
						found++
					}
				}
			}
		}
		t.Logf("%s: %d of %d symbols, found %d", path, len(x.code.num)+len(x.data.num), n, found)
	}
}

// TestFewQuestions asserts that the first questions do not sort the table, and that later ones do.
func TestFewQuestions(t *testing.T) {
	x, _ := open(t, libcPath)
	malloc, ok := x.LinkageAddr("malloc")
	if !ok {
		t.Fatal("no malloc")
	}
	for i := range linearQuestions {
		if _, ok := x.At(Code, malloc+image.Addr(i)); !ok {
			t.Errorf("nothing at malloc+%d", i)
		}
		x.At(Code, malloc) // a known answer does not count as a question
	}
	if x.sorted {
		t.Error("the symbols were sorted for the first questions")
	}
	if x.At(Code, malloc+linearQuestions); !x.sorted {
		t.Error("the symbols were not sorted after many questions")
	}
}
