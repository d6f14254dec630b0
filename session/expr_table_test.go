package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dbg/eval"
	"dbg/internal/fixture"
	"dbg/session"
)

// exprLine is a line of a table of expressions, testdata/expr/*.txt: "EXPRESSION => VALUE", or
// "EXPRESSION => error: WORDS". What follows "  # " is a remark; "gdb: TEXT" tells what gdb has instead.
//
// "@process" starts expressions that need a process: they assign, or call. "@own" starts those that the
// compiler does not judge. "@judged" and "@core" end these.
type exprLine struct {
	number     int
	expr, want string
	process    bool
	judged     bool
	remark     string
}

func readExprTable(t testing.TB, name string) []exprLine {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/expr", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []exprLine
	process, judged := false, true
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
			continue
		case line == "@process", line == "@core":
			process = line == "@process"
			continue
		case line == "@own", line == "@judged":
			judged = line == "@judged"
			continue
		}
		line, remark, _ := strings.Cut(line, "  # ")
		expr, want, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("%s:%d: no \" => \" in %q", name, i+1, line)
		}
		out = append(out, exprLine{i + 1, expr, strings.TrimRight(want, " "), process,
			judged, remark})
	}
	return out
}

// exprPrograms are the programs in which the tables are evaluated.
var exprPrograms = []struct {
	table, source string
	flags         []string
	least         int // lines
}{
	{"c.txt", "expr/expr.c", []string{"-g", "-O0", "-w"}, 1500},
	{"cc.txt", "expr/expr.cc", []string{"-g", "-O0", "-w", "-std=gnu++20"}, 1500},
	{"rs.txt", "expr/expr.rs", []string{"-g", "-C", "opt-level=0", "-A", "warnings"}, 600},
	{"go.txt", "expr/expr.go", []string{"-gcflags=-N -l"}, 600},
	{"errors.txt", "expr/expr.cc", []string{"-g", "-O0", "-w", "-std=gnu++20"}, 200},
}

// TestExpressionTables evaluates the tables of expressions in a process. Those that need none are also
// evaluated in its core.
func TestExpressionTables(t *testing.T) {
	for _, p := range exprPrograms {
		t.Run(p.table, func(t *testing.T) {
			lines := readExprTable(t, p.table)
			if len(lines) < p.least {
				t.Errorf("only %d expressions", len(lines))
			}
			live := stopIn(t, p.source, p.flags...)
			file := filepath.Join(t.TempDir(), "core")
			if _, err := live.GenerateCore(file, session.CoreOptions{}); err != nil {
				t.Fatal(err)
			}
			s, events := newSession(t)
			core := &caller{s, t, events, 0}
			ti, _ := live.Target()
			core.must(s.OpenCore(file, ti.Exe))
			core.thread, _ = s.Selected()
			wrong := 0
			for _, x := range lines {
				wrong += live.compare(t, p.table, "process", x)
				if !x.process {
					wrong += core.compare(t, p.table, "core", x)
				}
			}
			t.Logf("%d expressions, %d wrong", len(lines), wrong)
		})
	}
}

// compare evaluates a line, and returns 1 if the value is another one.
func (c *caller) compare(t *testing.T, table, where string, x exprLine) int {
	t.Helper()
	var got string
	if v, err := c.Evaluate(c.thread, 0, x.expr); err != nil {
		got = "error: " + strings.ReplaceAll(err.Error(), "\n", " ")
		got, _, _ = strings.Cut(got, " Did you mean ") // TestNearest is about these
	} else {
		got = c.Format(v, eval.DefaultOptions())
	}
	if got != x.want {
		t.Errorf("%s:%d (%s): %s\n gave %s\n want %s", table, x.number, where, x.expr, got, x.want)
		return 1
	}
	return 0
}

// TestExpressionJudge has the compilers evaluate the lines of the tables that they can judge.
func TestExpressionJudge(t *testing.T) {
	for _, p := range exprPrograms {
		if p.table == "errors.txt" {
			continue
		}
		t.Run(p.table, func(t *testing.T) {
			fixture.Sweep(t) // the tables hold what the compilers say
			lines := readExprTable(t, p.table)
			judged := 0
			for _, x := range lines {
				if x.judged {
					judged++
				}
			}
			got := runJudge(t, judgeSource(t, p.source, lines), p.source, p.flags)
			for _, x := range lines {
				if x.judged && got[x.number] != x.want {
					t.Errorf("%s:%d: %s\n has the value %s\n the compiler has %s", p.table, x.number, x.expr, x.want, got[x.number])
				}
			}
			t.Logf("%d of %d expressions judged", judged, len(lines))
		})
	}
}

// judgeSource returns the source of a program that shows the expressions of a table. For C and C++ it
// includes the fixture; for Rust and Go it is the fixture with the expressions where it stops.
func judgeSource(t *testing.T, source string, lines []exprLine) string {
	t.Helper()
	root := filepath.Join(fixture.Root(), "testdata")
	form := map[string]string{".c": "SHOW(%d, (%s));\n", ".cc": "SHOW(%d, (%s));\n", ".rs": "show(%d, || %s);\n",
		".go": "show(%d, func() any { return %s })\n"}[filepath.Ext(source)]
	var b strings.Builder
	for _, x := range lines {
		if x.judged {
			fmt.Fprintf(&b, form, x.number, x.expr)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	insert := func(text, judge string) string {
		at := strings.LastIndex(text[:strings.Index(text, "// stop")], "\n") + 1
		return text[:at] + b.String() + text[at:] + judge
	}
	switch filepath.Ext(source) {
	case ".rs":
		_, text, _ := strings.Cut(read(source), "\n")
		allow := "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\n"
		return allow + insert(text, read("expr/judge.rs"))
	case ".go":
		text := strings.Replace(read(source), `import "runtime"`, "import (\n\"fmt\"\n\"runtime\"\n\"strings\"\n)", 1)
		return insert(text, read("expr/judge_go.txt"))
	}
	return fmt.Sprintf("#define JUDGE\n#include %q\n#include %q\nint main() {\n%sreturn 0;\n}\n",
		filepath.Join(root, source), filepath.Join(root, "expr/judge.h"), b.String())
}

// runJudge compiles and runs a program that shows expressions, and returns their values by line.
func runJudge(t *testing.T, source, like string, flags []string) map[int]string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "judge"+filepath.Ext(like))
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	var cmd *exec.Cmd
	switch filepath.Ext(like) {
	case ".rs":
		cmd = exec.Command(fixture.Rust(t), "-C", "opt-level=0", "-o", filepath.Join(dir, "judge"), src)
	case ".go":
		cmd = exec.Command("go", "build", "-o", filepath.Join(dir, "judge"), src)
	default:
		tool := map[string]string{".c": "gcc", ".cc": "g++"}[filepath.Ext(like)]
		fixture.Need(t, tool)
		cmd = exec.Command(tool, append(append([]string{}, flags...), "-o", filepath.Join(dir, "judge"), src)...)
	}
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%.4000s", cmd, err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "judge")).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := map[int]string{}
	for _, line := range strings.Split(string(out), "\n") {
		number, value, ok := strings.Cut(line, "\t")
		if n, err := strconv.Atoi(number); ok && err == nil {
			got[n] = value
		}
	}
	return got
}
