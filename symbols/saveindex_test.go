package symbols

import (
	"path/filepath"
	"testing"

	"dbg/image"
)

// TestSaveIndex asserts that breakpoints by a saved index are where they are without it.
func TestSaveIndex(t *testing.T) {
	exe := compile(t, "g++", "classes.cc", "-g", "-Wl,--build-id")
	opt := Options{IndexDir: filepath.Join(t.TempDir(), "names")}
	if path, err := openWith(t, exe, opt).SaveIndex(); err != nil || path == "" {
		t.Fatalf("%q, %v", path, err)
	}
	saved, plain := openWith(t, exe, opt), load(t, exe)
	x := saved.names.Load()
	if x == nil {
		t.Fatal("the index is not found again")
	}
	functions := 0
	saved.symbols().Functions(func(s image.Symbol) {
		fn := plain.FunctionAt(s.Addr)
		if fn == nil || fn.FromSymbolTable || fn.Lo != s.Addr {
			return
		}
		if at, ok := x.BreakPlace(uint64(s.Addr)); ok {
			functions++
			if want := plain.AfterPrologue(fn).Addr; image.Addr(at) != want {
				t.Errorf("%s: the saved place is 0x%x, want %v", s.Name, at, want)
			}
		}
	})
	if functions < 10 {
		t.Errorf("%d functions have a saved place", functions)
	}
	for _, name := range []string{"main", "geo::Square::area", "Shape"} {
		if got, want := saved.BreakLocations(name), plain.BreakLocations(name); len(got) != len(want) {
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
}
