package unwindcheck

import (
	"testing"

	"dbg/internal/fixture"
)

// TestInlineAssembly: assembly in a C function moves the stack pointer, which its table does not say. The table alone
// is wrong at two instructions; with the code no caller is.
func TestInlineAssembly(t *testing.T) {
	prog := fixture.Build(t, "check/inlineasm.c", "-O1", "-fomit-frame-pointer", "-static")
	r := check(t, Options{}, prog)
	if r.Wrong != 0 || r.WrongRows != 2 {
		t.Errorf("%d callers and %d rows are wrong; want 0 and 2", r.Wrong, r.WrongRows)
	}
	if alone := check(t, Options{Source: "cfi"}, prog); alone.Wrong != 2 {
		t.Errorf("the table alone: %d callers are wrong, want 2", alone.Wrong)
	}
}
