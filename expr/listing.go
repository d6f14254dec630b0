package expr

import (
	"fmt"
	"strings"

	"dbg/arch"
)

// Listing writes an expression as binutils' readelf does: "DW_OP_breg7 (rsp): 8; DW_OP_deref".
// name gives the name of a register by its DWARF number, "" if it has none.
func Listing(code []byte, a *arch.Arch, name func(n uint64) string) string {
	var s strings.Builder
	r := reader{code: code}
	named := func(n uint64) string {
		if name := name(n); name != "" {
			return " (" + name + ")"
		}
		return ""
	}
	for r.more() {
		if s.Len() > 0 {
			s.WriteString("; ")
		}
		if s.Len() > 1<<16 {
			return s.String() + "..."
		}
		op := r.u8()
		s.WriteString(opName(op))
		switch {
		case op >= opLit0 && op < opReg0:
		case op >= opReg0 && op < opBreg0:
			s.WriteString(named(uint64(op - opReg0)))
		case op >= opBreg0 && op < opRegx:
			fmt.Fprintf(&s, "%s: %d", named(uint64(op-opBreg0)), r.sleb())
		case op == opRegx:
			n := r.uleb()
			fmt.Fprintf(&s, ": %d%s", n, named(n))
		case op == opBregx:
			n := r.uleb()
			fmt.Fprintf(&s, ": %d%s %d", n, named(n), r.sleb())
		case op == opConst8u: // in two halves
			fmt.Fprintf(&s, ": %d %d", r.uint(4, a.ByteOrder), r.uint(4, a.ByteOrder))
		case op == opAddr:
			fmt.Fprintf(&s, ": %x", r.uint(a.PtrSize, a.ByteOrder))
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
		if r.err != nil {
			return s.String() + " (" + r.err.Error() + ")"
		}
	}
	return s.String()
}
