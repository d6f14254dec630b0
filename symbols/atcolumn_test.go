package symbols

import (
	"os"
	"strings"
	"testing"
)

// A column of a line with several statements finds its own place, as the compiler has recorded it.
func TestLinesAtColumn(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/columns.c")
	if err != nil {
		t.Fatal(err)
	}
	const line = 4
	code := strings.Split(string(text), "\n")[line-1]
	at := func(s string) int { return strings.Index(code, s) + 1 }
	for _, flags := range [][]string{{"-g", "-O0"}, {"-g", "-O0", "-gdwarf-4"}, {"-g", "-O1"}} {
		m := load(t, compile(t, "gcc", "columns.c", flags...))
		column := func(want int) int {
			list := m.LinesAtColumn("columns.c", line, want)
			if len(list) == 0 {
				t.Fatalf("%v: no place at column %d", flags, want)
			}
			for _, l := range list {
				if l.Line != line || l.Column != list[0].Column {
					t.Errorf("%v: column %d: line %d column %d beside column %d", flags, want, l.Line, l.Column, list[0].Column)
				}
			}
			return list[0].Column
		}
		last := column(1)
		for want := 1; want <= len(code)+10; want++ {
			got := column(want)
			if got < last || got < want && column(want+1) != got {
				t.Errorf("%v: column %d gives %d after %d", flags, want, got, last)
			}
			if got > want && column(got) != got {
				t.Errorf("%v: column %d gives %d, which gives %d", flags, want, got, column(got))
			}
			last = got
		}
		if flags[1] != "-O0" {
			continue
		}
		for _, r := range []struct{ from, to string }{{"x += one(); x", "x *="}, {"x *=", "for"}, {"for", "x += one();\x00"}} {
			lo, hi := at(r.from), at(r.to)
			if strings.HasSuffix(r.to, "\x00") {
				hi = len(code) + 1
			}
			if got := column(lo); got < lo || got >= hi {
				t.Errorf("%v: column %d gives %d, want one before %d", flags, lo, got, hi)
			}
		}
	}

	// A line without code has no columns.
	m := load(t, compile(t, "gcc", "columns.c", "-g", "-O0"))
	if list := m.LinesAtColumn("columns.c", line+1, 20); len(list) != 1 || list[0].Line != line+2 {
		t.Errorf("a line without code: %+v", list)
	}
}
