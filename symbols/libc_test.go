package symbols

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"dbg/image"
	"dbg/internal/fixture"
)

const libcPath = "/lib/x86_64-linux-gnu/libc.so.6"

// libc loads the C library with its separate debug file.
func libc(t testing.TB) *Module {
	t.Helper()
	if _, err := os.Stat(libcPath); err != nil {
		fixture.Missing(t, err)
	}
	m := load(t, libcPath)
	if !m.HasDebugInfo() {
		fixture.Missing(t, fmt.Sprintf("libc6-dbg is not installed: %s", m.Origin()))
	}
	return m
}

// TestLibc compares 500 places in the C library, whose debug information is in
// another file, compressed.
func TestLibc(t *testing.T) {
	fixture.Need(t, "addr2line", "llvm-addr2line-19")
	m := libc(t)
	var addrs []image.Addr
	var functions []image.Symbol
	m.symbols().Functions(func(s image.Symbol) { functions = append(functions, s) })
	r := rand.New(rand.NewPCG(1, 2))
	for len(addrs) < 500 {
		s := functions[r.IntN(len(functions))]
		if s.Kind == image.Func && s.Size > 0 {
			addrs = append(addrs, s.Addr+image.Addr(r.Uint64N(s.Size)))
		}
	}
	compareAddr2line(t, m, m.DebugFile().Path(), addrs)
}

// TestLibcOneUnit asserts that a question about one address reads one unit.
func TestLibcOneUnit(t *testing.T) {
	m := libc(t)
	start := time.Now()
	addr, ok := m.LinkageAddr("qsort")
	if !ok {
		t.Fatal("no qsort")
	}
	calls := m.CallsAt(addr + 4)
	t.Logf("%v after %v", calls[len(calls)-1].Position, time.Since(start))
	if n := len(m.units); n != 1 {
		t.Errorf("%d units were read for one address", n)
	}
}
