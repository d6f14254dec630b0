package symbols

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
	// A command that fails would end a script, but not commands from stdin.
	cmd := exec.Command("gdb", "-nx", "-q", path)
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
			bad, ends := 0, 0
			for i, answer := range gdb(t, path, commands) {
				match := infoLine.FindStringSubmatch(answer)
				line, ok := m.LineAt(addrs[i])
				if match == nil {
					continue
				}
				want := fmt.Sprintf("%s:%s from %s to %s", match[2][strings.LastIndex(match[2], "/")+1:], match[1], match[3], match[4])
				got := fmt.Sprintf("%s:%d from %v to %v", line.File[strings.LastIndex(line.File, "/")+1:], line.Line, line.Lo, line.Hi)
				if !ok || got != want {
					// gdb keeps a table for each file and loses a few ends of
					// ranges where files alternate; the line is the same.
					if n := strings.LastIndex(got, " "); ok && got[:n] == want[:strings.LastIndex(want, " ")] && b.tool == "g++" {
						ends++
						continue
					}
					if bad++; bad <= 5 {
						t.Errorf("%v: got %s, gdb has %s", addrs[i], got, want)
					}
				}
			}
			if ends > len(addrs)/200 {
				t.Errorf("%d ends of ranges are different", ends)
			}
			t.Logf("%d addresses, %d different, %d ends of ranges", len(addrs), bad, ends)
		})
	}
}

var breakpointAt = regexp.MustCompile(`(?m)^([0-9]+)(?:\.[0-9]+)? .*?(0x[0-9a-f]{16}) in `)

// gdbBreakpoints sets a breakpoint on each place and returns their addresses.
func gdbBreakpoints(t testing.TB, path string, places []string) [][]image.Addr {
	t.Helper()
	var commands []string
	for _, p := range places {
		commands = append(commands, "break "+p)
	}
	answers := gdb(t, path, append(commands, "info breakpoints"))
	byNumber := map[string][]image.Addr{}
	for _, match := range breakpointAt.FindAllStringSubmatch(answers[len(places)], -1) {
		var a image.Addr
		fmt.Sscanf(match[2], "0x%x", &a)
		byNumber[match[1]] = append(byNumber[match[1]], a)
	}
	out := make([][]image.Addr, len(places))
	number := regexp.MustCompile(`(?m)^Breakpoint (\d+) at`)
	for i := range places {
		if match := number.FindStringSubmatch(answers[i]); match != nil {
			out[i] = byNumber[match[1]]
			slices.Sort(out[i])
			out[i] = slices.Compact(out[i])
		}
	}
	return out
}

// TestGDBBreakpoints holds the addresses of breakpoints on functions and lines
// against gdb's.
func TestGDBBreakpoints(t *testing.T) {
	for _, b := range builds {
		if strings.HasPrefix(b.name, "go") || strings.HasPrefix(b.name, "rust") {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			path := compile(t, b.tool, b.source, b.flags...)
			m := load(t, path)
			var places []string
			var got [][]image.Addr
			seen := map[string]bool{}
			for _, s := range m.files.SymbolFile().Symbols() {
				f := m.FunctionAt(s.Addr)
				if f == nil || f.FromSymbolTable || seen[f.Name] || f.Lo != s.Addr || strings.Contains(f.Name, "lambda") || !strings.Contains(f.File, "testdata") {
					continue
				}
				seen[f.Name] = true
				var addrs []image.Addr
				for _, f := range m.FunctionsByName(f.Name) {
					addrs = append(addrs, m.AfterPrologue(f).Addr)
				}
				places, got = append(places, f.Name), append(got, addrs)
			}
			for line := 1; line < 80; line++ {
				var addrs []image.Addr
				for _, l := range m.LinesByFile(b.source, line) {
					addrs = append(addrs, l.Addr)
				}
				places, got = append(places, fmt.Sprintf("%s:%d", b.source, line)), append(got, addrs)
			}
			want := gdbBreakpoints(t, path, places)
			bad, some, more := 0, 0, 0
			for i, p := range places {
				slices.Sort(got[i])
				got[i] = slices.Compact(got[i])
				if len(want[i]) > 0 {
					some++
				}
				if !slices.Equal(got[i], want[i]) {
					// clang says where the prologue of an optimised main ends;
					// gdb does not listen before version 15.
					if b.name == "clang++-O2" && len(got[i]) == 1 && m.FunctionAt(got[i][0]).Name == "main" {
						continue
					}
					line, ok := strings.CutPrefix(p, b.source+":")
					if ok && strings.Contains(b.name, "O0") && moreBlocks(t, path, line, got[i], want[i]) {
						more++
						continue
					}
					if ok && hiddenRows(t, path, filepath.Base(b.source), line, got[i], want[i]) {
						more++
						continue
					}
					bad++
					t.Errorf("break %s: got %v, gdb has %v", p, got[i], want[i])
				}
			}
			t.Logf("%d places, %d with code, %d with more blocks of a line than gdb takes, %d different", len(places), some, more, bad)
		})
	}
}

// moreBlocks reports whether a list has gdb's addresses of a line, and others at which, by objdump, a statement of the line begins behind
// code of another line: gdb has one of them in each lexical block.
func moreBlocks(t *testing.T, path, line string, got, gdb []image.Addr) bool {
	out, err := exec.Command("objdump", "--dwarf=decodedline", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	begins := map[image.Addr]bool{}
	before := ""
	for _, l := range strings.Split(string(out), "\n") {
		f := strings.Fields(l)
		if len(f) < 3 || !strings.HasPrefix(f[2], "0x") {
			continue
		}
		a, err := strconv.ParseUint(f[2], 0, 64)
		if err != nil {
			continue
		}
		if f[1] == line && before != line && slices.Contains(f[3:], "x") {
			begins[image.Addr(a)] = true
		}
		before = f[1]
	}
	for _, a := range gdb {
		if !slices.Contains(got, a) {
			return false
		}
	}
	for _, a := range got {
		if !slices.Contains(gdb, a) && !begins[a] {
			return false
		}
	}
	return len(gdb) > 0 && len(got) > len(gdb)
}

// hiddenRows reports whether gdb goes on to a later line, or refuses, because rows of other files replace
// all rows of a line, at which statements begin according to the line table. dbg takes those.
func hiddenRows(t *testing.T, path, file, line string, got, gdb []image.Addr) bool {
	out, err := exec.Command("objdump", "--dwarf=decodedline", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	begins, others := map[image.Addr]bool{}, map[image.Addr]bool{}
	for _, l := range strings.Split(string(out), "\n") {
		f := strings.Fields(l)
		if len(f) < 3 || !strings.HasPrefix(f[2], "0x") {
			continue
		}
		a, err := strconv.ParseUint(f[2], 0, 64)
		if err != nil {
			continue
		}
		if f[0] == file && f[1] == line {
			begins[image.Addr(a)] = begins[image.Addr(a)] || slices.Contains(f[3:], "x")
		} else if f[0] != file {
			others[image.Addr(a)] = true
		}
	}
	for a, stmt := range begins {
		if slices.Contains(gdb, a) || stmt && !others[a] {
			return false // gdb, or dbg, need not have looked further
		}
	}
	for _, a := range got {
		if !begins[a] {
			return false
		}
	}
	return len(got) > 0
}

var scopeSymbol = regexp.MustCompile(`(?m)^(?:Scope for .*?:\n)?Symbol (\S+) is `)

// TestGDBScope holds the names of the variables at addresses against gdb's
// "info scope".
func TestGDBScope(t *testing.T) {
	for _, b := range builds {
		if strings.HasPrefix(b.name, "go") || strings.HasPrefix(b.name, "rust") || b.name == "gcc-O0-static" {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			path := compile(t, b.tool, b.source, b.flags...)
			m := load(t, path)
			text, _ := m.File().Section(".text")
			var commands, got []string
			for a := text.Addr; a < text.Addr+image.Addr(text.Size); a += 11 {
				if f := m.FunctionAt(a); f == nil || f.FromSymbolTable {
					continue
				}
				var names []string
				for _, v := range m.Locals(a) {
					names = append(names, v.Name)
				}
				slices.Sort(names)
				got = append(got, strings.Join(slices.Compact(names), " "))
				commands = append(commands, fmt.Sprintf("info scope *%v", a))
			}
			bad := 0
			for i, answer := range gdb(t, path, commands) {
				if strings.Contains(answer, "No block found") || strings.Contains(answer, "Corrupted DWARF") {
					continue // gdb gives up half way
				}
				var names []string
				for _, match := range scopeSymbol.FindAllStringSubmatch(answer, -1) {
					// gdb also lists variables of blocks that the address is not in,
					// as optimised out.
					if strings.Contains(answer, "Symbol "+match[1]+" is optimized out") && !slices.Contains(strings.Fields(got[i]), match[1]) {
						continue
					}
					if !strings.Contains(answer, "Symbol "+match[1]+" is a function at") && !strings.Contains(answer, "Symbol "+match[1]+" is a typedef") {
						names = append(names, match[1])
					}
				}
				slices.Sort(names)
				if want := strings.Join(slices.Compact(names), " "); got[i] != want {
					if bad++; bad < 4 {
						t.Errorf("%s: got %q, gdb has %q", commands[i], got[i], want)
					}
				}
			}
			t.Logf("%d addresses, %d different", len(commands), bad)
		})
	}
}

// TestHiddenLine: a line of optimised code whose rows are all replaced by those of an inlined function has
// a place: "break assign.cc:19" must not fail.
func TestHiddenLine(t *testing.T) {
	path := fixture.Build(t, "call/assign.cc", "-g", "-O2")
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "testdata/call/assign.cc"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "// stop")
	line := strings.Count(before, "\n") + 1
	list := load(t, path).LinesByFile("assign.cc", line)
	if len(list) == 0 || list[0].Position.Line != line {
		t.Errorf("line %d: %+v", line, list)
	}
}
