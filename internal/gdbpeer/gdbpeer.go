// Package gdbpeer asks gdb what it sees at a stop, so that tests can hold dbg's
// answer against it.
package gdbpeer

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"dbg/internal/fixture"
)

// Frame is one level of gdb's backtrace.
type Frame struct {
	Level int
	PC    uint64
	Func  string
	File  string // as the debug information has it
	Line  int
	Args  string
	From  string
	// ShowPC says that gdb printed the address.
	ShowPC bool
}

func (f Frame) String() string {
	return fmt.Sprintf("#%d %#x %s %s:%d", f.Level, f.PC, f.Func, f.File, f.Line)
}

// Run runs gdb without the user's settings and returns what it printed.
func Run(t testing.TB, args ...string) string {
	t.Helper()
	fixture.Need(t, "gdb")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "gdb", append([]string{"-nx", "-batch", "-ex", "set width 0", "-ex", "set debuginfod enabled off", "-ex", "set backtrace past-main on"}, args...)...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("gdb %q did not end:\n%s", args, out)
	}
	if err != nil {
		t.Logf("gdb: %v", err)
	}
	return string(out)
}

var (
	miFrame = regexp.MustCompile(`frame=\{level="(\d+)",addr="(0x[0-9a-f]+)"(?:,func="((?:[^"\\]|\\.)*)")?([^}]*)\}`)
	miAttr  = regexp.MustCompile(`(file|fullname|line|from)="((?:[^"\\]|\\.)*)"`)
)

// Stack is the command that makes gdb print the selected thread's frames in a form that
// Frames understands.
const Stack = `interpreter-exec mi "-stack-list-frames"`

// Frames reads the answers to Stack in gdb's output, one list for each.
func Frames(out string) [][]Frame {
	var all [][]Frame
	for _, line := range strings.Split(out, "\n") {
		if !strings.HasPrefix(line, "^done,stack=") {
			continue
		}
		var list []Frame
		for _, m := range miFrame.FindAllStringSubmatch(line, -1) {
			f := Frame{Func: m[3]}
			f.Level, _ = strconv.Atoi(m[1])
			f.PC, _ = strconv.ParseUint(m[2], 0, 64)
			for _, a := range miAttr.FindAllStringSubmatch(m[4], -1) {
				switch a[1] {
				case "file":
					f.File = a[2]
				case "line":
					f.Line, _ = strconv.Atoi(a[2])
				case "from":
					f.From = a[2]
				}
			}
			list = append(list, f)
		}
		all = append(all, list)
	}
	return all
}

// Threads reads the LWP ids of "info threads", in gdb's order.
func Threads(out string) []int {
	var ids []int
	for _, m := range regexp.MustCompile(`(?m)^[* ] +\d+ +.*?LWP (\d+)`).FindAllStringSubmatch(out, -1) {
		n, _ := strconv.Atoi(m[1])
		ids = append(ids, n)
	}
	return ids
}
