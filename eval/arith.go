package eval

import (
	"errors"
	"math"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// binary evaluates a binary operator.
func (e *evaluator) binary(n *node) (Value, error) {
	a, b, err := e.operands(n.a, n.b)
	if err != nil {
		return Value{}, err
	}
	if v, ok, err := e.viewMethod(a, "operator"+n.op, []Value{b}); ok {
		return v, err
	}
	if n.op == "==" || n.op == "!=" {
		if v, ok, err := e.sameText(n.op, a, b); ok {
			return v, err
		}
		if v, ok, err := e.isNil(n.op, a, b); ok {
			return v, err
		}
	}
	return e.operate(n.op, a, b)
}

// operands evaluates both sides. An unknown name may be an enumerator of the other side's type:
// state == READY.
func (e *evaluator) operands(x, y *node) (a, b Value, err error) {
	a, err = e.operand(x)
	if err == nil {
		b, err = e.operand(y)
		if v, ok := nameOfEnum(y, a, err); ok {
			return a, v, nil
		}
		return a, b, err
	}
	if x.op == "name" && y.op != "name" || x.op == "name" && notFound(err) {
		if b, e2 := e.operand(y); e2 == nil {
			if v, ok := nameOfEnum(x, b, err); ok {
				return v, b, nil
			}
		}
	}
	return a, b, err
}

func notFound(err error) bool {
	var missing *NotFoundError
	return errors.As(err, &missing)
}

func nameOfEnum(n *node, other Value, err error) (Value, bool) {
	if n.op != "name" || !notFound(err) {
		return Value{}, false
	}
	return enumerator(other.Type, n.text)
}

// operate computes a op b for two values that were read.
func (e *evaluator) operate(op string, a, b Value) (Value, error) {
	for _, v := range []Value{a, b} {
		if isStruct(v.Type) {
			return Value{}, errorf("Structure has no component named operator%s.", op)
		}
		if kindOf(v.Type) == types.Float && sizeOf(v.Type) > 16 || kindOf(v.Type) == types.Complex {
			return Value{}, errNotNumber
		}
	}
	x, err := numberOf(a)
	if err != nil {
		return Value{}, err
	}
	y, err := numberOf(b)
	if err != nil {
		return Value{}, err
	}
	pa, pb := stride(a), stride(b)
	if pa != nil || pb != nil {
		return e.pointers(op, a, b, x, y, pa, pb)
	}
	if x.isFloat || y.isFloat {
		return floats(op, x, y)
	}
	return integers(op, x, y)
}

// stride returns the pointer type that the value has or decays to, or nil.
func stride(v Value) *types.Type {
	switch kindOf(v.Type) {
	case types.Pointer:
		return v.Type
	case types.Array:
		return pointerTo(elemOf(v.Type), 8)
	case types.Func:
		return pointerTo(v.Type, 8)
	}
	return nil
}

// pointers computes an operation with at least one pointer.
func (e *evaluator) pointers(op string, a, b Value, x, y number, pa, pb *types.Type) (Value, error) {
	switch op {
	case "==", "!=", "<", ">", "<=", ">=":
		x.signed, y.signed = x.signed && x.typ == nil, false
		return truthValue(compare(op, x.integer(), y.integer(), false), a.Type), nil
	}
	if op != "+" && op != "-" || pa == nil && op == "-" || x.isFloat || y.isFloat || pa != nil && pb != nil && op == "+" {
		return Value{}, errNotNumber
	}
	p, i := pa, y.i
	if pa == nil {
		p, i, x = pb, x.i, y
	}
	size := sizeOf(elemOf(p))
	if k := kindOf(elemOf(p)); k == types.Void || k == types.Func {
		size = 1
	}
	if size <= 0 {
		return Value{}, Error("Cannot perform pointer math on incomplete types, try casting to a known type, or void *.")
	}
	if pa != nil && pb != nil {
		other := sizeOf(elemOf(pb))
		if k := kindOf(elemOf(pb)); k == types.Void || k == types.Func {
			other = 1
		}
		if other != size {
			return Value{}, Error("First argument of `-' is a pointer and second argument is neither\nan integer nor a pointer of the same type.")
		}
		return newValue(typeLong, number{i: uint64(int64(x.i-y.i) / size), signed: true})
	}
	d := i * uint64(size)
	if op == "-" {
		d = -d
	}
	return newValue(p, number{i: x.i + d})
}

// floats computes an operation with at least one floating point number. The wider type wins.
func floats(op string, x, y number) (Value, error) {
	t := x.typ
	if !x.isFloat || y.isFloat && sizeOf(y.typ) > sizeOf(t) {
		t = y.typ
	}
	a, b := x.float(), y.float()
	var r float64
	switch op {
	case "+":
		r = a + b
	case "-":
		r = a - b
	case "*":
		r = a * b
	case "/":
		r = a / b
	case "==":
		return truthValue(a == b, t), nil
	case "!=":
		return truthValue(a != b, t), nil
	case "<":
		return truthValue(a < b, t), nil
	case ">":
		return truthValue(a > b, t), nil
	case "<=":
		return truthValue(a <= b, t), nil
	case ">=":
		return truthValue(a >= b, t), nil
	default:
		return Value{}, Error("Integer-only operation on floating point number.")
	}
	return newValue(t, number{f: r, isFloat: true})
}

// promoted returns the type in which C computes with integers of these two types.
func promoted(x, y number) *types.Type {
	nx, ny := sizeOf(x.typ), sizeOf(y.typ)
	unsigned := false
	size := max(nx, ny, 4)
	for _, n := range []number{x, y} {
		if sizeOf(n.typ) == size && !n.signed {
			unsigned = true
		}
	}
	switch {
	case size <= 4 && unsigned:
		return typeUint
	case size <= 4:
		return typeInt
	case unsigned:
		return typeUlong
	}
	return typeLong
}

// wrap converts a number to type t.
func wrap(u uint64, t *types.Type) uint64 {
	if t.Size == 4 {
		if t.Kind == types.Int {
			return signExtend(u, 32)
		}
		return u & math.MaxUint32
	}
	return u
}

// integers computes an operation as C does, in the promoted type.
func integers(op string, x, y number) (Value, error) {
	t := promoted(x, y)
	if op == "<<" || op == ">>" {
		return shift(op, x, y)
	}
	signed := t.Kind == types.Int
	a, b := wrap(x.i, t), wrap(y.i, t)
	var r uint64
	switch op {
	case "+":
		r = a + b
	case "-":
		r = a - b
	case "*":
		r = a * b
	case "/", "%":
		if b == 0 {
			return Value{}, Error("Division by zero")
		}
		switch {
		case signed && int64(b) == -1: // the only quotient that overflows
			if op == "/" {
				r = -a
			}
		case signed && op == "/":
			r = uint64(int64(a) / int64(b))
		case signed:
			r = uint64(int64(a) % int64(b))
		case op == "/":
			r = a / b
		default:
			r = a % b
		}
	case "&":
		r = a & b
	case "|":
		r = a | b
	case "^":
		r = a ^ b
	case "==", "!=", "<", ">", "<=", ">=":
		return truthValue(compare(op, a, b, signed), x.typ), nil
	default:
		return Value{}, errorf("operator %s is not supported", op)
	}
	return newValue(t, number{i: wrap(r, t), signed: signed})
}

// shift computes << and >>. The result has the type of the left side. Shifting by its width or more
// leaves only the sign.
func shift(op string, x, y number) (Value, error) {
	t := promoted(x, x)
	a, by := wrap(x.i, t), y.i
	signed := t.Kind == types.Int
	bits := uint64(t.Size) * 8
	if y.signed && int64(by) < 0 {
		by = bits
	}
	var r uint64
	switch {
	case op == "<<" && by < bits:
		r = a << by
	case op == "<<":
	case signed:
		r = uint64(int64(a) >> min(by, 63))
	case by < bits:
		r = a >> by
	}
	return newValue(t, number{i: wrap(r, t), signed: signed})
}

func compare(op string, a, b uint64, signed bool) bool {
	less := a < b
	if signed {
		less = int64(a) < int64(b)
	}
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return less
	case ">":
		return !less && a != b
	case "<=":
		return less || a == b
	}
	return !less
}

// truthValue returns the result of a comparison: an int, or a bool if the operand's language has
// bool.
func truthValue(b bool, operand *types.Type) Value {
	u := uint64(0)
	if b {
		u = 1
	}
	for t := operand; t != nil; t = t.Elem() {
		switch t.Lang {
		case lang.CPlusPlus, lang.Rust, lang.Go:
			return intValue(typeBool, u)
		}
		if kindOf(t) != types.Pointer {
			break
		}
	}
	return intValue(typeInt, u)
}

// unary computes -v, +v, !v and ~v for a value that was read.
func unary(op string, v Value) (Value, error) {
	if isStruct(v.Type) {
		return Value{}, errorf("Structure has no component named operator%s.", op[1:])
	}
	n, err := numberOf(v)
	if err != nil {
		if err == errNotNumber && op == "u-" {
			err = Error("Argument to negate operation not a number.")
		}
		return Value{}, err
	}
	if op == "u!" {
		return truthValue(n.zero(), v.Type), nil
	}
	if stride(v) != nil || n.isFloat && op == "u~" {
		if op == "u~" {
			return Value{}, Error("Argument to complement operation not an integer, boolean.")
		}
		return Value{}, Error("Argument to negate operation not a number.")
	}
	if n.isFloat {
		if op == "u-" {
			n.f = -n.f
		}
		return newValue(v.Type, n)
	}
	t := promoted(n, n)
	switch op {
	case "u-":
		n.i = -n.i
	case "u~":
		n.i = ^n.i
	}
	return newValue(t, number{i: wrap(n.i, t), signed: t.Kind == types.Int})
}
