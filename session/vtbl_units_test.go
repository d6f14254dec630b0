package session_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// TestClassesOfUnits: each unit has a class of the same name in its anonymous namespace, one of them
// without debug information, and a library has a class of its own. gdb takes the first class of a name.
func TestClassesOfUnits(t *testing.T) {
	fixture.Need(t, "g++")
	dir := t.TempDir()
	source := func(name string) string { return filepath.Join(fixture.Root(), "testdata/types/units", name) }
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("g++", args...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("g++ %q: %v\n%s", args, err, text)
		}
	}
	run("-g", "-O0", "-fPIC", "-shared", "-o", "liblibrary.so", source("library.cc"))
	run("-g", "-O0", "-c", source("a.cc"), source("b.cc"), source("main.cc"))
	run("-O0", "-c", source("plain.cc"))
	run("-o", "units", "a.o", "b.o", "main.o", "plain.o", "-L.", "-llibrary", "-Wl,-rpath,"+dir)

	s, events := newSession(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: filepath.Join(dir, "units"), Stdin: null(t), Stdout: null(t), Stderr: null(t)}))
	c.breakAt(session.LocationSpec{Function: "stop"})
	c.must(s.Run())
	c.thread = until[session.Stopped](t, events).Thread
	opt := eval.DefaultOptions()
	opt.Objects = true
	for _, x := range [][2]string{
		{"*a", "((anonymous namespace)::Impl) {<Base> = {_vptr.Base = 0x <vtable for (anonymous namespace)::Impl+16>, b = 1}, fromA = 10}"},
		{"*b", "((anonymous namespace)::Impl) {<Base> = {_vptr.Base = 0x <vtable for (anonymous namespace)::Impl+16>, b = 1}, fromB = 2.5, more = 3}"},
		{"*s", "{_vptr.Base = 0x <vtable for (anonymous namespace)::Impl+16>, b = 1}"},
		{"*l", "(FromLibrary) {<Base> = {_vptr.Base = 0x <vtable for FromLibrary+16>, b = 1}, lib = 77}"},
	} {
		v, err := s.Evaluate(c.thread, 1, x[0])
		c.must(err)
		if got := withoutAddresses(s.FormatIn(c.thread, 1, v, opt)); got != x[1] {
			t.Errorf("%s\n is    %s\n want  %s", x[0], got, x[1])
		}
	}
}
