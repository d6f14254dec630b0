package frames_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"dbg/arch"
	"dbg/frames"
	"dbg/internal/fixture"
)

// copyFile copies a program under a new name.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestModuleCache maps one file in two processes at different addresses: they share its tables.
func TestModuleCache(t *testing.T) {
	exe := fixture.Build(t, "check/plain.c", "-O1", "-g", "-pie", "-fPIE")
	cache := frames.NewModuleCache(1)
	open := func(bias uint64) *frames.AddressSpace {
		s, err := frames.NewAddressSpace(&mapped{maps: mapFile(t, exe, bias)}, frames.AddressSpaceOptions{Cache: cache})
		if err != nil || len(s.Images()) != 1 {
			t.Fatal(err, s.Images())
		}
		return s
	}
	const first, second = 0x555555000000, 0x7f0000000000
	a, b := open(first), open(second)
	one, two := a.Images()[0], b.Images()[0]
	if one.File != two.File || one.Module == two.Module || one.Module.Bias() != first || two.Module.Bias() != second {
		t.Fatalf("files %p, %p, biases %#x, %#x", one.File, two.File, one.Module.Bias(), two.Module.Bias())
	}
	if !one.Module.SharesTables(two.Module) || one.Module.SharesTables(frames.ModuleOf(one.File, nil)) {
		t.Error("the tables are not shared as they should be")
	}
	x, y := one.Module.Sources(arch.AMD64), two.Module.Sources(arch.AMD64)
	if len(x) == 0 || &x[0] != &y[0] {
		t.Errorf("%d and %d tables, not the same", len(x), len(y))
	}
	if got, want := cache.Stats(), (frames.ModuleCacheStats{Opened: 1, Shared: 1, Placed: 1, Open: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, s := range []io.Closer{a, b} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	third := open(first) // it was unused, and still open
	if got := cache.Stats(); got.Opened != 1 || got.Open != 1 {
		t.Errorf("%+v", got)
	}
	third.Close()
	if err := cache.Close(); err != nil {
		t.Error(err)
	}
	s, err := frames.NewAddressSpace(&mapped{maps: mapFile(t, exe, first)}, frames.AddressSpaceOptions{Cache: cache})
	if err != nil || len(s.Images()) != 0 {
		t.Errorf("a closed cache opens files: %v", err)
	}
}

// TestModuleCacheIsBounded opens more files than may stay open, one of which is replaced.
func TestModuleCacheIsBounded(t *testing.T) {
	exe, dir := fixture.Build(t, "check/plain.c", "-O1", "-g", "-pie", "-fPIE"), t.TempDir()
	cache := frames.NewModuleCache(2)
	defer cache.Close()
	use := func(path string) {
		s, err := frames.NewAddressSpace(&mapped{maps: mapFile(t, path, 1<<40)}, frames.AddressSpaceOptions{Cache: cache})
		if err != nil || len(s.Images()) != 1 {
			t.Fatal(err)
		}
		s.Close()
	}
	for i := range 5 {
		path := filepath.Join(dir, fmt.Sprint(i))
		copyFile(t, exe, path)
		use(path)
	}
	if got := cache.Stats(); got.Opened != 5 || got.Open != 2 {
		t.Errorf("%+v, want 5 opened and 2 open", got)
	}
	use(filepath.Join(dir, "4"))
	if got := cache.Stats(); got.Opened != 5 {
		t.Errorf("the latest file was opened again: %+v", got)
	}
	os.Remove(filepath.Join(dir, "4"))
	copyFile(t, exe, filepath.Join(dir, "4"))
	use(filepath.Join(dir, "4"))
	if got := cache.Stats(); got.Opened != 6 {
		t.Errorf("a file that was replaced counts as the same: %+v", got)
	}
}

// TestModuleCacheIsShared uses one cache from several goroutines; -race finds unguarded data.
func TestModuleCacheIsShared(t *testing.T) {
	exe := fixture.Build(t, "check/plain.c", "-O1", "-g", "-pie", "-fPIE")
	cache := frames.NewModuleCache(0)
	defer cache.Close()
	maps := mapFile(t, exe, 1<<40)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				s, err := frames.NewAddressSpace(&mapped{maps: maps}, frames.AddressSpaceOptions{Cache: cache})
				if err != nil || len(s.Images()) != 1 || len(s.Images()[0].Module.Sources(arch.AMD64)) == 0 {
					t.Errorf("no tables: %v", err)
					return
				}
				s.Close()
			}
		})
	}
	group.Wait()
	if got := cache.Stats(); got.Open != 0 || got.Opened+got.Shared != 160 {
		t.Errorf("%+v", got)
	}
}
