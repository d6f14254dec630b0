package eval

import (
	"errors"
	"math"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
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
	}
	if v, done, err := sameMember(op, a, b); done {
		return v, err
	}
	if kindOf(a.Type) == types.Complex || kindOf(b.Type) == types.Complex {
		return complexes(op, a, b)
	}
	x, err := numberOf(a)
	if err != nil {
		return Value{}, err
	}
	y, err := numberOf(b)
	if err != nil {
		return Value{}, err
	}
	if kindOf(a.Type) == types.MemberPointer || kindOf(b.Type) == types.MemberPointer {
		return Value{}, errNotNumber
	}
	pa, pb := stride(a), stride(b)
	if pa != nil || pb != nil {
		return e.pointers(op, a, b, x, y, pa, pb)
	}
	if x.isFloat || y.isFloat {
		if err := e.nativeFloats(&x, &y); err != nil {
			return Value{}, err
		}
		return floats(op, x, y)
	}
	if v, done, err := e.nativeIntegers(op, x, y); done {
		return v, err
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
		if pa != nil && pb != nil {
			if err := e.sameObject(&x, &y, elemOf(pa), elemOf(pb)); err != nil {
				return Value{}, err
			}
		}
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

// floats computes an operation with at least one floating point number. Both numbers are converted to the
// wider type first: C17, section 6.3.1.8.
func floats(op string, x, y number) (Value, error) {
	t := commonFloat(x, y)
	f, ok := floatFormat(t.Strip(), int(sizeOf(t)))
	if !ok {
		return Value{}, errNotNumber
	}
	if isComparison(op) {
		return truthValue(realCompare(op, x.real().rounded(f), y.real().rounded(f)), t), nil
	}
	if f != formatSingle && f != formatDouble {
		r, ok := realArithmetic(op, x.real().rounded(f), y.real().rounded(f), f)
		if !ok {
			return Value{}, errNotInteger
		}
		return newValue(t, number{exact: &r, isFloat: true})
	}
	a, b := x.in(f), y.in(f)
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
	default:
		return Value{}, errNotInteger
	}
	return newValue(t, number{f: r, isFloat: true})
}

const errNotInteger = Error("Integer-only operation on floating point number.")

// in returns the number converted to float or double.
func (n number) in(f format) float64 {
	if n.isFloat && n.exact == nil {
		return n.f // f is not narrower
	}
	x, _ := n.real().rounded(f).Float64()
	return x
}

// sameObject converts two pointers to classes of which one derives from the other to pointers to the base
// class, as C++ does before it compares them.
func (e *evaluator) sameObject(x, y *number, a, b *types.Type) error {
	if x.i == 0 || y.i == 0 || !isStruct(a) || !isStruct(b) || sameClass(a, b) {
		return nil
	}
	if derives(b, a, 0) {
		x, y, a, b = y, x, b, a
	}
	if !derives(a, b, 0) {
		return nil
	}
	at, err := e.castObject(target.Addr(x.i), a, b)
	x.i = uint64(at)
	return err
}

// commonFloat returns the type in which C computes with two numbers of which one is a float at least.
func commonFloat(x, y number) *types.Type {
	switch {
	case !x.isFloat:
		return y.typ
	case !y.isFloat:
		return x.typ
	}
	fx, ok1 := floatFormat(x.typ.Strip(), int(sizeOf(x.typ)))
	fy, ok2 := floatFormat(y.typ.Strip(), int(sizeOf(y.typ)))
	if ok1 && ok2 && (fy.exp > fx.exp || fy.exp == fx.exp && fy.frac > fx.frac) {
		return y.typ
	}
	return x.typ
}

// integerRank returns the size and the signedness that an integer has after its promotion: C17, section
// 6.3.1.1. A bit-field becomes an int if that can hold all of its values.
func integerRank(n number) (size int64, unsigned bool) {
	size = sizeOf(n.typ)
	switch {
	case n.bits > 0 && (n.bits < 32 || n.bits == 32 && n.signed):
		return 4, false
	case n.bits == 32:
		return 4, true
	case size < 4:
		return 4, false
	}
	return size, !n.signed
}

// promoted returns the type in which C computes with integers of these two types.
func promoted(x, y number) *types.Type {
	nx, ux := integerRank(x)
	ny, uy := integerRank(y)
	size := max(nx, ny)
	unsigned := ux && nx == size || uy && ny == size
	longlong := isLongLong(x.typ) && nx == size || isLongLong(y.typ) && ny == size
	switch {
	case size <= 4 && unsigned:
		return typeUint
	case size <= 4:
		return typeInt
	case size > 8 && unsigned:
		return typeUint128
	case size > 8:
		return typeInt128
	case unsigned && longlong:
		return typeUlonglong
	case unsigned:
		return typeUlong
	case longlong:
		return typeLonglong
	}
	return typeLong
}

func isLongLong(t *types.Type) bool {
	return t != nil && strings.Contains(t.Strip().Name, "long long")
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
	if t.Size > 8 {
		return wideIntegers(op, x, y, t)
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
			return Value{}, errDivision
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
	if t.Size > 8 {
		return wideShift(op, x, y, t)
	}
	a, by := wrap(x.i, t), y.i
	if y.wide && y.hi != 0 && !(y.signed && int64(y.hi) < 0) {
		by = math.MaxUint64 >> 1
	}
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

// unary computes -v, +v, !v and ~v for a value that was read, by the rules of C.
func unary(op string, v Value) (Value, error) {
	switch {
	case isStruct(v.Type):
		return Value{}, errorf("Structure has no component named operator%s.", op[1:])
	case kindOf(v.Type) == types.Complex:
		return complexUnary(op, v)
	case op == "u!" && kindOf(v.Type) == types.MemberPointer:
		set, err := memberSet(v)
		return truthValue(!set, v.Type), err
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
			n = n.negated()
		}
		return newValue(v.Type, n)
	}
	t := promoted(n, n)
	if t.Size > 8 {
		return wideUnary(op, n, t)
	}
	switch op {
	case "u-":
		n.i = -n.i
	case "u~":
		n.i = ^n.i
	}
	return newValue(t, number{i: wrap(n.i, t), signed: t.Kind == types.Int})
}
