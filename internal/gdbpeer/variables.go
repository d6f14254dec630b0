package gdbpeer

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// Variables is what gdb says of the variables of one frame.
type Variables struct {
	PC       uint64
	Func     string
	TailCall bool
	Line     string // what the command "frame" prints: the arguments with their values at entry
	Args     []Variable
	Locals   []Variable
}

// Variable is a name and its value, as text. Variables of the innermost block come first.
type Variable struct{ Name, Value string }

// RandomStops runs a program to so many random places, stepping and by breakpoints at random
// instructions of the source that start (main) is in. It returns the frames at each of them, the innermost first, and
// leaves the core of stop i in dir as core.i.
func RandomStops(t testing.TB, exe, start, dir string, seed int64, stops, levels int) [][]Variables {
	t.Helper()
	out := Run(t, "-ex", "source "+filepath.Join(fixture.Root(), "internal/gdbpeer/variables.py"),
		"-ex", fmt.Sprintf("dump-variables %d %d %s %d %s", seed, stops, dir, levels, start), exe)
	var all [][]Variables
	var f *Variables
	var list *[]Variable
	whole := false // the last frame has come to its end: gdb may fail in the middle of it
	for _, line := range strings.Split(out, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		switch {
		case kind == "STOP" && list == nil:
			if rest == strconv.Itoa(len(all)) {
				all = append(all, nil)
			}
		case kind == "FRAME" && list == nil && len(all) > 0:
			p := strings.SplitN(rest, "|", 4)
			if len(p) != 4 {
				continue
			}
			at := &all[len(all)-1]
			*at = append(*at, Variables{Func: p[3], TailCall: p[2] == "tailcall"})
			f = &(*at)[len(*at)-1]
			whole = false
			f.PC, _ = strconv.ParseUint(p[1], 10, 64)
		case kind == "LINE" && f != nil && list == nil:
			f.Line = rest
		case kind == "VARIABLES" && f != nil:
			list = &f.Args
			if rest == "locals" {
				list = &f.Locals
			}
		case kind == "END":
			f, list, whole = nil, nil, true
		case list != nil:
			if name, value, ok := strings.Cut(line, " = "); ok && !strings.ContainsAny(name, " \"") {
				for _, prefix := range []string{"<error reading variable " + name + " ", "<error reading variable: "} {
					if why, ok := strings.CutPrefix(value, prefix); ok {
						value = "<error: " + strings.Trim(why, "()>") + ">"
					}
				}
				*list = add(*list, name, value)
			} else if strings.HasPrefix(line, "<error reading variable ") {
				name, why, _ := strings.Cut(strings.TrimPrefix(line, "<error reading variable "), " ")
				*list = add(*list, name, "<error: "+strings.Trim(why, "()>")+">")
			}
		}
	}
	if n := len(all) - 1; n >= 0 && !whole && len(all[n]) > 0 {
		all[n] = all[n][:len(all[n])-1]
	}
	if len(all) == 0 {
		t.Fatalf("gdb gave no stops:\n%s", out)
	}
	return all
}

// add adds a variable; where gdb has written a warning of its own in place of the value that follows, it takes that away.
func add(list []Variable, name, value string) []Variable {
	if n := len(list) - 1; n >= 0 && list[n].Name == name && strings.HasPrefix(list[n].Value, "warning: ") {
		list = list[:n]
	}
	return append(list, Variable{name, value})
}
