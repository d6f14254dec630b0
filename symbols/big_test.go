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
