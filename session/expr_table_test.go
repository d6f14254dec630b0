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
	} else {
		got = c.Format(v, eval.DefaultOptions())
	}
	if got != x.want {
		t.Errorf("%s:%d (%s): %s\n gave %s\n want %s", table, x.number, where, x.expr, got, x.want)
		return 1
	}
	return 0
}

// TestExpressionJudge has the compiler evaluate the lines of the tables that it can judge.
func TestExpressionJudge(t *testing.T) {
	for _, p := range exprPrograms[:2] {
		t.Run(p.table, func(t *testing.T) {
			lines := readExprTable(t, p.table)
			root := filepath.Join(fixture.Root(), "testdata")
			var b strings.Builder
			fmt.Fprintf(&b, "#define JUDGE\n#include %q\n#include %q\nint main() {\n", filepath.Join(root, p.source),
				filepath.Join(root, "expr/judge.h"))
			judged := 0
			for _, x := range lines {
				if x.judged {
					fmt.Fprintf(&b, "SHOW(%d, (%s));\n", x.number, x.expr)
					judged++
				}
			}
			b.WriteString("return 0;\n}\n")
			got := runJudge(t, b.String(), p.source, p.flags)
			for _, x := range lines {
				if x.judged && got[x.number] != x.want {
					t.Errorf("%s:%d: %s\n has the value %s\n the compiler has %s", p.table, x.number, x.expr, x.want, got[x.number])
				}
			}
			t.Logf("%d of %d expressions judged", judged, len(lines))
		})
	}
}

// runJudge compiles and runs a program that shows expressions, and returns their values by line.
func runJudge(t *testing.T, source, like string, flags []string) map[int]string {
	t.Helper()
	tool := "gcc"
	if filepath.Ext(like) == ".cc" {
		tool = "g++"
	}
	fixture.Need(t, tool)
	dir := t.TempDir()
	src := filepath.Join(dir, "judge"+filepath.Ext(like))
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append(append([]string{}, flags...), "-o", filepath.Join(dir, "judge"), src)
	if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%.4000s", tool, err, out)
	}
	cmd := exec.Command(filepath.Join(dir, "judge"))
	out, err := cmd.Output()
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
