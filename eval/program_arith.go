package eval

import (
	"errors"
	"math/bits"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

func isNotCompiled(err error) bool { return errors.Is(err, ErrNotCompiled) }

// binary compiles a binary operator.
func (k *compiler) binary(n *node) (operand, error) {
	m := k.mark()
	a, b, err := k.operands(n.a, n.b)
	if err != nil {
		return a, err
	}
	if a.typ().IsDynamic() || b.typ().IsDynamic() {
		return a, notCompiled("an array of variable length")
	}
	if k.viewKnows(a.typ(), "operator"+n.op, b.one()) {
		return a, notCompiled("an operator of a view")
	}
	result, err := k.resultOf(n.op, &a, &b)
	if err != nil {
		return a, err
	}
	if a.fixed() && b.fixed() {
		if v, err := k.types.operate(n.op, a.v, b.v); err == nil {
			if isComparison(n.op) {
				v, _ = k.types.spoken(v, nil)
			}
			k.rollback(m)
			return constant(v), nil
		} // a division by zero, which fails when it is reached
	}
	for _, o := range []*operand{&a, &b} {
		if yes, err := o.isScalar(); err != nil {
			return a, err
		} else if !yes {
			return a, notCompiled("an operand without a number")
		}
	}
	sa, sb := a.one(), b.one()
	switch pa, pb := stride(sa), stride(sb); {
	case pa != nil || pb != nil:
		err = k.pointers(n.op, &a, &b, pa, pb, result.Type)
	case (nativeTypeLang(a.typ()) != lang.Unknown) != (nativeTypeLang(b.typ()) != lang.Unknown) && isFloat(&a) && isFloat(&b) &&
		sizeOf(a.typ()) != sizeOf(b.typ()):
		err = notCompiled("a constant that takes its type from the other operand")
	case isFloat(&a) || isFloat(&b):
		err = k.floats(n.op, &a, &b, result.Type)
	default:
		err = k.wholeNumbers(n.op, &a, &b, result.Type)
	}
	return stacked(result.Type), err
}

func isFloat(o *operand) bool { return kindOf(o.typ()) == types.Float }

func isComparison(op string) bool {
	switch op {
	case "==", "!=", "<", ">", "<=", ">=":
		return true
	}
	return false
}

// resultOf returns the type of a op b, or an error. Each number is represented by 1.
func (k *compiler) resultOf(op string, a, b *operand) (Value, error) {
	v, err := k.types.operate(op, a.one(), b.one())
	if isComparison(op) {
		return k.types.spoken(v, err)
	}
	return v, err
}

// operands compiles both sides. An unknown name may be an enumerator of the other side's type.
func (k *compiler) operands(x, y *node) (a, b operand, err error) {
	m := k.mark()
	a, err = k.operand(x)
	if err == nil {
		m = k.mark()
		b, err = k.operand(y)
		if v, ok := nameOfEnum(y, Value{Type: a.typ()}, err); ok {
			k.rollback(m)
			b, err = k.read(constant(v))
		}
		return a, b, err
	}
	if x.op == "name" && !isNotCompiled(err) && (y.op != "name" || notFound(err)) {
		k.rollback(m)
		if b, e2 := k.operand(y); e2 == nil {
			v, ok := nameOfEnum(x, Value{Type: b.typ()}, err)
			k.rollback(m)
			if ok {
				if a, err = k.read(constant(v)); err == nil {
					b, err = k.operand(y)
				}
				return a, b, err
			}
		}
	}
	return a, b, err
}

// wholeNumbers compiles an operation of two integers.
func (k *compiler) wholeNumbers(op string, a, b *operand, t *types.Type) error {
	sa, sb := a.stand(), b.stand()
	x, err := numberOf(sa)
	if err != nil {
		return err
	}
	y, err := numberOf(sb)
	if err != nil {
		return err
	}
	l := k.types.nativeLang(x, y)
	if l == lang.Unknown {
		k.integers(op, x, y)
		return nil
	}
	if isComparison(op) {
		return k.compareExact(op, x, y)
	}
	in := instruction{op: integerOps[op], bits: uint8(sizeOf(t) * 8), signed: isSigned(t)}
	if in.op == opConst {
		return notCompiled("the operator " + op)
	}
	if op == "<<" || op == ">>" {
		// The evaluator has the words for a count that the type does not have.
		k.emit(instruction{op: opFits, bits: uint8(bits.Len64(uint64(in.bits)) - 1)})
		k.emit(in)
		return nil
	}
	_, mixed, _ := nativeType(l, op, x, y)
	if fit, check := fitCheck(y, t); !fit {
		k.emit(check)
	}
	if fit, check := fitCheck(x, t); !fit {
		k.emit(instruction{op: opSwap})
		k.emit(check)
		k.emit(instruction{op: opSwap})
	}
	if (l == lang.Rust || mixed) && op != "&" && op != "|" && op != "^" {
		in.n = 1 // an overflow is an error
	}
	k.emit(in)
	return nil
}

// intToFloat converts an integer to a float of 64 or 32 bits, rounded once.
func intToFloat(signed, single bool) instruction {
	in := instruction{op: opIntToFloat, signed: signed, bits: 64}
	if single {
		in.bits = 32
	}
	return in
}

// fitCheck returns the instruction that fails if an integer type does not have a number, or true if the
// type has all numbers of that kind.
func fitCheck(n number, t *types.Type) (always bool, check instruction) {
	width, signed := uint8(sizeOf(t)*8), isSigned(t)
	size := sizeOf(n.typ)
	switch {
	case n.signed == signed:
		return size <= sizeOf(t), instruction{op: opFits, bits: width, signed: signed}
	case signed:
		return size < sizeOf(t), instruction{op: opFits, bits: width - 1}
	}
	return false, instruction{op: opFits, bits: min(width, 63)}
}

// compareExact compiles a comparison of two integers by their values, whatever their types are.
func (k *compiler) compareExact(op string, x, y number) error {
	wide := func(n number) bool { return !n.signed && sizeOf(n.typ) == 8 && n.bits == 0 }
	// Against an unsigned number of 64 bits, a negative one needs the evaluator.
	positive := instruction{op: opFits, bits: 63}
	switch {
	case wide(x) && y.signed:
		k.emit(positive)
	case wide(y) && x.signed:
		k.emit(instruction{op: opSwap})
		k.emit(positive)
		k.emit(instruction{op: opSwap})
	}
	k.emit(instruction{op: integerOps[op], bits: 64, signed: !wide(x) && !wide(y)})
	return nil
}

// integers compiles an operation as C does it, in the promoted type.
func (k *compiler) integers(op string, x, y number) {
	t := promoted(x, y)
	in := instruction{op: integerOps[op]}
	if op == "<<" || op == ">>" {
		t = promoted(x, x)
	}
	in.bits, in.signed = uint8(t.Size*8), t.Kind == types.Int
	k.emit(in)
}

// floats compiles an operation with at least one floating point number. t is the type of the
// result.
func (k *compiler) floats(op string, a, b *operand, t *types.Type) error {
	// An integer becomes a float of the common type before the operation.
	single := sizeOf(commonFloat(number{isFloat: isFloat(a), typ: a.typ()}, number{isFloat: isFloat(b), typ: b.typ()})) < 8
	toFloat := func(o *operand) {
		k.emit(intToFloat(isSigned(o.typ()), single))
	}
	if !isFloat(b) {
		toFloat(b)
	}
	if !isFloat(a) {
		k.emit(instruction{op: opSwap})
		toFloat(a)
		k.emit(instruction{op: opSwap})
	}
	k.emit(instruction{op: floatOps[op]})
	if isComparison(op) {
		return nil
	}
	return k.round(t)
}

// round compiles the rounding to a floating point type.
func (k *compiler) round(t *types.Type) error {
	switch sizeOf(t) {
	case 4:
		k.emit(instruction{op: opRound})
	case 8:
	default:
		return notCompiled("a floating point format")
	}
	return nil
}

// pointers compiles an operation with at least one pointer.
func (k *compiler) pointers(op string, a, b *operand, pa, pb, t *types.Type) error {
	if isComparison(op) {
		if pa != nil && pb != nil {
			if f, t := elemOf(pa), elemOf(pb); isStruct(f) && isStruct(t) && !sameClass(f, t) && (derives(f, t, 0) || derives(t, f, 0)) {
				return notCompiled("pointers to different classes")
			}
		}
		if isFloat(b) {
			k.emit(instruction{op: opFloatToInt})
		}
		if isFloat(a) {
			k.emit(instruction{op: opSwap})
			k.emit(instruction{op: opFloatToInt})
			k.emit(instruction{op: opSwap})
		}
		k.emit(instruction{op: integerOps[op], bits: 64})
		return nil
	}
	p := pa
	if pa == nil {
		p = pb
		k.emit(instruction{op: opSwap})
	}
	size := sizeOf(elemOf(p))
	if e := kindOf(elemOf(p)); e == types.Void || e == types.Func {
		size = 1
	}
	if pa != nil && pb != nil {
		k.emit(instruction{op: opSub, bits: 64})
		k.emit(instruction{op: opConst, n: size})
		k.emit(instruction{op: opDiv, bits: 64, signed: true})
		return nil
	}
	if op == "-" {
		size = -size
	}
	k.emit(instruction{op: opIndex, n: size})
	return k.fit(t)
}

// fit converts the number on the stack to an integral type.
func (k *compiler) fit(t *types.Type) error {
	size := sizeOf(t)
	if size < 1 || size > 8 {
		return notCompiled("a value of this size")
	}
	k.emit(instruction{op: opExtend, bits: uint8(size * 8), signed: isSigned(t)})
	return nil
}

// unary compiles -v, +v, !v and ~v.
func (k *compiler) unary(n *node) (operand, error) {
	m := k.mark()
	o, err := k.operand(n.a)
	if err != nil {
		return o, err
	}
	of := func(v Value) (Value, error) {
		if v, done, err := k.types.nativeUnary(n.op, v); done {
			return v, err
		}
		if n.op == "u!" {
			return k.types.spoken(unary(n.op, v))
		}
		return unary(n.op, v)
	}
	result, err := of(o.stand())
	if err != nil {
		return o, err
	}
	if o.fixed() {
		k.rollback(m)
		return constant(result), nil
	}
	if yes, err := o.isScalar(); err != nil || !yes {
		return o, notCompiled("an operand without a number")
	}
	t := result.Type
	if x, err := numberOf(o.stand()); err == nil && isIntegral(o.typ()) {
		if l := k.types.nativeLang(x, x); l != lang.Unknown && k.nativeUnary(l, n.op, t) {
			return stacked(t), nil
		}
	}
	in := instruction{bits: uint8(sizeOf(t) * 8), signed: isSigned(t)}
	switch {
	case n.op == "u!":
		if isFloat(&o) {
			k.emit(instruction{op: opFloatNonzero})
		}
		k.emit(instruction{op: opZero})
		return stacked(t), nil
	case isFloat(&o):
		if n.op == "u-" {
			k.emit(instruction{op: opFloatNeg})
		}
		return stacked(t), k.round(t)
	case n.op == "u-":
		in.op = opNeg
	case n.op == "u~":
		in.op = opNot
	default:
		in.op = opExtend
	}
	k.emit(in)
	return stacked(t), nil
}

// nativeUnary compiles an operation of an integer of Rust or Go: see evaluator.nativeUnary. It returns
// false if the rules of C hold.
func (k *compiler) nativeUnary(l lang.Lang, op string, t *types.Type) bool {
	in := instruction{bits: uint8(sizeOf(t) * 8), signed: isSigned(t)}
	switch {
	case op == "u-" && l == lang.Rust:
		k.emit(instruction{op: opConst})
		k.emit(instruction{op: opSwap})
		in.op, in.n = opSub, 1 // an overflow is an error
	case op == "u-":
		in.op = opNeg
	case l == lang.Rust && op == "u!", l == lang.Go && op == "u^", op == "u~":
		in.op = opNot
	default:
		return false
	}
	k.emit(in)
	return true
}

// logical compiles && and ||.
func (k *compiler) logical(n *node) (operand, error) {
	a, err := k.operand(n.a)
	if err != nil {
		return a, err
	}
	if err := k.isTrue(a, n.op); err != nil {
		return a, err
	}
	k.emit(instruction{op: opNonzero})
	end := k.jump(map[string]opcode{"&&": opAnd2, "||": opOr2}[n.op])
	if err := k.truth(n.b, n.op); err != nil {
		return a, err
	}
	k.emit(instruction{op: opNonzero})
	k.land(end)
	v, err := k.types.spoken(truthValue(true, a.typ()), nil)
	return stacked(v.Type), err
}
