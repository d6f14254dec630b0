package expr

import (
	"fmt"
	"strings"

	"dbg/arch"
	"dbg/internal/bytecursor"
)

// Dump formats an expression for reading: "breg7 (rsp) +8; deref; plus_uconst 16". At the first
// undecodable operation it ends with the reason. If a is nil, addresses have 8 bytes.
func Dump(code []byte, a *arch.Arch) string { return dump(code, a, 0) }

func dump(code []byte, a *arch.Arch, depth int) string {
	if a == nil {
		a = &arch.Arch{PtrSize: 8, ByteOrder: arch.AMD64.ByteOrder}
	}
	var s strings.Builder
	r := operands(code, a)
	for r.More() {
		if s.Len() > 0 {
			s.WriteString("; ")
		}
		if s.Len() > 1<<16 {
			return s.String() + "..."
		}
		op := r.U8()
		s.WriteString(strings.TrimPrefix(opName(op), "DW_OP_"))
		operands := ops[op].operands
		switch {
		case op >= opReg0 && op < opBreg0:
			regName(&s, a, uint64(op-opReg0))
		case op >= opBreg0 && op < opRegx:
			regName(&s, a, uint64(op-opBreg0))
			fmt.Fprintf(&s, " %+d", r.SLEB())
		case ops[op].name == "" && !(op >= opLit0 && op < opReg0):
			return s.String() + " (unknown)"
		}
		for i := range len(operands) {
			operand(&s, operands[i], &r, a, depth)
		}
		if r.Err() != nil {
			return s.String() + " (" + r.Err().Error() + ")"
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
func operand(s *strings.Builder, kind byte, r *bytecursor.Cursor, a *arch.Arch, depth int) {
	switch kind {
	case 'a':
		fmt.Fprintf(s, " 0x%x", r.Uint(a.PtrSize))
	case '1', '2', '4', '8':
		fmt.Fprintf(s, " %d", r.Uint(int(kind-'0')))
	case 'b':
		fmt.Fprintf(s, " %d", r.Int(1))
	case 'h':
		fmt.Fprintf(s, " %d", r.Int(2))
	case 'w':
		fmt.Fprintf(s, " %d", r.Int(4))
	case 'q':
		fmt.Fprintf(s, " %d", r.Int(8))
	case 'u':
		fmt.Fprintf(s, " %d", r.ULEB())
	case 's':
		fmt.Fprintf(s, " %d", r.SLEB())
	case 'o':
		fmt.Fprintf(s, " <0x%x>", r.Uint(4))
	case 'j':
		fmt.Fprintf(s, " %+d", r.Int(2))
	case 'B':
		fmt.Fprintf(s, " [% x]", r.Block(r.ULEB()))
	case 'C':
		fmt.Fprintf(s, " [% x]", r.Block(uint64(r.U8())))
	case 'p':
		enc := r.U8()
		fmt.Fprintf(s, " 0x%x (encoding 0x%02x)", encoded(r, enc, a.PtrSize), enc)
	case 'E':
		b := r.Block(r.ULEB())
		if depth >= maxCalls {
			s.WriteString(" (...)")
			return
		}
		fmt.Fprintf(s, " (%s)", dump(b, a, depth+1))
	}
}
