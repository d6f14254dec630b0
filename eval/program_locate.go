package eval

import (
	"slices"

	"dbg/arch"
	"dbg/expr"
	"dbg/symbols"
)

// variable compiles the location of a variable, as ReadVariable finds it.
func (k *compiler) variable(v *symbols.Variable, bias uint64) (operand, error) {
	out := Value{Type: v.Type, Name: v.Name}
	if v.Type == nil {
		return operand{}, notCompiled(v.Name + " has no type")
	}
	if v.Type.IsDynamic() {
		return k.lose(out, "the type of "+v.Name+" depends on the program")
	}
	size := sizeOf(v.Type)
	at := v.Locate(k.c.PC)
	switch {
	case at.Err != nil:
		return k.lose(out, "the location of "+v.Name+" can't be read")
	case at.Const != nil:
		out.Bytes = at.Const
		if size >= 0 && int64(len(at.Const)) != size {
			out.Bytes = make([]byte, min(size, maxFetch))
			copy(out.Bytes, at.Const)
		}
		return constant(out), nil
	case at.Expr == nil:
		return k.lose(out, v.Name+" is optimized out")
	}
	var unit expr.Context
	if at.Fill != nil {
		at.Fill(&unit)
	}
	c := &expr.LinearContext{Arch: k.c.Arch, Bias: bias, FrameBase: at.FrameBase, CFA: k.c.CFA, AddrIndex: unit.AddrIndex}
	l, ok := expr.Linearize(at.Expr, c)
	if !ok {
		if pieces, ok := expr.LinearizePieces(at.Expr, c); ok && size > 0 && size <= maxKeep {
			return operand{at: inPieces, v: out, pieces: pieces}, nil
		}
		return k.lose(out, "the location of "+v.Name)
	}
	return k.located(l, out, size)
}

// located emits the code that reads a value at a location.
func (k *compiler) located(l expr.Linear, v Value, size int64) (operand, error) {
	switch l.Kind {
	case expr.InMemory:
		return operand{at: inMemory, v: v}, k.linear(l.Steps)
	case expr.InRegister:
		if size <= 0 || size > 8 || !k.general(l.Reg) {
			break
		}
		v.InReg, v.Reg = true, l.Reg
		k.emit(instruction{op: opReg, reg: l.Reg})
		return operand{at: inBits, v: v}, nil
	case expr.Implicit:
		if l.Bytes != nil && size > 0 && int64(len(l.Bytes)) >= size {
			v.Bytes = l.Bytes[:size]
			return constant(v), nil
		}
		if l.Bytes != nil || size <= 0 || size > 8 {
			break
		}
		return operand{at: inBits, v: v}, k.linear(l.Steps)
	}
	return k.lose(v, v.Name+" is in no simple place")
}

// general reports whether a thread's registers hold the whole of a register.
func (k *compiler) general(r arch.Reg) bool { return slices.Contains(k.c.Arch.General, r) }

var dwarfOps = map[byte]opcode{
	expr.OpAnd: opAnd, expr.OpOr: opOr, expr.OpXor: opXor, expr.OpPlus: opAdd, expr.OpMinus: opSub, expr.OpMul: opMul,
	expr.OpShl: opShl, expr.OpShr: opShr, expr.OpShra: opShr, expr.OpNeg: opNeg, expr.OpNot: opNot,
}

// linear emits the steps of a location.
func (k *compiler) linear(steps []expr.LinearStep) error {
	for _, s := range steps {
		in := instruction{n: s.N, bits: 64}
		switch s.Do {
		case expr.LinearConst:
			in.op = opConst
		case expr.LinearRegister:
			if in.op, in.reg = opReg, s.Reg; !k.general(s.Reg) {
				return notCompiled("a register")
			}
		case expr.LinearAdd:
			in.op = opAddConst
		case expr.LinearLoad:
			in = instruction{op: opLoad, size: uint8(s.N), bits: uint8(s.N * 8)}
		case expr.LinearUnary, expr.LinearBinary:
			in.op, in.signed = dwarfOps[s.Op], s.Op == expr.OpShra
		case expr.LinearDup:
			in.op = opDup
		case expr.LinearDrop:
			in.op = opDrop
		case expr.LinearOver:
			in.op = opOver
		case expr.LinearSwap:
			in.op = opSwap
		}
		k.emit(in)
	}
	return nil
}
