package symbols

import (
	"math/rand/v2"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// TestManyPlaces asserts that functions that are looked at together have their breakpoints where each has it by itself: all functions of a
// file on the one side, some of them, one after the other, on the other.
func TestManyPlaces(t *testing.T) {
	fixture.Need(t, "dwz", "objcopy")
	for _, f := range placesFiles {
		t.Run(f.name, func(t *testing.T) {
			if f.all {
				fixture.Sweep(t)
			}
			path := f.make(t)
			together, alone := load(t, path), load(t, path)
			x := together.symbols().Symbols()
			var symbols []*image.Symbol
			for i := range x.Len() {
				if s, ok := x.Symbol(i); ok && s.Kind == image.Func && s.Section >= 0 && together.symbols().IsCode(s.Addr) {
					symbols = append(symbols, &s)
				}
			}
			have := together.manyPlaces(symbols)
			if len(have) < len(symbols)/4 {
				t.Errorf("%d of %d symbols were answered together", len(have), len(symbols))
			}
			t.Logf("%d of %d symbols were answered together", len(have), len(symbols))
			r := rand.New(rand.NewPCG(5, 6))
			asked := 0
			for range min(len(symbols), 1000) {
				s := symbols[r.IntN(len(symbols))]
				got, ok := have[s.Addr]
				if !ok {
					continue
				}
				asked++
				var want []image.Addr
				alone.functionsOf(s, func(f *Function) { want = append(want, alone.AfterPrologue(f).Addr) })
				if len(want) != 1 || want[0] != got {
					t.Errorf("%s: %#x together, %#x alone", s.Name, uint64(got), want)
				}
			}
			if asked == 0 {
				t.Error("nothing was asked")
			}
		})
	}
}

// TestManyPlacesAgain asserts that a question can be asked as often as one likes: what it costs is counted for each by itself.
func TestManyPlacesAgain(t *testing.T) {
	m := load(t, bigWith("g++", "-O2")(t))
	x := m.symbols().Symbols()
	var symbols []*image.Symbol
	for i := range x.Len() {
		if s, ok := x.Symbol(i); ok && s.Kind == image.Func && s.Section >= 0 {
			symbols = append(symbols, &s)
		}
	}
	first := len(m.manyPlaces(symbols))
	for range 10 {
		if n := len(m.manyPlaces(symbols)); n != first || n == 0 {
			t.Fatalf("%d places at first, %d later", first, n)
		}
	}
}
