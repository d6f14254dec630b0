package row_test

import (
	"fmt"
	"testing"

	"dbg/arch"
	"dbg/row"
)

// TestForbiddenOperations: DWARF 5, section 6.4.2 excludes operations that need a unit, an object or the CFA
// itself from expressions in call frame information. A register with such a rule is unknown, and a CFA with one
// is an error.
func TestForbiddenOperations(t *testing.T) {
	for name, code := range map[string][]byte{
		"DW_OP_addrx":               {0xa1, 0},
		"DW_OP_call2":               {0x98, 0, 0},
		"DW_OP_call4":               {0x99, 0, 0, 0, 0},
		"DW_OP_call_ref":            {0x9a, 0, 0, 0, 0},
		"DW_OP_const_type":          {0xa4, 0, 1, 5},
		"DW_OP_constx":              {0xa2, 0},
		"DW_OP_convert":             {0xa8, 1},
		"DW_OP_deref_type":          {0xa6, 8, 1},
		"DW_OP_regval_type":         {0xa5, 0, 1},
		"DW_OP_reinterpret":         {0xa9, 1},
		"DW_OP_push_object_address": {0x97},
		"DW_OP_call_frame_cfa":      {0x9c},
	} {
		for _, kind := range []row.Kind{row.AtExpr, row.ValExpr} {
			t.Run(fmt.Sprint(name, " ", kind), func(t *testing.T) {
				regs := registers(arch.AMD64)
				rule := row.Rule{Kind: kind, Expr: code}
				if _, _, err := apply(arch.AMD64, base(row.RegRule{Reg: arch.RBX, Rule: rule}), regs); err != nil {
					t.Fatal(err)
				}
				if v, known := regs.Get(arch.RBX); known {
					t.Errorf("rbx is 0x%x", v)
				}
				r := base()
				r.CFA = rule
				if _, _, err := apply(arch.AMD64, r, registers(arch.AMD64)); err == nil {
					t.Error("the CFA is known")
				}
			})
		}
	}
}
