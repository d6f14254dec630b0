package jit

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

func TestPerfMap(t *testing.T) {
	m := ParsePerfMap([]byte(strings.Join([]string{
		"1000 100 old",
		"2000 10 LazyCompile:~f /x y.js:1:2",
		"0x3000 0x20 prefixed",
		"1080 40 new", // reuses the end of old
		"nonsense",
		"4000 0 empty",
		"0 10 null",
		"ffffffffffffffff 10 wraps",
		"5000 ffffffffffff absurd",
		"6000 10",
		"7000 10  ",
		"8000 10 bad \xff utf-8",
		"9000 10 " + strings.Repeat("x", 5000),
		"a000 10 cut off",
	}, "\n")))
	for _, c := range []struct {
		addr uint64
		want string
	}{
		{0x1000, ""}, {0x107f, ""}, {0x1080, "new"}, {0x10bf, "new"}, {0x10c0, ""},
		{0x2000, "LazyCompile:~f /x y.js:1:2"}, {0x200f, "LazyCompile:~f /x y.js:1:2"}, {0x2010, ""}, {0x1fff, ""},
		{0x301f, "prefixed"}, {0x4000, ""}, {0, ""}, {^uint64(0), ""}, {0x5000, ""}, {0x6000, ""}, {0x7000, ""},
		{0x8000, "bad ? utf-8"}, {0x9000, strings.Repeat("x", maxName)}, {0xa000, ""},
	} {
		f, ok := m.Find(c.addr)
		if f.Name != c.want || ok != (c.want != "") {
			t.Errorf("at %#x is %q, want %q", c.addr, f.Name, c.want)
		}
	}
}

// TestPerfMapOrder compares the results with a linear search from the last line.
func TestPerfMapOrder(t *testing.T) {
	for seed := range int64(200) {
		r := rand.New(rand.NewSource(seed))
		var text strings.Builder
		var list []Function
		for i := range 1 + r.Intn(100) {
			f := Function{uint64(1 + r.Intn(500)), 0, fmt.Sprint("f", i)}
			f.Hi = f.Lo + uint64(1+r.Intn(40))
			list = append(list, f)
			fmt.Fprintf(&text, "%x %x %s\n", f.Lo, f.Hi-f.Lo, f.Name)
		}
		var kept []Function
	next:
		for i := len(list) - 1; i >= 0; i-- {
			for _, k := range kept {
				if list[i].Lo < k.Hi && k.Lo < list[i].Hi {
					continue next
				}
			}
			kept = append(kept, list[i])
		}
		m := ParsePerfMap([]byte(text.String()))
		if m.Len() != len(kept) {
			t.Fatalf("seed %d: %d functions, want %d", seed, m.Len(), len(kept))
		}
		for _, k := range kept {
			if f, ok := m.Find(k.Lo); !ok || f != k {
				t.Fatalf("seed %d: %+v at %#x, want %+v", seed, f, k.Lo, k)
			}
		}
	}
}

func FuzzPerfMap(f *testing.F) {
	f.Add([]byte("1000 10 a\n"), uint64(0x1000))
	f.Fuzz(func(t *testing.T, text []byte, at uint64) {
		if g, ok := ParsePerfMap(text).Find(at); ok && (at < g.Lo || at >= g.Hi) {
			t.Errorf("%+v at %#x", g, at)
		}
	})
}
