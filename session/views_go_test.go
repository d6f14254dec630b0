package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// TestGoViews compares the views of Go's standard library with what the program itself says: in a
// process and in a core, without optimisation and with it, and of an earlier version of Go.
func TestGoViews(t *testing.T) {
	for _, x := range []struct {
		name, version string
		flags         []string
		optimised     bool
	}{
		{"plain", "", []string{"-gcflags=-N -l"}, false},
		{"optimised", "", nil, true},
		{"plain, Go 1.23.4", "go1.23.4", []string{"-gcflags=-N -l"}, false},
		{"plain, Go 1.21.13", "go1.21.13", []string{"-gcflags=-N -l"}, false},
		{"plain, Go 1.24.0", "go1.24.0", []string{"-gcflags=-N -l"}, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.version != "" {
				if x.version != "go1.23.4" {
					fixture.Sweep(t)
				}
				t.Setenv("GOTOOLCHAIN", x.version)
				t.Setenv("GO111MODULE", "off")
			}
			exe := fixture.Compile(t, "go", "testdata/view/golang.go", x.flags...)
			name := filepath.Join(t.TempDir(), "said")
			dev := null(t)
			s, events := newSession(t)
			if err := s.Load(session.Program{Path: exe, Args: []string{name}, Stdin: dev, Stdout: dev, Stderr: dev}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.SetBreakpoint(session.BreakpointSpec{LocationSpec: session.LocationSpec{Function: "main.stopHere"}}, false); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			thread := until[session.Stopped](t, events).Thread
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			said := saidViews(t, string(text)+"ready\n")
			checkViews(t, s, thread, frameOf(t, s, thread, "main.main"), said, x.optimised)
			core := filepath.Join(t.TempDir(), "core")
			if _, err := s.GenerateCore(core, session.CoreOptions{}); err != nil {
				t.Fatal(err)
			}
			dead := openCore(t, core, exe)
			thread = dead.LastStop().Thread
			checkViews(t, dead, thread, frameOf(t, dead, thread, "main.main"), said, x.optimised)
		})
	}
}
