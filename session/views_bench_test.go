package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// stopIn runs a program to the line with "// stop".
func stopIn(t testing.TB, source string, flags ...string) *caller {
	t.Helper()
	exe := fixture.Build(t, source, flags...)
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "// stop")
	s, events := newSession(t)
	dev := null(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: exe, Stdin: dev, Stdout: dev, Stderr: dev}))
	c.breakAt(session.LocationSpec{File: filepath.Base(source), Line: strings.Count(before, "\n") + 1})
	c.must(s.Run())
	c.thread = until[session.Stopped](t, events).Thread
	return c
}

// BenchmarkMiddle opens containers of a million elements in the middle, as an editor does: one page.
func BenchmarkMiddle(b *testing.B) {
	c := stopIn(b, "view/million.cc", "-g", "-O0")
	for _, name := range []string{"ordered", "tree", "chain", "table"} {
		b.Run(name, func(b *testing.B) {
			v, err := c.Evaluate(c.thread, 0, name)
			c.must(err)
			for range b.N {
				list, err := c.Children(c.thread, 0, v, 500_000, 20)
				if err != nil || len(list) != 20 || list[0].Avail != eval.Available {
					b.Fatalf("%v %d %+v", err, len(list), list[0].Err)
				}
			}
		})
	}
}

// BenchmarkHundred formats a stop's locals: 100 containers of 100 elements.
func BenchmarkHundred(b *testing.B) {
	c := stopIn(b, "view/million.cc", "-g", "-O0")
	v, err := c.Evaluate(c.thread, 0, "hundred")
	c.must(err)
	show := func() {
		list, err := c.Children(c.thread, 0, v, 0, 100)
		c.must(err)
		_, err = c.Describe(c.thread, 0, list, eval.Options{MaxElements: 100, MaxDepth: 3})
		c.must(err)
	}
	show() // the first time reads debug information
	b.ResetTimer()
	for range b.N {
		show()
	}
}
