package session_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// viewBuilds are the compilers and libraries of the fixtures in testdata/view.
var viewBuilds = []struct {
	name  string
	flags []string
}{
	{"gcc-O0", []string{"-std=c++20", "-g", "-O0"}},
	{"gcc-O2", []string{"-std=c++20", "-g", "-O2"}},
	{"gcc-O0-oldabi", []string{"-std=c++17", "-g", "-O0", "-D_GLIBCXX_USE_CXX11_ABI=0"}},
	{"clang-O0", []string{"cc=clang++-19", "-std=c++20", "-g", "-O0", "-fno-limit-debug-info"}},
	{"clang-O2", []string{"cc=clang++-19", "-std=c++20", "-g", "-O2", "-fno-limit-debug-info"}},
	{"libc++-O0", []string{"cc=clang++-19", "-stdlib=libc++", "-std=c++20", "-g", "-O0", "-fno-limit-debug-info"}},
	{"libc++-O2", []string{"cc=clang++-19", "-stdlib=libc++", "-std=c++20", "-g", "-O2", "-fno-limit-debug-info"}},
	{"clang-O0-oldabi", []string{"cc=clang++-19", "-std=c++17", "-g", "-O0", "-fno-limit-debug-info", "-D_GLIBCXX_USE_CXX11_ABI=0"}},
}

// viewer is a session at a stop of a fixture, which has printed what its variables are.
type viewer struct {
	*caller
	out  *os.File
	read int // bytes of out that were compared

	natvis []string // files of views that were added
}

func newViewer(t *testing.T, source string, flags ...string) *viewer {
	t.Helper()
	exe := fixture.Build(t, "view/"+source, flags...)
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	s, events := newSession(t)
	v := &viewer{caller: &caller{s, t, events, 0}, out: out}
	v.must(s.Load(session.Program{Path: exe, Stdin: null(t), Stdout: out, Stderr: out}))
	v.breakAt(session.LocationSpec{Function: "stop"})
	v.must(s.Run())
	return v
}

// told returns what the program has printed since the last call: pairs of a variable and its text.
func (v *viewer) told() (out [][2]string) {
	v.t.Helper()
	b, err := os.ReadFile(v.out.Name())
	if err != nil {
		v.t.Fatal(err)
	}
	text := string(b[v.read:])
	v.read = len(b)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		name, value, ok := strings.Cut(line, "\t")
		if !ok {
			v.t.Fatalf("the program printed %q", line)
		}
		out = append(out, [2]string{name, value})
	}
	return out
}

// shown returns the text of a variable of the function that called stop.
func shown(s *session.Session, c *caller, name string) string {
	x, err := s.Evaluate(c.thread, 1, name)
	if err != nil {
		return "error: " + err.Error()
	}
	return s.Format(x, eval.DefaultOptions())
}

// unavailable matches the text of a value that optimised code does not have.
var unavailable = regexp.MustCompile(`<optimized out|<synthetic pointer>`)

// compare compares all variables of a stop. Where code is optimised, a variable may be unavailable.
func (v *viewer) compare(s *session.Session, told [][2]string, optimized bool) (same int) {
	v.t.Helper()
	start := time.Now()
	for _, x := range told {
		got := shown(s, v.caller, x[0])
		switch {
		case matches(got, x[1]):
			same++
		case optimized && unavailable.MatchString(got):
		default:
			v.t.Errorf("%s\n is    %s\n want  %s", x[0], clip(got, x[1]), clip(x[1], got))
		}
	}
	v.t.Logf("%d of %d variables, %v", same, len(told), time.Since(start).Round(time.Millisecond))
	return same
}

// matches compares a text. A text of the program that ends in "…" is only the beginning.
func matches(got, want string) bool {
	if start, ok := strings.CutSuffix(want, "…"); ok {
		return strings.HasPrefix(got, start)
	}
	return got == want
}

// clip returns the part of a long text where it begins to differ from another.
func clip(s, other string) string {
	n := 0
	for n < len(s) && n < len(other) && s[n] == other[n] {
		n++
	}
	from, to := max(n-80, 0), min(n+300, len(s))
	if len(s) < 400 {
		from, to = 0, len(s)
	}
	return s[from:to]
}

// TestStandardViews compares what is shown with what the program tells of itself, in the process and
// in a core.
func TestStandardViews(t *testing.T) {
	for _, b := range viewBuilds {
		t.Run(b.name, func(t *testing.T) { standardViews(t, "std.cc", 4, b.name, b.flags) })
	}
}

// TestOtherStandardViews is TestStandardViews for the types that newer standards have.
func TestOtherStandardViews(t *testing.T) {
	for _, b := range viewBuilds {
		if strings.Contains(b.name, "oldabi") {
			continue // the standard library has them with the new ABI only
		}
		flags := slices.Clone(b.flags)
		flags[slices.Index(flags, "-std=c++20")] = "-std=c++23"
		t.Run(b.name, func(t *testing.T) { standardViews(t, "more.cc", 5, b.name, flags) })
	}
}

func standardViews(t *testing.T, source string, stops int, name string, flags []string) {
	newViewer(t, source, flags...).stopAndCompare(stops, name)
}

// stopAndCompare compares all variables of a number of stops, in the process and in a core.
func (v *viewer) stopAndCompare(stops int, name string) {
	t, optimized := v.t, strings.Contains(name, "O2")
	t.Helper()
	for range stops {
		v.thread = until[session.Stopped](t, v.events).Thread
		told := v.told()
		if n := v.compare(v.Session, told, optimized); n < len(told)*3/4 {
			t.Errorf("only %d of %d variables were shown", n, len(told))
		}
		path := filepath.Join(t.TempDir(), "core")
		_, err := v.GenerateCore(path, session.CoreOptions{})
		v.must(err)
		core, _ := newSession(t)
		_, err = core.AddViews(v.natvis...)
		v.must(err)
		v.must(core.OpenCore(path, ""))
		v.compare(core, told, optimized)
		v.must(v.Continue(0))
	}
}

// TestEarlyViews shows objects that are not constructed: they are not valid.
func TestEarlyViews(t *testing.T) {
	for _, b := range viewBuilds {
		if !strings.Contains(b.name, "O2") {
			t.Run(b.name, func(t *testing.T) { standardViews(t, "early.cc", 1, b.name, b.flags) })
		}
	}
}
