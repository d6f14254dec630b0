package repl

import (
	"reflect"
	"testing"
)

// TestNames: gdb's names and abbreviations mean what they mean in gdb.
func TestNames(t *testing.T) {
	for line, want := range map[string]string{
		"b main": "break", "br main": "break", "break": "break", "tb f": "tbreak", "tbreak f": "tbreak",
		"d": "delete", "d 1": "delete", "dis 1": "disable", "disas": "disassemble", "disassemble": "disassemble",
		"en 1": "enable", "cond 1": "condition", "ign 1 2": "ignore", "r": "run", "run a b": "run", "start": "start",
		"c": "continue", "cont": "continue", "n": "next", "s": "step", "fin": "finish", "si": "stepi", "ni": "nexti",
		"u": "until", "adv f": "advance", "bt": "backtrace", "where": "backtrace", "f 1": "frame", "up": "up",
		"down": "down", "p x": "print", "p/x 1": "print", "p*x": "print", "x/4i $pc": "x", "x $sp": "x", "l": "list",
		"t 1": "thread", "thread apply all bt": "thread", "i r": "info", "info b": "info", "k": "kill", "q": "quit",
		"exit": "quit", "h": "help", "ha SIGINT stop": "handle", "sig 0": "signal", "disp x": "display", "undisp 1": "undisplay",
		"det": "detach", "echo x": "echo", "whatis x": "whatis", "set var x = 1": "set", "source f": "source",
	} {
		c, _, err := find(line)
		if err != nil {
			t.Errorf("%q: %v", line, err)
		} else if c.name != want {
			t.Errorf("%q is %s, want %s", line, c.name, want)
		}
	}
	for line, want := range map[string]string{
		"foo":   `Undefined command: "foo".  Try "help".`,
		"foo 1": `Undefined command: "foo".  Try "help".`,
		"!ls":   `Undefined command: "!ls".  Try "help".`,
		"so":    ``,
		"di":    `Ambiguous command "di": disable, disassemble, disconnect, display.`,
	} {
		_, _, err := find(line)
		if got := errorText(err); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestTableIsSound: no name or alias stands for two commands.
func TestTableIsSound(t *testing.T) {
	for what, all := range map[string][]*command{"commands": table(), "info": infoCommands()} {
		seen := map[string]string{}
		for _, c := range all {
			for _, n := range append([]string{c.name}, c.aliases...) {
				if other, ok := seen[n]; ok {
					t.Errorf("%s: %q is %s and %s", what, n, other, c.name)
				}
				seen[n] = c.name
			}
		}
	}
}

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                    nil,
		"a b  c":              {"a", "b", "c"},
		`'a b' "c d"`:         {"a b", "c d"},
		`a\ b "c\"d" 'e\f'`:   {"a b", `c"d`, `e\f`},
		`""`:                  {""},
		`x"y z"w`:             {"xy zw"},
		`"keep \n backslash"`: {`keep \n backslash`},
	} {
		got, err := splitWords(line)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
		again, err := splitWords(joinWords(got))
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: joined and split again: %q, %v", line, again, err)
		}
	}
	if _, err := splitWords(`a "b`); err == nil {
		t.Error("an open quote is no error")
	}
}

func TestExamineFormat(t *testing.T) {
	for _, c := range []struct {
		spec         string
		n            int
		format, unit byte
	}{
		{"", 1, 'x', 'w'}, {"4", 4, 'x', 'w'}, {"8xb", 8, 'x', 'b'}, {"bx", 1, 'x', 'b'}, {"2g", 2, 'x', 'g'},
		{"s", 1, 's', 'b'}, {"3i", 3, 'i', 'w'}, {"a", 1, 'a', 'g'}, {"c", 1, 'c', 'b'}, {"2dh", 2, 'd', 'h'},
	} {
		n, format, unit, err := examineFormat(c.spec, 'x', 'w')
		if err != nil || n != c.n || format != c.format || unit != c.unit {
			t.Errorf("x/%s: %d %c %c %v, want %d %c %c", c.spec, n, format, unit, err, c.n, c.format, c.unit)
		}
	}
	if _, _, _, err := examineFormat("99999999999999999999x", 'x', 'w'); err == nil {
		t.Error("a count that does not fit is no error")
	}
}

func TestSourceNames(t *testing.T) {
	n := &names{cwd: "/home/me/project", roots: []string{"/dbg-demo"}}
	for path, want := range map[string]string{
		"/home/me/project/a.c":     "a.c",
		"/home/me/project/sub/a.c": "sub/a.c",
		"/home/me/projects/a.c":    "../projects/a.c",
		"/usr/src/x/a.c":           "/usr/src/x/a.c",
		"/dbg-demo/demo.c":         "demo.c",
		"nptl/raise.c":             "nptl/raise.c",
	} {
		if got := n.source(path); got != want {
			t.Errorf("%s is shown as %s, want %s", path, got, want)
		}
	}
}

func TestColumns(t *testing.T) {
	for text, want := range map[string]string{
		"ret": "ret", "mov %rsp,%rbp": "mov    %rsp,%rbp", "push   %rbp": "push   %rbp",
		"rep stos %al,%es:(%rdi)": "rep stos %al,%es:(%rdi)", "cmpxchg %ecx,(%rdx)": "cmpxchg %ecx,(%rdx)",
	} {
		if got := columns(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
