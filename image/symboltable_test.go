package image

import (
	"bytes"
	"slices"
	"testing"

	"dbg/internal/fixture"
)

// TestMentioning asserts that the search through the names as one text finds the symbols that a look at each name does.
func TestMentioning(t *testing.T) {
	f, err := Open("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		fixture.Missing(t, err)
	}
	defer f.Close()
	table := f.SymbolTable()
	if table.Len() < 1000 {
		t.Fatalf("%d symbols", table.Len())
	}
	for _, part := range []string{"", "a", "printf", "_", "mem", "malloc", "qsort_r", "@", "nothing of the kind"} {
		var want []int
		for i := range table.Len() {
			if bytes.Contains(table.Name(i), []byte(part)) {
				want = append(want, i)
			}
		}
		if have := slices.Collect(table.Mentioning(part)); !slices.Equal(have, want) {
			t.Errorf("%q is in %d names, %d were found", part, len(want), len(have))
		}
	}
}

// TestAddrs asserts that each number has the value that its entry has.
func TestAddrs(t *testing.T) {
	f, err := Open("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil {
		fixture.Missing(t, err)
	}
	defer f.Close()
	table := f.SymbolTable()
	n := 0
	for i, a := range table.Addrs() {
		if i != n {
			t.Fatalf("number %d after %d", i, n-1)
		}
		n++
		if e, ok := table.Entry(i); ok && e.Addr != a {
			t.Errorf("symbol %d: %#x, its entry has %#x", i, uint64(a), uint64(e.Addr))
		}
	}
	if n != table.Len() {
		t.Errorf("%d of %d", n, table.Len())
	}
}
