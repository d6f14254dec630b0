package session_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dbg/internal/fixture"
)

// TestExpressionsAgainstGDB has gdb evaluate the tables at the same stop. Where gdb's answer is another one,
// the remark of the line must tell it, and why: "gdb: ANSWER, because REASON".
func TestExpressionsAgainstGDB(t *testing.T) {
	if os.Getenv("DBG_ALL") == "" {
		t.Skip("the tables of expressions are compared with gdb with DBG_ALL=1")
	}
	for _, p := range exprPrograms {
		t.Run(p.table, func(t *testing.T) {
			lines := readExprTable(t, p.table)
			got := gdbAnswers(t, p.source, p.flags, lines)
			same, explained := 0, 0
			for _, x := range lines {
				answer := got[x.number]
				told, reason, _ := strings.Cut(strings.TrimPrefix(x.remark, "gdb: "), ", because ")
				switch {
				case !strings.HasPrefix(x.remark, "gdb: ") && answer == x.want:
					same++
				case !strings.HasPrefix(x.remark, "gdb: "):
					t.Errorf("%s:%d: %s => %s\n gdb has %s", p.table, x.number, x.expr, x.want, answer)
				case told == "…" && answer != x.want: // an address, or a warning
					explained++
				case told != answer:
					t.Errorf("%s:%d: %s: gdb has %s\n the remark tells %s", p.table, x.number, x.expr, answer, told)
				case reason == "":
					t.Errorf("%s:%d: %s: the remark gives no reason", p.table, x.number, x.expr)
				default:
					explained++
				}
			}
			t.Logf("%d expressions: %d as gdb, %d explained", len(lines), same, explained)
		})
	}
}

// gdbAnswers runs gdb to the fixture's stop and returns its values by line. An expression that ends gdb
// has the answer "gdb ends"; another gdb evaluates the rest.
func gdbAnswers(t *testing.T, source string, flags []string, lines []exprLine) map[int]string {
	t.Helper()
	fixture.Need(t, "gdb")
	exe := fixture.Build(t, source, flags...)
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata", source))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "// stop")
	place := fmt.Sprintf("%s:%d", filepath.Base(source), strings.Count(before, "\n")+1)
	got := map[int]string{}
	for len(lines) > 0 {
		n := askGDB(t, exe, place, lines, got)
		if n < len(lines) {
			got[lines[n].number] = "gdb ends"
			n++
		}
		lines = lines[n:]
	}
	return got
}

// askGDB runs one gdb, and returns how many lines it has answered.
func askGDB(t *testing.T, exe, place string, lines []exprLine, got map[int]string) int {
	t.Helper()
	var list strings.Builder
	for _, x := range lines {
		fmt.Fprintf(&list, "%d\t%s\n", x.number, x.expr)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "expressions"), filepath.Join(dir, "answers")
	if err := os.WriteFile(in, []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gdb", "-nx", "-batch", "-ex", "set width 0", "-ex", "set debuginfod enabled off", "-ex",
		"break "+place, "-ex", "run", "-x", filepath.Join(fixture.Root(), "session/testdata/expr/gdb.py"), exe)
	cmd.Env = append(os.Environ(), "DBG_EXPRESSIONS="+in, "DBG_ANSWERS="+out, "LC_ALL=C.UTF-8")
	console, err := cmd.CombinedOutput()
	answers, err2 := os.ReadFile(out)
	if err2 != nil {
		t.Fatalf("gdb: %v\n%.3000s", err, console)
	}
	n := 0
	for _, line := range strings.Split(string(answers), "\n") {
		var number int
		text, value, ok := strings.Cut(line, "\t")
		if _, err := fmt.Sscan(text, &number); ok && err == nil {
			got[number] = value
			n++
		}
	}
	return n
}
