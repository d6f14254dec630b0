package unwindtable_test

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"

	"dbg/internal/fixture"
	"dbg/unwindtable"
)

// TestMachO: the rows of a file for macOS begin with the function's first instruction and end with its epilogue; raw it is what
// llvm-objdump prints.
func TestMachO(t *testing.T) {
	fixture.Need(t, "llvm-objdump-19")
	file := fixture.MachO(t, "macho/shapes.c", "x86_64", "-O1", "-fno-omit-frame-pointer", "-Wno-infinite-recursion")
	var out bytes.Buffer
	if err := unwindtable.Print(context.Background(), &out, file, unwindtable.Options{Func: "machine", Source: "compact"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) < 6 || !strings.HasPrefix(lines[0], "machine 0x") || !strings.Contains(lines[0], "compact  (entry 0x") ||
		!strings.Contains(lines[2], " rsp+8 ") || !strings.Contains(out.String(), " rbp+16 ") || !strings.Contains(strings.Join(lines[4:], "\n"), " rsp+8 ") {
		t.Errorf("%s", out.String())
	}
	out.Reset()
	if err := unwindtable.Print(context.Background(), &out, file, unwindtable.Options{Raw: true, Source: "compact"}); err != nil {
		t.Fatal(err)
	}
	peer, err := exec.Command("llvm-objdump-19", "--unwind-info", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, want, ok := strings.Cut(string(peer), "Unwind info:\n\n"); !ok || want != out.String() {
		t.Errorf("it is\n%s\nwant\n%s", out.String(), want)
	}
}
