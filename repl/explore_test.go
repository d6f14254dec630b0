package repl_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/repl"
	"dbg/session"
)

// piped runs commands that come through a pipe, with the answers to their questions.
func piped(t *testing.T, exe, input string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, []byte(input), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	s := session.New(session.Config{})
	defer s.Close()
	if err := s.Load(session.Program{Path: exe, Stdin: null, Stdout: null, Stderr: null}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_ = repl.Run(context.Background(), s, repl.Options{In: in, Out: &out, Err: &out})
	return out.String()
}

// TestExplore walks through values. A wrong answer leads back, and the end of the input ends the walk.
func TestExplore(t *testing.T) {
	exe := fixture.Build(t, "types/layout.cc", "-g", "-O0", "-std=c++20", "-w")
	got := piped(t, exe, "explore nested\n0\n0\n\n\n\nexplore arrays.in\n1\n\nx\nprint 7\nexplore int\nexplore nosuch\nexplore nested\n")
	for _, want := range []string{
		"The value of 'nested' is a struct/class of type 'Nested' with the following fields:\n\n" +
			"  in = <Enter 0 to explore this field of type 'Nested::In'>\n" +
			"  un = <Enter 1 to explore this field of type 'Nested::Un'>\n" +
			"  en = Nested::P .. (Value of type 'Nested::En')\n" +
			"   z = 0 .. (Value of type 'int')\n",
		"The value of 'nested.in' is a struct/class of type 'Nested::In'",
		"The value of 'nested.in.d' is a struct/class of type 'Nested::In::Deeper'",
		"'arrays.in' is an array of 'Inner'.",
		"The value of '(arrays.in)[1]' is a struct/class of type 'Inner'",
		"$1 = 7\n",
		"'int' is a scalar type.\n",
		"'nosuch' neither evaluates to a value nor is a type in the current context.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	batch := answers(t, exe, "explore outer", "explore outer.a", "explore")
	if !strings.HasSuffix(batch[0], "Enter the field number of choice: \n") || batch[1] != "'outer.a' is a scalar value of type 'char'.\nouter.a = 0 '\\000'\n" ||
		batch[2] != "ERROR: 'explore' requires an argument.\n" {
		t.Errorf("in a batch: %q", batch)
	}
}

// TestFrameSettings: settings of "set print" change lines of frames, breakpoints and symbols.
func TestFrameSettings(t *testing.T) {
	exe := fixture.Build(t, "types/why.c", "-g", "-O2")
	got := answers(t, exe, "break stop", "run", "backtrace 2", "set print entry-values no", "backtrace 2",
		"backtrace -frame-arguments presence 2", "set print address off", "backtrace 2", "info breakpoints", "print stop",
		"set print address on", "set print symbol-filename on", "print/a $pc", "set output-radix 16", "print 10",
		"set language c++", "whatis 1==1", "set language auto", "whatis 1==1", "set input-radix 16", "set print demangle off", "set language cobol")
	for i, want := range map[int]string{
		2:  "stop (x=x@entry=2) at",
		4:  "stop (x=2) at",
		5:  "stop (...) at",
		7:  "\n#1  work (n=",
		8:  "Num     Type           Disp Enb What\n",
		9:  "{void (int)} <stop>",
		12: "<stop at ",
		14: "= 0xa\n",
		16: "type = bool\n",
		18: "type = int\n",
		19: "dbg reads numbers as the language does",
		20: "dbg always shows demangled names",
		21: "Undefined item: \"cobol\".",
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("answer %d has no %q: %q", i, want, got[i])
		}
	}
}
