package symbols

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"dbg/image"
	"dbg/internal/fixture"
)

// gdb runs commands and returns the answer to each.
func gdb(t testing.TB, path string, commands []string) []string {
	t.Helper()
	fixture.Need(t, "gdb")
	var in strings.Builder
	fmt.Fprintf(&in, "set confirm off\nset width 0\nset breakpoint pending off\nset debuginfod enabled off\n")
	for _, c := range commands {
		fmt.Fprintf(&in, "echo @@@\\n\n%s\n", c)
	}
	cmd := exec.Command("gdb", "-nx", "-q", "-batch", "-x", "/dev/stdin", path)
	// A command that fails would end a script; -ex and stdin in batch go on.
	cmd = exec.Command("gdb", "-nx", "-q", path)
	cmd.Stdin = strings.NewReader("set prompt\n" + in.String() + "quit\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	answers := strings.Split(string(out), "@@@\n")[1:]
	if len(answers) != len(commands) {
		t.Fatalf("gdb answered %d of %d commands\n%s", len(answers), len(commands), out)
	}
	for i := range answers {
		answers[i] = strings.TrimSpace(answers[i])
	}
	return answers
}

var infoLine = regexp.MustCompile(`^Line (\d+) of "([^"]+)" (?:starts at address (0x[0-9a-f]+).*? and ends at (0x[0-9a-f]+)|is at address (0x[0-9a-f]+))`)

// TestGDBLines holds LineAt against gdb's "info line *ADDR" on all of the
// program's own code.
func TestGDBLines(t *testing.T) {
	for _, b := range builds {
		if b.tool != "gcc" && b.tool != "g++" || b.name == "gcc-O0-static" {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			path := compile(t, b.tool, b.source, b.flags...)
			m := load(t, path)
			text, _ := m.File().Section(".text")
			var commands []string
			var addrs []image.Addr
			for a := text.Addr; a < text.Addr+image.Addr(text.Size); a += 3 {
				if f := m.FunctionAt(a); f != nil && !f.FromSymbolTable {
					addrs = append(addrs, a)
					commands = append(commands, fmt.Sprintf("info line *%v", a))
				}
			}
			bad := 0
			for i, answer := range gdb(t, path, commands) {
				match := infoLine.FindStringSubmatch(answer)
				line, ok := m.LineAt(addrs[i])
				if match == nil {
					continue
				}
				want := fmt.Sprintf("%s:%s from %s to %s", match[2][strings.LastIndex(match[2], "/")+1:], match[1], match[3], match[4])
				got := fmt.Sprintf("%s:%d from %v to %v", line.File[strings.LastIndex(line.File, "/")+1:], line.Line, line.Lo, line.Hi)
				if !ok || got != want {
					if bad++; bad <= 5 {
						t.Errorf("%v: got %s, gdb has %s", addrs[i], got, want)
					}
				}
			}
			t.Logf("%d addresses, %d different", len(addrs), bad)
		})
	}
}
