package emulate

import (
	"fmt"
	"strings"
	"testing"
)

// check ends the test if there is an error.
func check(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// differences lists the registers in which two outcomes differ.
func differences(before, got, want *Regs) string {
	var s strings.Builder
	line := func(name string, before, got, want uint64) {
		if got != want {
			fmt.Fprintf(&s, "  %-6s before %#x, emulated %#x, processor %#x\n", name, before, got, want)
		}
	}
	for i := range got.GPR {
		line(fmt.Sprint("gpr", i), before.GPR[i], got.GPR[i], want.GPR[i])
	}
	line("rip", before.RIP, got.RIP, want.RIP)
	line("flags", before.Flags, got.Flags, want.Flags)
	line("fs", before.FSBase, got.FSBase, want.FSBase)
	line("gs", before.GSBase, got.GSBase, want.GSBase)
	return s.String()
}
