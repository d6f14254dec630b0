package dap

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dbg/image/debuginfod"
	"dbg/internal/fixture"
	"dbg/session"
	"dbg/symbols/names"

	godap "github.com/google/go-dap"
)

// A breakpoint is set in a program whose debug information is with a server: the
// client sees the download, and then the breakpoint's place.
func TestProgressOfDownloads(t *testing.T) {
	t.Parallel()
	fixture.Need(t, "objcopy")
	whole := fixture.Build(t, "../dap/testdata/tour.c", "-g", "-O0", "-Wl,--build-id")
	dir := t.TempDir()
	prog, debug := filepath.Join(dir, "prog"), filepath.Join(dir, "elsewhere")
	for _, args := range [][]string{{"--only-keep-debug", whole, debug}, {"--strip-all", whole, prog}} {
		if out, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-release
		http.ServeFile(w, r, debug)
	}))
	t.Cleanup(server.Close)
	c := connect(t, Options{Session: session.Config{
		DebugDirs: []string{dir}, Debuginfod: debuginfod.Config{URLs: []string{server.URL}, CacheDir: t.TempDir()}}})
	c.ok("initialize", object{"adapterID": "dbg", "supportsProgressReporting": true, "supportsInvalidatedEvent": true}, nil)
	c.ok("launch", object{"program": prog, "args": []string{"wait"}}, nil)
	c.event("initialized", nil)
	var set godap.SetFunctionBreakpointsResponseBody
	c.ok("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "main"}}}, &set)
	if len(set.Breakpoints) != 1 || set.Breakpoints[0].Verified {
		c.fail("breakpoints before the file has come: %+v", set)
	}
	close(release)
	// The loader's and the vDSO's are asked for, too.
	var start godap.ProgressStartEventBody
	for start.Title != "Debug information for prog" {
		c.event("progressStart", &start)
	}
	if start.ProgressId == "" || start.Title != "Debug information for prog" || start.Message != server.URL {
		c.fail("the start: %+v", start)
	}
	var end godap.ProgressEndEventBody
	for end.ProgressId != start.ProgressId {
		c.event("progressEnd", &end)
	}
	if end.ProgressId != start.ProgressId || end.Message != "done" {
		c.fail("the end: %+v", end)
	}
	var changed godap.BreakpointEventBody
	c.event("breakpoint", &changed)
	if !changed.Breakpoint.Verified || changed.Breakpoint.Line == 0 {
		c.fail("the breakpoint: %+v", changed)
	}
}

// A client that can show it is told how far the index of names is that a request waits for: once, as it is made once; another client is told
// nothing.
func TestProgressOfIndex(t *testing.T) {
	t.Parallel()
	prog := fixture.Build(t, "../dap/testdata/tour.c", "-g", "-O0")
	for _, able := range []bool{true, false} {
		calls := 0
		c := connect(t, Options{progressFrom: 1, Session: session.Config{DebugDirs: []string{t.TempDir()}, Indexing: func(names.Progress) { calls++ }}})
		c.ok("initialize", object{"adapterID": "dbg", "supportsProgressReporting": able}, nil)
		c.ok("launch", object{"program": prog, "args": []string{"wait"}}, nil)
		c.event("initialized", nil)
		for range 2 { // a name that is in the debug information and is no function's
			c.ok("setFunctionBreakpoints", object{"breakpoints": []object{{"name": "int"}}}, nil)
		}
		if calls < 3 {
			c.fail("%d calls", calls)
		}
		if able {
			var start godap.ProgressStartEventBody
			c.event("progressStart", &start)
			if start.ProgressId == "" || start.Title != "Names of "+filepath.Base(prog) {
				c.fail("the start: %+v", start)
			}
			var update godap.ProgressUpdateEventBody
			c.event("progressUpdate", &update)
			if update.ProgressId != start.ProgressId || update.Percentage < 1 || update.Percentage > 100 {
				c.fail("the update: %+v", update)
			}
			var end godap.ProgressEndEventBody
			c.event("progressEnd", &end)
			if end.ProgressId != start.ProgressId {
				c.fail("the end: %+v", end)
			}
		}
		c.ok("threads", nil, nil)
		starts := 0
		for _, line := range c.log {
			if strings.HasPrefix(line, "<- progressStart") {
				starts++
			}
		}
		if want := map[bool]int{true: 1}[able]; starts != want {
			c.fail("%d starts, want %d", starts, want)
		}
	}
}
