package expr

import (
	"fmt"
	"strings"

	"dbg/arch"
)

// Dump writes an expression for people: "breg7 (rsp) +8; deref; plus_uconst 16".
// What can't be decoded ends it with the reason. a may be nil; addresses are
// then of 8 bytes.
func Dump(code []byte, a *arch.Arch) string { return dump(code, a, 0) }

func dump(code []byte, a *arch.Arch, depth int) string {
	if a == nil {
		a = &arch.Arch{PtrSize: 8, ByteOrder: arch.AMD64.ByteOrder}
	}
	var s strings.Builder
	r := reader{code: code}
	for r.more() {
		if s.Len() > 0 {
			s.WriteString("; ")
		}
		if s.Len() > 1<<16 {
			return s.String() + "..."
		}
		op := r.u8()
		s.WriteString(strings.TrimPrefix(opName(op), "DW_OP_"))
		operands := ops[op].operands
		switch {
		case op >= opReg0 && op < opBreg0:
			regName(&s, a, uint64(op-opReg0))
		case op >= opBreg0 && op < opRegx:
			regName(&s, a, uint64(op-opBreg0))
			fmt.Fprintf(&s, " %+d", r.sleb())
		case ops[op].name == "" && !(op >= opLit0 && op < opReg0):
			return s.String() + " (unknown)"
		}
		for i := range len(operands) {
			operand(&s, operands[i], &r, a, depth)
		}
		if r.err != nil {
			return s.String() + " (" + r.err.Error() + ")"
		}
	}
	return s.String()
}

func regName(s *strings.Builder, a *arch.Arch, n uint64) {
	if reg, ok := a.FromDWARF(n); ok && a.RegName(reg) != "" {
		fmt.Fprintf(s, " (%s)", a.RegName(reg))
	}
}

// operand writes one operand; see opInfo.
func operand(s *strings.Builder, kind byte, r *reader, a *arch.Arch, depth int) {
	o := a.ByteOrder
	switch kind {
	case 'a':
		fmt.Fprintf(s, " 0x%x", r.uint(a.PtrSize, o))
	case '1', '2', '4', '8':
		fmt.Fprintf(s, " %d", r.uint(int(kind-'0'), o))
	case 'b':
		fmt.Fprintf(s, " %d", r.sint(1, o))
	case 'h':
		fmt.Fprintf(s, " %d", r.sint(2, o))
	case 'w':
		fmt.Fprintf(s, " %d", r.sint(4, o))
	case 'q':
		fmt.Fprintf(s, " %d", r.sint(8, o))
	case 'u':
		fmt.Fprintf(s, " %d", r.uleb())
	case 's':
		fmt.Fprintf(s, " %d", r.sleb())
	case 'o':
		fmt.Fprintf(s, " <0x%x>", r.uint(4, o))
	case 'j':
		fmt.Fprintf(s, " %+d", r.sint(2, o))
	case 'B':
		fmt.Fprintf(s, " [% x]", r.block(r.uleb()))
	case 'C':
		fmt.Fprintf(s, " [% x]", r.block(uint64(r.u8())))
	case 'p':
		enc := r.u8()
		fmt.Fprintf(s, " 0x%x (encoding 0x%02x)", r.encoded(enc, a.PtrSize, o), enc)
	case 'E':
		b := r.block(r.uleb())
		if depth >= maxCalls {
			s.WriteString(" (...)")
			return
		}
		fmt.Fprintf(s, " (%s)", dump(b, a, depth+1))
	}
}
