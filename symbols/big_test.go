package symbols

import (
	"os"
	"strings"
	"testing"

	"dbg/image"
)

// BenchmarkQuestion asks the file in DBG_BENCH_FILE for the breakpoint locations of DBG_BENCH_NAME,
// each time anew.
func BenchmarkQuestion(b *testing.B) {
	path, name := os.Getenv("DBG_BENCH_FILE"), os.Getenv("DBG_BENCH_NAME")
	if path == "" || name == "" {
		b.Skip("DBG_BENCH_FILE and DBG_BENCH_NAME say what to ask")
	}
	n := 0
	for range b.N {
		f, err := image.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		m := Load(f, Options{})
		if file, line, ok := strings.Cut(name, ":"); ok && line != "" && line[0] >= '0' && line[0] <= '9' {
			for _, c := range line {
				n = n*10 + int(c-'0')
			}
			n = len(m.LinesByFile(file, n))
		} else {
			n = len(m.BreakLocations(name))
		}
		m.Close()
		f.Close()
	}
	b.ReportMetric(float64(n), "locations")
}

// BenchmarkLineAt asks for the lines of a function's addresses, again and again: all but the first question find the unit's table there.
func BenchmarkLineAt(b *testing.B) {
	f, err := image.Open(compile(b, "g++", "classes.cc", "-g", "-O2"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	m := Load(f, Options{})
	defer m.Close()
	main := m.FunctionsByName("main")
	if len(main) == 0 {
		b.Fatal("there is no main")
	}
	lo, n := main[0].Lo, uint64(main[0].Hi-main[0].Lo)
	m.LineAt(lo)
	b.ReportAllocs()
	i := uint64(0)
	for b.Loop() {
		i++
		if _, ok := m.LineAt(lo + image.Addr(i*7%n)); !ok {
			b.Fatal("no line")
		}
	}
}
