// Package gdbpeer asks gdb what it sees at a stop, so that tests can hold dbg's
// answer against it.
package gdbpeer

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"dbg/internal/fixture"
)

// Frame is one level of gdb's backtrace.
type Frame struct {
	PC     uint64
	Func   string
	File   string // as the debug information has it
	Line   int
	Signal bool // <signal handler called>
	// TailCall says that gdb made the frame up: the function is not on the stack, the call
	// sites of its neighbours say that it must have been there.
	TailCall bool
}

// Run runs gdb without the user's settings and returns what it printed.
func Run(t testing.TB, args ...string) string {
	t.Helper()
	fixture.Need(t, "gdb")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	all := []string{"-nx", "-batch", "-ex", "set width 0", "-ex", "set debuginfod enabled off", "-ex", "set backtrace past-main on",
		"-ex", "source " + filepath.Join(fixture.Root(), "internal/gdbpeer/frames.py")}
	cmd := exec.CommandContext(ctx, "gdb", append(all, args...)...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("gdb %q did not end:\n%s", args, out)
	}
	if err != nil {
		t.Logf("gdb: %v", err)
	}
	return string(out)
}

// Stack is the command that makes gdb print the selected thread's frames in a form that
// Frames understands.
const Stack = "dump-frames"

// Frames reads the answers to Stack in gdb's output, one list for each.
func Frames(out string) [][]Frame {
	var all [][]Frame
	for _, line := range strings.Split(out, "\n") {
		if line == "BEGIN" {
			all = append(all, nil)
			continue
		}
		rest, ok := strings.CutPrefix(line, "FRAME ")
		p := strings.Split(rest, "|")
		if !ok || len(p) != 6 || len(all) == 0 {
			continue
		}
		f := Frame{Func: p[3], File: p[4], Signal: p[2] == "signal", TailCall: p[2] == "tailcall"}
		f.PC, _ = strconv.ParseUint(p[1], 10, 64)
		f.Line, _ = strconv.Atoi(p[5])
		all[len(all)-1] = append(all[len(all)-1], f)
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

func (f Frame) String() string { return fmt.Sprintf("%#x %s %s:%d", f.PC, f.Func, f.File, f.Line) }
