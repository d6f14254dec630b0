package session_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dbg/image"
	"dbg/image/debuginfod"
	"dbg/internal/fixture"
	"dbg/session"
)

// strippedProgram makes a program without debug information and the debug file that
// was parted from it.
func strippedProgram(t *testing.T, source string) (prog, debug string) {
	t.Helper()
	fixture.Need(t, "objcopy")
	whole := fixture.Build(t, source, "-g", "-O1", "-Wl,--build-id")
	dir := t.TempDir()
	prog, debug = filepath.Join(dir, "prog"), filepath.Join(dir, "elsewhere")
	for _, args := range [][]string{{"--only-keep-debug", whole, debug}, {"--strip-all", whole, prog}} {
		if out, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return prog, debug
}

// TestDebuginfod holds a server's answer back until the program is stopped without debug
// information and a breakpoint is pending, and lets it come then.
func TestDebuginfod(t *testing.T) {
	prog, debug := strippedProgram(t, "c/abort3.c")
	f, err := image.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	id := f.BuildID()
	f.Close()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-release
		if !strings.Contains(r.URL.Path, id) { // a server that gives a wrong file is not asked any more
			http.NotFound(w, r)
			return
		}
		http.ServeFile(w, r, debug)
	}))
	defer server.Close()
	s := session.New(session.Config{DebugDirs: []string{t.TempDir()}, Debuginfod: debuginfod.Config{URLs: []string{server.URL}, CacheDir: t.TempDir()}})
	events, cancel := s.Subscribe()
	defer cancel()
	defer s.Close()
	if err := s.Load(session.Program{Path: prog, Stdin: null(t), Stdout: null(t), Stderr: null(t)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	origin := func() string {
		for _, m := range s.DescribeModules() {
			if m.Path == prog {
				return m.Origin
			}
		}
		return "no module"
	}
	if o := origin(); !strings.Contains(o, "no debug file for build id") || !strings.Contains(o, "debuginfod has not been asked yet") {
		t.Errorf("at first: %q", o)
	}
	b, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "main"}}, true)
	if err != nil || len(b.Places) != 0 {
		t.Fatalf("%+v, %v", b, err)
	}
	if o := origin(); !strings.Contains(o, "is being fetched") {
		t.Errorf("then: %q", o)
	}
	close(release)
	if ev := until[session.DebugInfoArrived](t, events); ev.Module.Path != prog {
		t.Errorf("debug information of %s has come", ev.Module.Path)
	}
	if o := origin(); !strings.HasPrefix(o, "debuginfod: ") {
		t.Errorf("at last: %q", o)
	}
	if all := s.Breakpoints(); len(all) != 1 || len(all[0].Places) != 1 {
		t.Fatalf("the breakpoint: %+v", all)
	}
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	stop := until[session.Stopped](t, events)
	bt := backtrace(t, s, stop.Thread)
	if f := bt[0]; f.FunctionName != "main" || filepath.Base(f.Position.File) != "abort3.c" || f.Position.Line == 0 {
		t.Errorf("stopped in %+v", f)
	}
}

// TestDebuginfodNeverAnswers: a server that takes connections and says nothing holds up
// no command and not the end.
func TestDebuginfodNeverAnswers(t *testing.T) {
	prog, _ := strippedProgram(t, "c/abort3.c")
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer server.Close()
	defer close(stop)
	const patience = 50 * time.Millisecond
	before, _ := filepath.Glob(filepath.Join(os.TempDir(), "debuginfo.*"))
	s := session.New(session.Config{DebugDirs: []string{t.TempDir()}, Debuginfod: debuginfod.Config{
		URLs: []string{server.URL}, CacheDir: t.TempDir(), Patience: patience, Timeout: time.Hour}})
	events, cancel := s.Subscribe()
	defer cancel()
	if err := s.Load(session.Program{Path: prog, Stdin: null(t), Stdout: null(t), Stderr: null(t)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for range 50 {
		if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "no_such_function"}}, false); err == nil {
			t.Fatal("there is no such function")
		}
	}
	if err := s.Continue(0); err != nil {
		t.Fatal(err)
	}
	ev := until[session.Stopped](t, events) // abort
	if bt := backtrace(t, s, ev.Thread); len(bt) < 3 {
		t.Errorf("%d frames", len(bt))
	}
	s.Close()
	if took := time.Since(start); took > 20*time.Second { // the time-outs of the transport are 30 s and more
		t.Errorf("it took %v", took)
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "debuginfo.*"))
	if left = slices.DeleteFunc(left, func(p string) bool { return slices.Contains(before, p) }); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
