package eval

import "dbg/arch"

// opcode is an operation of a program. Programs use a stack of 64-bit numbers: an integer is
// extended from its type, a float is a float64.
type opcode uint8

const (
	opConst        opcode = iota // push n
	opReg                        // push reg + n
	opLoadReg                    // push the number of size bytes at reg + n, extended
	opLoad                       // replace the top by the number of size bytes at top + n, extended
	opAddConst                   // top += n
	opAdjust                     // top += n, unless top is 0: a null pointer stays one
	opShiftDown                  // top >>= n
	opExtend                     // take the low bits of the top
	opDup                        // push the top again
	opOver                       // push the entry below the top
	opDrop                       // remove the top
	opSwap                       // exchange the two topmost entries
	opIndex                      // pop i; top += i*n
	opIndexArray                 // the same, but an i out of all bounds fails
	opCheck                      // pop a count; fail if the index below is not under it, or if the count is over n
	opJump                       // go to n
	opJumpZero                   // pop; go to n if it was 0
	opAnd2                       // go to n if the top is 0, else pop it
	opOr2                        // go to n if the top is not 0, else pop it
	opNonzero                    // top = top != 0
	opZero                       // top = top == 0
	opFloatNonzero               // the same of a float: true of a NaN
	opNeg
	opNot
	opFloatNeg
	opIntToFloat
	opFloatToInt
	opSingle // a float's 4 bytes to a float64
	opRound  // a float64 to what a float can hold
	opFits   // fail unless the top is a number of so many bits
	opFail   // ask the full evaluator

	// Operations of two integers.
	opAdd
	opSub
	opMul
	opAnd
	opOr
	opXor
	opShl
	opShr
	opDiv
	opMod
	opEq
	opNe
	opLt
	opGt
	opLe
	opGe

	// Operations of two floats, to the end.
	opFloatAdd
	opFloatSub
	opFloatMul
	opFloatDiv
	opFloatEq
	opFloatNe
	opFloatLt
	opFloatGt
	opFloatLe
	opFloatGe
)

var integerOps = map[string]opcode{
	"+": opAdd, "-": opSub, "*": opMul, "/": opDiv, "%": opMod, "&": opAnd, "|": opOr, "^": opXor, "<<": opShl, ">>": opShr,
	"==": opEq, "!=": opNe, "<": opLt, ">": opGt, "<=": opLe, ">=": opGe,
}

var floatOps = map[string]opcode{
	"+": opFloatAdd, "-": opFloatSub, "*": opFloatMul, "/": opFloatDiv,
	"==": opFloatEq, "!=": opFloatNe, "<": opFloatLt, ">": opFloatGt, "<=": opFloatLe, ">=": opFloatGe,
}

// instruction is one step of a program.
type instruction struct {
	op     opcode
	size   uint8 // of a load: bytes, 1 to 8
	bits   uint8 // of the result, 1 to 64
	signed bool
	reg    arch.Reg
	n      int64
}

// emit adds an instruction, merged with the last one where that is possible.
func (k *compiler) emit(in instruction) {
	k.depth += effect(in.op)
	k.deepest = max(k.deepest, k.depth)
	if last := len(k.code) - 1; last >= k.barrier && k.merge(&k.code[last], in) {
		return
	}
	k.code = append(k.code, in)
}

// merge combines the last instruction with the next one, if possible.
func (k *compiler) merge(last *instruction, in instruction) bool {
	switch in.op {
	case opDrop:
		if last.op == opConst || last.op == opReg {
			k.code = k.code[:len(k.code)-1]
			return true
		}
	case opAddConst:
		if in.n == 0 {
			return true
		}
		if last.op == opConst || last.op == opReg || last.op == opAddConst {
			last.n += in.n
			return true
		}
	case opLoad:
		if last.op == opReg {
			in.op, in.reg, in.n = opLoadReg, last.reg, in.n+last.n
			*last = in
			return true
		}
		if last.op == opAddConst {
			in.n += last.n
			*last = in
			return true
		}
	case opIndex, opIndexArray:
		if last.op == opConst && (in.op == opIndex || last.n <= (1<<47)/in.n && last.n >= -(1<<47)/in.n) {
			n := last.n * in.n
			k.code = k.code[:len(k.code)-1]
			k.emit(instruction{op: opAddConst, n: n})
			return true
		}
	case opExtend:
		if in.bits == 64 {
			return true
		}
		if last.op == opConst {
			last.n = int64(extend(uint64(last.n), in.bits, in.signed))
			return true
		}
		return (last.op == opLoad || last.op == opLoadReg) && last.bits == in.bits && last.signed == in.signed
	case opNonzero:
		switch last.op {
		case opEq, opNe, opLt, opGt, opLe, opGe, opZero, opNonzero, opFloatNonzero,
			opFloatEq, opFloatNe, opFloatLt, opFloatGt, opFloatLe, opFloatGe:
			return true
		}
	}
	return false
}

// effect returns the change of the stack's depth by an operation.
func effect(op opcode) int {
	switch op {
	case opConst, opReg, opLoadReg, opDup, opOver:
		return 1
	case opDrop, opIndex, opIndexArray, opCheck, opJumpZero, opAnd2, opOr2:
		return -1
	}
	if op >= opAdd {
		return -1
	}
	return 0
}

// label marks a jump target: instructions are not merged across it.
func (k *compiler) label() int {
	k.barrier = len(k.code)
	return len(k.code)
}

// jump emits a jump whose target land sets.
func (k *compiler) jump(op opcode) int {
	k.emit(instruction{op: op})
	return len(k.code) - 1
}

func (k *compiler) land(jump int) { k.code[jump].n = int64(k.label()) }

// mark is a state of the code for rollback.
type mark struct{ length, depth, barrier int }

func (k *compiler) mark() mark { return mark{len(k.code), k.depth, k.barrier} }

// rollback removes the instructions that were emitted since the mark.
func (k *compiler) rollback(m mark) {
	k.code, k.depth, k.barrier = k.code[:m.length], m.depth, m.barrier
}

// fails reports whether the code since the mark can fail: it reads memory, or divides.
func (k *compiler) fails(m mark) bool {
	for _, in := range k.code[m.length:] {
		switch in.op {
		case opLoad, opLoadReg, opIndexArray, opCheck, opFits, opDiv, opMod:
			return true
		}
	}
	return false
}
