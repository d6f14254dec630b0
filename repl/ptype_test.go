package repl_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/internal/gdbpeer"
	"dbg/repl"
	"dbg/session"
)

// answers runs commands of the terminal and returns what each of them prints.
func answers(t *testing.T, exe string, commands ...string) []string {
	t.Helper()
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
	const mark = "=====\n"
	var out bytes.Buffer
	var list []repl.Command
	for _, c := range commands {
		list = append(list, repl.Command{Text: `echo ` + strings.TrimSpace(mark) + `\n`}, repl.Command{Text: c})
	}
	_ = repl.Run(context.Background(), s, repl.Options{Commands: list, Batch: true, In: null, Out: &out, Err: &out})
	parts := strings.Split(out.String(), mark)[1:]
	if len(parts) != len(commands) {
		t.Fatalf("%d answers to %d commands:\n%s", len(parts), len(commands), out.String())
	}
	return parts
}

// told is a command and gdb's answer to it.
type told struct{ command, answer string }

// gdbAnswers reads a file of commands and gdb's answers.
func gdbAnswers(t *testing.T, path string) []told {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixture.Root(), path))
	if err != nil {
		t.Fatal(err)
	}
	var out []told
	for _, part := range strings.Split("\n"+string(b), "\n>> ")[1:] {
		command, answer, _ := strings.Cut(part, "\n")
		if answer != "" && !strings.HasSuffix(answer, "\n") {
			answer += "\n"
		}
		out = append(out, told{command, answer})
	}
	return out
}

// notLikeGDB has the parts of gdb's answers that are different in dbg, and why.
var notLikeGDB = []struct{ command, gdb, dbg string }{
	// A union has no place for padding: its members are not side by side. gdb counts it only in nested ones,
	// from the place of the union in the structure.
	{"ptype/o WithNamedUnion", "/* XXX  8-byte padding   */\n", ""},
	// The virtual base is there.
	{"ptype/o Virtual", "/* XXX 20-byte padding   */\n", ""},
	// gdb takes each int of the class for the argument.
	{"Template<int, 3>", "T value", "int value"},
	{"Template<int, 3>", "T items", "int items"},
	{"Template<int, 3>", "T count", "int count"},
	{"Template<Inner*, 1>", "T value", "Inner *value"},
	// gcc does not tell the destructor's place in the virtual table; the destructor is virtual.
	{"ptype VBase", " ~VBase", " virtual ~VBase"},
	// The structure has no name; the typedef has.
	{"Typedefs", "typedef Typedefs::hidden hidden", "typedef struct {...} hidden"},
	{"whatis Typedefs::hidden", "Typedefs::hidden", "struct {...}"},
	{"ptype Typedefs::hidden", "struct Typedefs::hidden", "struct"},
	{"rusty::F", "  One,", "  One = 1,"},                        // gdb writes no values
	{"ptype sizeof(int)", "type = int", "type = unsigned long"}, // C says so
}

// ptypeFixtures are programs with gdb's answers about their types.
var ptypeFixtures = []struct {
	source, answers string
	flags           []string
}{
	{"types/layout.cc", "testdata/types/layout.gdb", []string{"-g", "-O0", "-std=c++20", "-w"}},
	{"types/forms.c", "testdata/types/forms.gdb", []string{"-g", "-O0", "-w"}},
	{"types/rusty.rs", "testdata/types/rusty.gdb", []string{"-g"}},
}

// TestPtypeLikeGDB holds ptype and whatis with all flags and settings against gdb's answers.
func TestPtypeLikeGDB(t *testing.T) {
	for _, f := range ptypeFixtures {
		t.Run(f.source, func(t *testing.T) { ptypeLikeGDB(t, fixture.Build(t, f.source, f.flags...), gdbAnswers(t, f.answers)) })
	}
}

func ptypeLikeGDB(t *testing.T, exe string, cases []told) {
	var commands []string
	for _, c := range cases {
		commands = append(commands, c.command)
	}
	got := answers(t, exe, commands...)
	for i, c := range cases {
		want := c.answer
		for _, n := range notLikeGDB {
			if strings.Contains(c.command, n.command) {
				want = strings.ReplaceAll(want, n.gdb, n.dbg)
			}
		}
		if got[i] != want {
			t.Errorf("%s\n is\n%s want\n%s", c.command, got[i], want)
		}
	}
}

// TestPtypeOfGDB asks gdb itself: the file of answers must be gdb's.
func TestPtypeOfGDB(t *testing.T) {
	if !fixture.All() {
		t.Skip("DBG_ALL=1 asks gdb")
	}
	for _, f := range ptypeFixtures {
		t.Run(f.source, func(t *testing.T) { askGDB(t, fixture.Build(t, f.source, f.flags...), gdbAnswers(t, f.answers)) })
	}
}

func askGDB(t *testing.T, exe string, cases []told) {
	var args []string
	for _, c := range cases {
		args = append(args, "-ex", `echo >> `+strings.ReplaceAll(c.command, "&", `\&`)+`\n`, "-ex", c.command)
	}
	out := gdbpeer.Run(t, append(args, exe)...)
	for _, c := range cases {
		if !strings.Contains(out, ">> "+c.command+"\n"+c.answer) {
			t.Errorf("gdb does not answer to %s\n%s", c.command, c.answer)
		}
	}
}

// TestPtypeOfDamage: a structure that contains itself ends.
func TestPtypeOfDamage(t *testing.T) {
	exe := fixture.Build(t, "types/why.s")
	want := `/* offset      |    size */  type = struct self {
/*      0      |       8 */    struct self {...} a;
/*      4      |       8 */    struct self {...} b;

                               /* total size (bytes):    8 */
                             }
`
	got := answers(t, exe, "ptype/o struct self", "ptype struct self")
	if got[0] != want || got[1] != "type = struct self {\n    struct self a;\n    struct self b;\n}\n" {
		t.Errorf("%q\nwant %q", got, want)
	}
}
