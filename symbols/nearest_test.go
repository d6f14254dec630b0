package symbols

import (
	"math/rand/v2"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// TestNearest asserts that to go through the symbol table and to sort it give the same symbol: with one entry in it many times, with
// aliases, labels without a size, and symbols in others.
func TestNearest(t *testing.T) {
	files := []*Module{load(t, libcPath), load(t, fixture.Build(t, "c/compute.c", "-O2", "-static"))}
	for _, m := range files {
		r := rand.New(rand.NewPCG(3, 4))
		x := m.sortedSymbols()
		n := x.table.Len()
		if n == 0 {
			t.Fatalf("%s has no symbols", m.file.Path())
		}
		found := 0
		for range 300 {
			e, ok := x.table.Entry(r.IntN(n))
			if !ok {
				continue
			}
			for _, a := range []image.Addr{e.Addr, e.Addr - 1, e.Addr + image.Addr(e.Size), e.Addr + image.Addr(r.Uint64N(e.Size+2))} {
				for _, class := range []symbolClass{codeSymbol, dataSymbol} {
					want, have := x.search(class, a), m.nearest(class, a)
					if have != want {
						t.Errorf("%s: %#x: symbol %d by going through, %d by searching", m.file.Path(), uint64(a), have, want)
					}
					if have >= 0 {
						found++
					}
				}
			}
		}
		t.Logf("%s: %d of %d symbols, found %d", m.file.Path(), len(x.code.num)+len(x.data.num), n, found)
	}
}

// TestFewSymbolQuestions asserts that the first questions do not sort the table, and that later ones do.
func TestFewSymbolQuestions(t *testing.T) {
	m := load(t, libcPath)
	e, ok := m.LinkageAddr("malloc")
	if !ok {
		t.Fatal("no malloc")
	}
	for i := range linearSymbols {
		if _, _, ok := m.SymbolAt(e + image.Addr(i)); !ok {
			t.Errorf("nothing at malloc+%d", i)
		}
		m.SymbolAt(e) // an answer that is known costs no question
	}
	if m.elf.sorted {
		t.Error("the symbols were sorted for the first questions")
	}
	if m.SymbolAt(e + linearSymbols); !m.elf.sorted {
		t.Error("the symbols were not sorted after many questions")
	}
}
