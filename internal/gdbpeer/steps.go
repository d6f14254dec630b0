package gdbpeer

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// Way is a way through a program: the addresses of which it reaches one first, and commands from
// there.
type Way struct {
	From     []uint64
	Commands []string
}

// Place is where a command has ended.
type Place struct {
	Frame
	Inlined   bool
	Ended     bool   // the program has ended
	Err       string // the command has failed
	SP        uint64
	Registers string // the values of the other general registers
	RangeEnd  uint64 // the end of the line's range for gdb, or 0
}

// Walk goes ways through a program. The first place of each is where it began.
func Walk(t testing.TB, exe string, setup []string, ways []Way) [][]Place {
	t.Helper()
	var b strings.Builder
	for _, w := range ways {
		for i, a := range w.From {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("0x" + strconv.FormatUint(a, 16))
		}
		b.WriteString(" " + strings.Join(w.Commands, " ") + "\n")
	}
	file := filepath.Join(t.TempDir(), "ways")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-iex", "set debug-file-directory /nonexistent", exe, "-ex", "source " + filepath.Join(fixture.Root(), "internal/gdbpeer/steps.py")}
	for _, c := range setup {
		args = append(args, "-ex", c)
	}
	var all [][]Place
	failed := ""
	out := Run(t, append(args, "-ex", "walk-steps "+file)...)
	if n := strings.Count(out, "\nWAY"); n+1 < len(ways) {
		t.Logf("gdb has gone %d of %d ways: %s", n+1, len(ways), out[max(0, len(out)-500):])
	}
	for _, line := range strings.Split(out, "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		n := len(all) - 1
		switch {
		case line == "WAY":
			all = append(all, nil)
			failed = ""
		case n < 0:
		case kind == "ERROR":
			failed = rest
		case line == "END":
			all[n] = append(all[n], Place{Ended: true, Err: failed})
			failed = ""
		case kind == "AT":
			p := strings.Split(rest, "|")
			if len(p) != 8 {
				continue
			}
			f := Frame{Func: p[2], File: p[3]}
			f.PC, _ = strconv.ParseUint(p[0], 10, 64)
			f.Line, _ = strconv.Atoi(p[4])
			at := Place{Frame: f, Inlined: p[1] == "inline", Err: failed, Registers: p[6]}
			at.RangeEnd, _ = strconv.ParseUint(p[7], 10, 64)
			at.SP, _ = strconv.ParseUint(p[5], 10, 64)
			all[n] = append(all[n], at)
			failed = ""
		}
	}
	return all
}
