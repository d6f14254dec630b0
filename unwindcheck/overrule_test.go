package unwindcheck

import (
	"slices"
	"strings"
	"testing"

	"dbg/internal/fixture"
)

// TestOverrule: the code overrules tables that are wrong, where it is certain: no caller is wrong. Each wrong row is told.
func TestOverrule(t *testing.T) {
	prog := fixture.Build(t, "check/overrule.s", "-nostdlib", "-static", "-Wl,--build-id=none,-Ttext=0x401000")
	r := check(t, Options{}, prog)
	var got []string
	for _, w := range r.Ranges {
		got = append(got, w.Function+": "+w.Text[:strings.Index(w.Text, " is")])
	}
	want := []string{"vector: rbx", "memory: rbx", "chain: rbx", "later: r12", "frame: CFA"}
	if !slices.Equal(got, want) {
		t.Errorf("wrong rows: %q, want %q", got, want)
	}
	if r.Wrong != 0 || r.DeeperWrong != 0 {
		t.Errorf("%d callers are wrong", r.Wrong)
	}
	// vector 2, memory 1, chain 3, later 5 and 5 and 5; not one where the register has its value again.
	if r.UnknownRegisters != 21 {
		t.Errorf("%d registers unknown", r.UnknownRegisters)
	}
	alone := check(t, Options{Source: "cfi"}, prog)
	if alone.Wrong != r.WrongRows || alone.UnknownRegisters != 0 {
		t.Errorf("the table alone: %d wrong, %d unknown; with the code %d rows are", alone.Wrong, alone.UnknownRegisters, r.WrongRows)
	}
}
