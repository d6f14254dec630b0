package expr

import (
	"fmt"
	"strings"

	"dbg/arch"
)

// Listing formats an expression as binutils' readelf does: "DW_OP_breg7 (rsp): 8; DW_OP_deref".
// name returns the name of a register for its DWARF number, or "".
func Listing(code []byte, a *arch.Arch, name func(n uint64) string) string {
	var s strings.Builder
	r := operands(code, a)
	named := func(n uint64) string {
		if name := name(n); name != "" {
			return " (" + name + ")"
		}
		return ""
	}
	for r.More() {
		if s.Len() > 0 {
			s.WriteString("; ")
		}
		if s.Len() > 1<<16 {
			return s.String() + "..."
		}
		op := r.U8()
		s.WriteString(opName(op))
		switch {
		case op >= opLit0 && op < opReg0:
		case op >= opReg0 && op < opBreg0:
			s.WriteString(named(uint64(op - opReg0)))
		case op >= opBreg0 && op < opRegx:
			fmt.Fprintf(&s, "%s: %d", named(uint64(op-opBreg0)), r.SLEB())
		case op == opRegx:
			n := r.ULEB()
			fmt.Fprintf(&s, ": %d%s", n, named(n))
		case op == opBregx:
			n := r.ULEB()
			fmt.Fprintf(&s, ": %d%s %d", n, named(n), r.SLEB())
		case op == opConst8u: // in two halves
			fmt.Fprintf(&s, ": %d %d", r.Uint(4), r.Uint(4))
		case op == opAddr:
			fmt.Fprintf(&s, ": %x", r.Uint(a.PtrSize))
		case ops[op].name == "":
			return s.String() + " (unknown)"
		default:
			for i := range len(ops[op].operands) {
				if i == 0 {
					s.WriteByte(':')
				}
				operand(&s, ops[op].operands[i], &r, a, 0)
			}
		}
		if r.Err() != nil {
			return s.String() + " (" + r.Err().Error() + ")"
		}
	}
	return s.String()
}
