package symbols

import (
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// compile builds a program of testdata in a temporary directory and returns
// its path. tool is the compiler.
func compile(t testing.TB, tool, source string, flags ...string) string {
	t.Helper()
	return fixture.Compile(t, tool, "symbols/testdata/"+source, flags...)
}

// load opens a program for a test.
func load(t testing.TB, path string) *Module {
	t.Helper()
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m := Load(f, Options{})
	t.Cleanup(func() { m.Close(); f.Close() })
	return m
}

// build is a program to compare on, with the flags that make it.
type build struct {
	name, tool, source string
	flags              []string
}

func flags(s string) []string { return strings.Fields(s) }

var builds = []build{
	{"gcc-O0", "gcc", "basic.c", flags("-g -O0")},
	{"gcc-O2", "gcc", "basic.c", flags("-g -O2")},
	{"gcc-O2-dwarf4", "gcc", "basic.c", flags("-gdwarf-4 -O2")},
	{"gcc-O1-dwarf3", "gcc", "basic.c", flags("-gdwarf-3 -gstrict-dwarf -O1")},
	{"gcc-O2-sections", "gcc", "basic.c", flags("-g -O2 -ffunction-sections -Wl,--gc-sections")},
	{"gcc-O0-static", "gcc", "basic.c", flags("-g -O0 -static")},
	{"gcc-O2-zlib", "gcc", "basic.c", flags("-g -O2 -gz")},
	{"clang-O0", "clang-19", "basic.c", flags("-g -O0")},
	{"clang-O2", "clang-19", "basic.c", flags("-g -O2")},
	{"clang-O2-dwarf4", "clang-19", "basic.c", flags("-gdwarf-4 -O2")},
	{"g++-O0", "g++", "classes.cc", flags("-g -O0")},
	{"g++-O2", "g++", "classes.cc", flags("-g -O2")},
	{"g++-O2-dwarf4-types", "g++", "classes.cc", flags("-gdwarf-4 -fdebug-types-section -O2")},
	{"clang++-O2", "clang++-19", "classes.cc", flags("-g -O2")},
	{"rust-debug", "rustc", "prog.rs", flags("-g")},
	{"rust-O", "rustc", "prog.rs", flags("-g -O")},
	{"go", "go", "prog.go.txt", nil},
}
