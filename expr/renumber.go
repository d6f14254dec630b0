package expr

import "dbg/internal/bytecursor"

// Renumber returns a copy of an expression with other register numbers: n becomes to(n). Addresses
// have ptr bytes. It returns false if the expression is undecodable, or if a new number needs more
// bytes than the old one.
func Renumber(code []byte, ptr int, to func(n uint64) uint64) ([]byte, bool) {
	out := append([]byte(nil), code...)
	return out, renumber(out, ptr, to, 0)
}

func renumber(code []byte, ptr int, to func(n uint64) uint64, depth int) bool {
	r := bytecursor.Cursor{Data: code}
	for r.More() {
		at := r.Pos
		op := r.U8()
		operands := ops[op].operands
		switch {
		case op >= opLit0 && op < opReg0:
		case op >= opReg0 && op < opBreg0:
			n := to(uint64(op - opReg0))
			if n >= 32 {
				return false
			}
			code[at] = opReg0 + byte(n)
		case op >= opBreg0 && op < opRegx:
			n := to(uint64(op - opBreg0))
			if n >= 32 {
				return false
			}
			code[at] = opBreg0 + byte(n)
			r.SLEB()
		case op == opRegx, op == opBregx, op == opRegvalType, op == opGNURegvalType:
			at := r.Pos
			n := to(r.ULEB())
			if r.Err() != nil || n >= 128 {
				return false
			}
			for i := at; i < r.Pos; i++ { // the same number of bytes
				code[i] = code[i]&0x80 | byte(n)
				n = 0
			}
			operands = operands[1:]
		case ops[op].name == "":
			return false
		}
		for i := range len(operands) {
			if !renumberOperand(operands[i], &r, ptr, to, depth) {
				return false
			}
		}
	}
	return r.Err() == nil
}

// renumberOperand skips one operand, or renumbers a nested expression; see opInfo.
func renumberOperand(kind byte, r *bytecursor.Cursor, ptr int, to func(n uint64) uint64, depth int) bool {
	switch kind {
	case 'a':
		r.Block(uint64(ptr))
	case '1', 'b':
		r.Block(1)
	case '2', 'h', 'j':
		r.Block(2)
	case '4', 'w', 'o':
		r.Block(4)
	case '8', 'q':
		r.Block(8)
	case 'u':
		r.ULEB()
	case 's':
		r.SLEB()
	case 'B':
		r.Block(r.ULEB())
	case 'C':
		r.Block(uint64(r.U8()))
	case 'E':
		b := r.Block(r.ULEB())
		return depth < maxCalls && renumber(b, ptr, to, depth+1)
	default: // 'p': its length depends on the encoding byte
		return false
	}
	return r.Err() == nil
}
