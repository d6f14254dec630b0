package symbols

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// shelf is a fetcher that has files by build id; with late set it says that they are on
// their way until arrive is called.
type shelf struct {
	paths map[string]string
	late  bool
	asked []string
	done  []func()
}

func (s *shelf) Fetch(_ image.FetchKind, id string, done func()) (string, error) {
	s.asked = append(s.asked, id)
	if s.late {
		s.done = append(s.done, done)
		return "", image.ErrFetching
	}
	if p := s.paths[id]; p != "" {
		return p, nil
	}
	return "", errors.New("shelf: no such file")
}

func (s *shelf) arrive() {
	s.late = false
	for _, done := range s.done {
		done()
	}
}

// parted makes a program without debug information, and its debug file somewhere else.
func parted(t *testing.T) (prog, debug string) {
	t.Helper()
	fixture.Need(t, "objcopy")
	whole := compile(t, "gcc", "basic.c", "-g", "-O1", "-Wl,--build-id")
	debug, prog = whole+".elsewhere", whole+".stripped"
	tool(t, "objcopy", "--only-keep-debug", whole, debug)
	tool(t, "objcopy", "--strip-all", whole, prog)
	return prog, debug
}

func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	fixture.Need(t, name)
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func openWith(t *testing.T, path string, opt Options) *Module {
	t.Helper()
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m := Load(f, opt)
	t.Cleanup(func() { m.Close(); f.Close() })
	return m
}

func originHas(t *testing.T, m *Module, want ...string) {
	t.Helper()
	for _, w := range want {
		if o := m.Origin(); !strings.Contains(o, w) {
			t.Errorf("the origin is %q, want %q in it", o, w)
		}
	}
}

// TestFetched has debug information come from a fetcher: at once, later, never, and as
// another file.
func TestFetched(t *testing.T) {
	prog, debug := parted(t)
	f, err := image.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	id := f.BuildID()
	f.Close()
	dirs := []string{t.TempDir()}

	s := &shelf{paths: map[string]string{id: debug}}
	m := openWith(t, prog, Options{DebugDirs: dirs, Fetcher: s})
	if m.DebugInfoHere() || m.DebugFile() != nil || len(s.asked) != 0 {
		t.Errorf("it was asked for %v before there was a question", s.asked)
	}
	originHas(t, m, "no debug file for build id "+id, "(tried "+dirs[0], "debuginfod has not been asked yet")
	if f := m.FunctionsByName("add"); len(f) != 1 || f[0].FromSymbolTable || f[0].Line == 0 || len(s.asked) != 1 {
		t.Errorf("add: %+v", f)
	}
	originHas(t, m, "debuginfod: "+debug)
	if m.Reload() {
		t.Error("there was nothing to wait for")
	}

	s = &shelf{paths: map[string]string{id: debug}, late: true}
	arrived := 0
	m = openWith(t, prog, Options{DebugDirs: dirs, Fetcher: s, Arrived: func() { arrived++ }})
	if f := m.FunctionsByName("add"); len(f) != 0 {
		t.Errorf("add: %+v", f)
	}
	m.SymbolAt(m.File().Entry()) // the symbol table is that of the stripped file
	m.FunctionsByName("add")
	if len(s.asked) != 1 {
		t.Errorf("it was asked for %d times", len(s.asked))
	}
	originHas(t, m, "debuginfod: the file with build id "+id+" is being fetched")
	s.arrive()
	if arrived != 1 || !m.Reload() || m.Reload() {
		t.Errorf("%d calls", arrived)
	}
	fs := m.FunctionsByName("add")
	if len(fs) != 1 || fs[0].FromSymbolTable {
		t.Fatalf("add: %+v", fs)
	}
	if name, _, ok := m.SymbolAt(fs[0].Lo); !ok || name != "add" {
		t.Errorf("the symbol table is still the old one: %q", name)
	}

	other := compile(t, "gcc", "basic.c", "-g", "-O2", "-Wl,--build-id")
	for _, test := range []struct{ path, want string }{
		{other, "its build id is"}, {filepath.Join(dirs[0], "gone"), "there is no such file"}, {prog, "has no debug information"}, {"", "shelf: no such file"},
	} {
		m := openWith(t, prog, Options{DebugDirs: dirs, Fetcher: &shelf{paths: map[string]string{id: test.path}}})
		if m.HasDebugInfo() {
			t.Errorf("%s was taken", test.path)
		}
		originHas(t, m, test.want)
	}
	m = openWith(t, prog, Options{DebugDirs: dirs})
	originHas(t, m, "debuginfod is off")
}

// TestAltOrigin takes away the file that dwz has made of what two programs have in common.
func TestAltOrigin(t *testing.T) {
	fixture.Need(t, "dwz")
	a, b := compile(t, "g++", "classes.cc", "-g", "-Wl,--build-id"), compile(t, "g++", "classes.cc", "-g", "-O1", "-Wl,--build-id")
	common := filepath.Join(filepath.Dir(a), "common")
	tool(t, "dwz", "-m", common, "-M", common, a, b)
	f, err := image.Open(common)
	if err != nil {
		t.Fatal(err)
	}
	id := f.BuildID()
	f.Close()
	useAll := func(m *Module) (types int) {
		for _, s := range m.files.SymbolFile().Symbols() {
			if fn := m.FunctionAt(s.Addr); fn != nil && m.FunctionType(fn) != nil {
				types++
			}
		}
		return types
	}
	m := openWith(t, a, Options{})
	all := useAll(m)
	originHas(t, m, "the file has debug information; supplementary: "+common)

	away := common + ".away"
	if err := os.Rename(common, away); err != nil {
		t.Fatal(err)
	}
	m = openWith(t, a, Options{})
	useAll(m)
	originHas(t, m, "no supplementary debug file "+common+" with build id "+id+" (tried "+common)

	s := &shelf{paths: map[string]string{id: away}, late: true}
	m = openWith(t, a, Options{Fetcher: s, Arrived: func() {}})
	useAll(m)
	originHas(t, m, "the file with build id "+id+" is being fetched")
	s.arrive()
	if !m.Reload() {
		t.Fatal("there was something to wait for")
	}
	if n := useAll(m); n != all || all == 0 {
		t.Errorf("%d functions have types, want %d", n, all)
	}
	originHas(t, m, "supplementary: debuginfod: "+away)

	tool(t, "cp", b, common) // another file in its place
	m = openWith(t, a, Options{})
	useAll(m)
	originHas(t, m, "no supplementary debug file", common+": its build id is")
}

// TestDamagedSection has the origin name a section that can't be inflated.
func TestDamagedSection(t *testing.T) {
	path := compile(t, "gcc", "basic.c", "-g", "-gz")
	f, err := image.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := f.Section(".debug_info")
	f.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		data[s.Offset+40+uint64(i)] ^= 0xff
	}
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	m := openWith(t, path, Options{})
	originHas(t, m, "section .debug_info at offset 0x", "bytes could be inflated")
	if fs := m.FunctionsByName("main"); len(fs) != 1 || !fs[0].FromSymbolTable {
		t.Errorf("main: %+v", fs)
	}
}

// TestMiniDebugSymbols finds functions of .gnu_debugdata by address and by name.
func TestMiniDebugSymbols(t *testing.T) {
	fixture.Need(t, "xz", "objcopy")
	whole := compile(t, "gcc", "basic.c", "-g", "-O1")
	mini, prog := whole+".mini", whole+".stripped"
	tool(t, "objcopy", "--only-keep-debug", whole, mini)
	tool(t, "objcopy", "-S", "--keep-symbol=main", "--keep-symbol=tw", "--keep-symbol=apply", mini)
	tool(t, "xz", mini)
	tool(t, "objcopy", "--strip-all", whole, prog)
	tool(t, "objcopy", "--add-section", ".gnu_debugdata="+mini+".xz", prog)
	want, m := load(t, whole), openWith(t, prog, Options{DebugDirs: []string{t.TempDir()}})
	originHas(t, m, "; symbols are in .gnu_debugdata")
	for _, name := range []string{"main", "tw", "apply"} {
		w, g := want.FunctionsByName(name), m.FunctionsByName(name)
		if len(w) != 1 || len(g) != 1 || w[0].Lo != g[0].Lo || !g[0].FromSymbolTable {
			t.Fatalf("%s: %+v, want %+v", name, g, w)
		}
		if f := m.FunctionAt(w[0].Lo + 1); f == nil || f.Name != name || f.Hi != w[0].Hi {
			t.Errorf("%s at its address: %+v", name, f)
		}
	}
	if fs := m.FunctionsByName("add"); len(fs) != 0 {
		t.Errorf("add: %+v", fs)
	}
	originHas(t, m, "symbols of .gnu_debugdata (3)")
}
