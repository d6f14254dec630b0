//go:build !race

package cfi_test

import (
	"testing"

	"dbg/internal/fixture"
	"dbg/row"
)

// The race detector makes sync.Pool forget at random, hence the build tag.
func TestRowAtAllocatesNothing(t *testing.T) {
	eh, _ := sections(t, "/proc/self/exe")
	if eh == nil {
		eh, _ = sections(t, "/bin/sh")
	}
	if eh == nil {
		fixture.Missing(t, "no .eh_frame on this machine")
	}
	var pcs []uint64
	for f, err := range eh.FDEs() {
		if err == nil && len(pcs) < 100 {
			pcs = append(pcs, f.Lo+(f.Hi-f.Lo)/2)
		}
	}
	var r row.Row
	for _, pc := range pcs {
		eh.RowAt(pc, &r)
	}
	if n := testing.AllocsPerRun(20, func() {
		for _, pc := range pcs {
			eh.RowAt(pc, &r)
		}
	}); n > 0 {
		t.Errorf("%v allocations for %d rows", n, len(pcs))
	}
}
