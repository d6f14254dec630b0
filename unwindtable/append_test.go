package unwindtable

import (
	"math"
	"testing"

	"dbg/arch"
	"dbg/row"
)

// TestAppend: the fast forms are those of package row.
func TestAppend(t *testing.T) {
	for kind := row.Unspecified; kind <= row.ValExpr; kind++ {
		for _, n := range []int64{0, 8, -8, math.MaxInt64, math.MinInt64} {
			for _, reg := range []arch.Reg{0, 7, 95} {
				r := row.Row{CFA: row.Rule{Kind: kind, N: n, Reg: reg}}
				want := r.CFA.String()
				if kind == row.Unspecified {
					want = "-"
				}
				if got := string(appendRule(nil, &r.CFA)); got != want {
					t.Errorf("%+v: %s, want %s", r.CFA, got, want)
				}
				if got := string(appendCFA(nil, arch.AMD64, &r)); got != r.CFAString(arch.AMD64) {
					t.Errorf("%+v: %s, want %s", r.CFA, got, r.CFAString(arch.AMD64))
				}
			}
		}
	}
}
