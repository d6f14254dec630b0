package session_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/target"
)

// TestGoHolds runs a program that says what its interfaces, maps and channels hold; dbg must show the same, or, in optimised code, that
// it does not know.
func TestGoHolds(t *testing.T) {
	cases := map[string][]string{"optimised": nil, "plain": {"-gcflags=-N -l"}}
	if fixture.All() { // it has to be linked with all of the library compiled anew
		cases["pie"] = []string{"-gcflags=-N -l", "-buildmode=pie"}
		cases["linked by gcc"] = []string{"-gcflags=-N -l", "-ldflags=-linkmode=external"}
	}
	for name, flags := range cases {
		t.Run(name, func(t *testing.T) {
			checkHolds(t, fixture.Build(t, "c/holds.go", flags...), flags == nil)
		})
	}
	if fixture.All() {
		t.Run("Go 1.23", func(t *testing.T) { checkHolds(t, buildWithGo123(t), false) }) // maps were others until then
	}
}

// buildWithGo123 compiles the program as it was done then.
func buildWithGo123(t *testing.T) string {
	exe := filepath.Join(t.TempDir(), "holds")
	cmd := exec.Command("go", "env", "GOROOT")
	cmd.Dir = t.TempDir() // in no module
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=go1.23.4")
	root, err := cmd.Output()
	if err != nil {
		fixture.Missing(t, fmt.Sprintf("Go 1.23.4 can't be had: %v", err))
	}
	root = bytes.TrimSpace(root)
	cmd = exec.Command(filepath.Join(string(root), "bin/go"), "build", "-gcflags=-N -l", "-o", exe, filepath.Join(fixture.Root(), "testdata/c/holds.go"))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GO111MODULE=off", "GOROOT="+string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// checkHolds compares what dbg shows with what the program says.
func checkHolds(t *testing.T, exe string, optimised bool) {
	h := startHolds(t, exe)
	all, shown := 0, 0
	for h.stop() {
		want, maps := h.said()
		for name, text := range want {
			all++
			if got := h.format(name); got == text {
				shown++
			} else if !optimised || !lostByGo(got) {
				t.Errorf("%s is %s, dbg shows %s", name, text, got)
			}
		}
		for name, want := range maps {
			all++
			if h.compareMap(name, want, optimised) {
				shown++
			}
		}
		if v, err := h.s.Evaluate(h.thread, 1, "self"); err == nil && v.Avail == eval.Available {
			if text := h.format("self"); len(text) > 2<<20 {
				t.Errorf("a map that holds itself is written with %d bytes", len(text))
			}
		}
	}
	if !optimised {
		// Single elements, in another run.
		h = startHolds(t, exe)
		for range 3 {
			h.stop()
		}
		for expr, want := range map[string]string{"some[0]": "6", "some[2]": "10", "full[1].X": "3", "empties[0]": "{<No data fields>}",
			"some[3]": "<no such element: index 3 of 3>", "plain[0]": "<no such element: index 0 of 0>"} {
			if got := h.format(expr); got != want {
				t.Errorf("%s is %s, want %s", expr, got, want)
			}
		}
	}
	t.Logf("%d of %d values are shown", shown, all)
	if all < 40 || shown < all/3 {
		t.Errorf("%d of %d values are shown", shown, all)
	}
}

// lostByGo says that a text is of no value, or shows the words of an interface or a slice and not what it holds: Go says of many
// that both words are where only the second one is.
func lostByGo(text string) bool {
	return text == "<optimized out>" || strings.HasPrefix(text, "<No symbol") || strings.HasPrefix(text, "{_type = ") || strings.HasPrefix(text, "{tab = ") ||
		strings.Contains(text, "len = <optimized out>")
}

// holds is a run of the program.
type holds struct {
	t      *testing.T
	s      *session.Session
	events <-chan session.Event
	out    string
	read   int // bytes of what it has said
	thread target.ThreadID
	stops  int
}

func startHolds(t *testing.T, exe string) *holds {
	t.Helper()
	h := &holds{t: t, out: filepath.Join(t.TempDir(), "said")}
	out, err := os.Create(h.out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	dev := null(t)
	h.s, h.events = newSession(t)
	if err := h.s.Load(session.Program{Path: exe, Stdin: dev, Stdout: out, Stderr: dev}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "main.stopHere"}}, false); err != nil {
		t.Fatal(err)
	}
	return h
}

// stop goes to the next stop; false at the end.
func (h *holds) stop() bool {
	h.t.Helper()
	err := error(nil)
	if h.stops > 0 {
		err = h.s.Continue(0)
	} else {
		err = h.s.Run()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	h.stops++
	stop, ok := next(h.t, h.events).(session.Stopped)
	h.thread = stop.Thread
	return ok
}

// said is what the program has said since the last stop: the text of values, and the elements of maps by their keys.
func (h *holds) said() (values map[string]string, maps map[string]map[string]string) {
	h.t.Helper()
	all, err := os.ReadFile(h.out)
	if err != nil {
		h.t.Fatal(err)
	}
	values, maps = map[string]string{}, map[string]map[string]string{}
	for line := range strings.Lines(string(all[h.read:])) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 2 {
			values[f[0]] = f[1]
			continue
		}
		if maps[f[0]] == nil {
			maps[f[0]] = map[string]string{}
		}
		maps[f[0]][f[1]] = f[2]
	}
	h.read = len(all)
	return values, maps
}

// format is a variable of the function that stopped, as text.
func (h *holds) format(expr string) string {
	v, err := h.s.Evaluate(h.thread, 1, expr)
	if err != nil {
		return "<" + err.Error() + ">"
	}
	return h.s.FormatIn(h.thread, 1, v, eval.Options{Inner: true, MaxElements: 10_000})
}

// compareMap reports whether a map's children are what it says; they may be gone in optimised code.
func (h *holds) compareMap(name string, want map[string]string, optimised bool) bool {
	h.t.Helper()
	v, err := h.s.Evaluate(h.thread, 1, name)
	if err != nil {
		h.t.Errorf("%s: %v", name, err)
		return false
	}
	if optimised && v.Avail == eval.OptimizedOut {
		return false
	}
	children, err := h.s.Children(h.thread, 1, v, 0, 0)
	if err != nil || len(children) != len(want) || h.s.NumChildren(h.thread, 1, v) != len(want) {
		h.t.Errorf("%s has %d elements, dbg shows %d: %v", name, len(want), len(children), err)
		return false
	}
	text := h.s.FormatIn(h.thread, 1, v, eval.Options{Inner: true, MaxElements: 10_000})
	for _, c := range children {
		got := h.s.FormatIn(h.thread, 1, c, eval.Options{Inner: true})
		if elem, ok := want[c.Name]; !ok || elem != got {
			h.t.Errorf("%s%s is %s, dbg shows %s", name, c.Name, elem, got)
			return false
		}
		// A number or a text can be written as a key.
		if simple := c.Name[1] == '"' || c.Name[1] >= '0' && c.Name[1] <= '9'; simple && len(want) < 100 {
			if text := h.format(name + c.Name); text != got {
				h.t.Errorf("%s%s is %s, by its key %s", name, c.Name, got, text)
			}
		}
		if pair := strings.Trim(c.Name, "[]") + ": " + got; len(want) < 100 && !strings.Contains(text, strings.TrimPrefix(strings.TrimSuffix(c.Name, "]"), "[")+": "+got) {
			h.t.Errorf("%s is written as %s, without %s", name, text, pair)
		}
	}
	return true
}

// TestGoCorrupt damages maps, channels and interfaces: dbg says so, or shows what they are made of, and soon.
func TestGoCorrupt(t *testing.T) {
	h := startHolds(t, fixture.Build(t, "c/holds.go", "-gcflags=-N -l"))
	set := func(expr string) {
		t.Helper()
		if _, err := h.s.Evaluate(h.thread, 1, expr); err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
	}
	for _, c := range []struct {
		stop           int
		name, do, want string
		is             func(text, want string) bool
	}{
		{1, "i", "*(unsigned long *)&i = 0x10", "{_type = 0x10", strings.HasPrefix},
		{1, "str", "*(unsigned long *)&str = *(unsigned long *)&str + 8", "{_type = 0x", strings.HasPrefix},
		{1, "f", "((unsigned long *)&f)[1] = 8", "interface {}(float64) <error: Cannot access memory at address 0x8>", equal},
		{2, "small", "(*(unsigned long **)&small)[0] = 1", "the content is corrupt: 2 elements found, but its count is 1", strings.Contains},
		{2, "eight", "(*(unsigned long **)&eight)[0] = 0x123456789abcdef0", "the content is corrupt: a map of", strings.Contains},
		{2, "nine", "(*(unsigned long **)&nine)[3] = 3", "the content is corrupt: a directory of 3 tables", strings.Contains},
		{2, "holes", "(*(unsigned long **)&holes)[2] = 8", "<error: Cannot access memory at address 0x8>", strings.Contains},
		{2, "grown", "(*(*(unsigned long ****)&grown)[2])[3] = 5", "the content is corrupt", strings.Contains},
		{2, "points", "*(unsigned long *)&points = 24", "main.point]string [<error: Cannot access memory at address 0x18>]", strings.Contains},
		{3, "some", "(*(unsigned long **)&some)[0] = 9", "chan int <error: the content is corrupt: 9 elements from slot", strings.Contains},
		{3, "full", "(*(unsigned long **)&full)[2] = 16", "chan main.point len: 2, cap: 2, [<error: Cannot access memory at address 0x10>", strings.Contains},
	} {
		for n := c.stop - h.stops; n > 0; n-- {
			if !h.stop() {
				t.Fatal("the program has ended")
			}
		}
		set(c.do)
		begin := time.Now()
		if text := h.format(c.name); !c.is(text, c.want) {
			t.Errorf("after %s, %s is shown as %.300s, want %s", c.do, c.name, text, c.want)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
	}
}

func equal(a, b string) bool { return a == b }
