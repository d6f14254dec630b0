package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/session"
)

// A string literal is assigned to objects of every kind that holds characters. The program itself
// says what it has then.
func TestAssignText(t *testing.T) {
	exe := fixture.Build(t, "call/assign.cc", "-g", "-O0")
	source, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata/call/assign.cc"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), "// stop")
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s, events := newSession(t)
	c := &caller{s, t, events, 0}
	c.must(s.Load(session.Program{Path: exe, Stdin: null(t), Stdout: out, Stderr: out}))
	c.breakAt(session.LocationSpec{File: "assign.cc", Line: strings.Count(before, "\n") + 1})
	c.must(s.Run())
	c.thread = until[session.Stopped](t, events).Thread
	text := func(v string) string { return `"` + v + `"` }
	long := strings.Repeat("long ", 20)
	for _, x := range [][2]string{
		{`buf = "12345678"`, `"12345678"`}, // without a terminating zero
		{`buf = "123456789"`, "Too many array elements"},
		{`buf = L"x"`, "Invalid cast."},
		{`buf = "short"`, `"short\000\000"`},
		{`p.age = "x"`, "evaluation of this expression requires the target to allocate memory"},
		{`p = s`, "Invalid cast."},
		{`s = L"x"`, "Invalid cast."},
	} {
		c.expect(x[0], x[1])
	}
	for _, x := range []string{
		"s = " + text(long), "longer = " + text("s"), "p.name = " + text("other"), "c = " + text("new"), `wide = L"WIDE"`,
	} {
		if _, err := s.Evaluate(c.thread, 0, x); err != nil {
			t.Errorf("%s: %v", x, err)
		}
	}
	c.must(s.Continue(0))
	until[session.Ended](t, events)
	got, _ := os.ReadFile(out.Name())
	if want := "ready\n" + long + " s other b new short WIDE\n"; string(got) != want {
		t.Errorf("the program says\n%s\nwant\n%s", got, want)
	}
}
