package eval

import (
	"math/big"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// Rust and Go compute in the type of the operands: nothing is promoted, and two types do not mix. A
// constant without a type takes that of the other operand. In Rust an overflow is an error, as in a debug
// build of the program; in Go it wraps around.

// nativeLang returns the language whose rules hold for two integers: Rust, Go, or Unknown for C's.
func (e *evaluator) nativeLang(x, y number) lang.Lang {
	if _, ok := e.env.(Scope); ok {
		return lang.Unknown // expressions of views are C++
	}
	for _, n := range []number{x, y} {
		if !isPlainInteger(n.typ) && n.typ != nil {
			return lang.Unknown
		}
	}
	for _, n := range []number{x, y} {
		if l := nativeTypeLang(n.typ); l != lang.Unknown {
			return l
		}
	}
	if isForeign(x.typ) || isForeign(y.typ) {
		return lang.Unknown
	}
	switch {
	case e.speaks(lang.Go):
		return lang.Go
	case e.speaks(lang.Rust):
		return lang.Rust
	}
	return lang.Unknown
}

func isPlainInteger(t *types.Type) bool {
	k := kindOf(t)
	return k == types.Int || k == types.Uint || k == types.Char && sizeOf(t) == 1 && nativeTypeLang(t) != lang.Unknown
}

// nativeTypeLang returns Rust or Go for a type of one of these.
func nativeTypeLang(t *types.Type) lang.Lang {
	if t == nil {
		return lang.Unknown
	}
	if l := t.Strip().Lang; l == lang.Rust || l == lang.Go {
		return l
	}
	return lang.Unknown
}

// isForeign reports whether a type belongs to another language of the program, such as C.
func isForeign(t *types.Type) bool { return t != nil && t.Strip().Lang != lang.Unknown }

// nativeIntegers computes an operation of two integers by the rules of Rust or Go. done is false if those
// of C hold.
func (e *evaluator) nativeIntegers(op string, x, y number) (v Value, done bool, err error) {
	l := e.nativeLang(x, y)
	if l == lang.Unknown {
		return Value{}, false, nil
	}
	if op == "<<" || op == ">>" {
		v, err := nativeShift(l, op, x, y)
		return v, true, err
	}
	t, mixed, err := nativeType(l, op, x, y)
	if err != nil {
		return Value{}, true, err
	}
	a, b := x.big(), y.big()
	r := new(big.Int)
	switch op {
	case "+":
		r.Add(a, b)
	case "-":
		r.Sub(a, b)
	case "*":
		r.Mul(a, b)
	case "/", "%":
		if b.Sign() == 0 {
			return Value{}, true, errDivision
		}
		q := new(big.Int).Quo(a, b)
		if r.Set(q); op == "%" {
			r.Rem(a, b)
		}
		if l == lang.Rust && !fits(q, t) {
			r = q // MIN % -1 overflows like MIN / -1
		}
	case "&":
		r.And(a, b)
	case "|":
		r.Or(a, b)
	case "^":
		r.Xor(a, b)
	case "&^":
		r.AndNot(a, b)
	case "==", "!=", "<", ">", "<=", ">=":
		return Bool(ordered(op, a.Cmp(b))), true, nil
	default:
		return Value{}, true, errorf("operator %s is not supported", op)
	}
	if mixed && !fits(r, t) {
		return Value{}, true, errMixed(op, x, y)
	}
	v, err = nativeResult(l, op, r, t)
	return v, true, err
}

func errMixed(op string, x, y number) error {
	return errorf("mismatched types: %s %s %s", TypeName(Value{Type: x.typ}), op, TypeName(Value{Type: y.typ}))
}

// nativeResult returns a result in its type.
func nativeResult(l lang.Lang, op string, r *big.Int, t *types.Type) (Value, error) {
	if l == lang.Rust && !fits(r, t) {
		word := map[string]string{"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "u-": "negate",
			"%": "calculate the remainder"}[op]
		if word == "" { // an operator on bits of two constants
			return newValue(t, numberOfBig(r, isSigned(t)))
		}
		return Value{}, errorf("attempt to %s with overflow", word)
	}
	return newValue(t, numberOfBig(r, isSigned(t)))
}

// fits reports whether an integer type has a value.
func fits(v *big.Int, t *types.Type) bool {
	return numberOfBig(v, isSigned(t)).as(t).Cmp(v) == 0
}

// nativeType returns the type of a result. Neither language mixes types, but a user may: then it is the
// larger type, and a result that this does not have is an error.
func nativeType(l lang.Lang, op string, x, y number) (t *types.Type, mixed bool, err error) {
	nx, ny := nativeTypeLang(x.typ) != lang.Unknown, nativeTypeLang(y.typ) != lang.Unknown
	switch {
	case nx && ny:
		a, b := x.typ.Strip(), y.typ.Strip()
		mixed = a.Size != b.Size || isSigned(a) != isSigned(b)
		if mixed && a.Size == b.Size && !isComparison(op) {
			return nil, true, errMixed(op, x, y)
		}
		if b.Size > a.Size {
			return y.typ, mixed, nil
		}
		return x.typ, mixed, nil
	case isComparison(op): // it needs no common type
		return typeLong, false, nil
	case nx:
		return x.typ, false, inRange(y, x.typ)
	case ny:
		return y.typ, false, inRange(x, y.typ)
	}
	return literalType(l, x, y), false, nil
}

// inRange reports the error of a constant that its type does not have.
func inRange(n number, t *types.Type) error {
	if !fits(n.big(), t) {
		return errorf("%s is out of range for %s", n.big(), TypeName(Value{Type: t}))
	}
	return nil
}

// literalType is the type of an operation of two constants: int in Go; i32 in Rust, or the type that the
// larger one needs.
func literalType(l lang.Lang, x, y number) *types.Type {
	t := promoted(x, y)
	if l == lang.Go && (t.Size < 8 || isSigned(t)) && t.Size <= 8 {
		return typeGoInt
	}
	return t
}

// nativeShift computes << and >>, whose result has the type of the left side.
func nativeShift(l lang.Lang, op string, x, y number) (Value, error) {
	t := x.typ
	if nativeTypeLang(t) == lang.Unknown {
		t = literalType(l, x, x)
	}
	a, by, width := x.big(), y.big(), sizeOf(t)*8
	switch {
	case l == lang.Rust && (by.Sign() < 0 || by.Cmp(big.NewInt(width)) >= 0):
		return Value{}, errorf("attempt to shift %s with overflow", map[string]string{"<<": "left", ">>": "right"}[op])
	case by.Sign() < 0:
		return Value{}, Error("negative shift amount")
	case by.Cmp(big.NewInt(width)) > 0:
		by = big.NewInt(width)
	}
	if n := uint(by.Uint64()); op == "<<" {
		a.Lsh(a, n)
	} else {
		a.Rsh(a, n)
	}
	return newValue(t, numberOfBig(a, isSigned(t)))
}

// nativeUnary computes -v, !v and Go's ^v of integers by the rules of Rust or Go. done is false if those
// of C hold.
func (e *evaluator) nativeUnary(op string, v Value) (out Value, done bool, err error) {
	if !isIntegral(v.Type) || op == "u+" {
		return Value{}, false, nil
	}
	n, err := numberOf(v)
	if err != nil {
		return Value{}, false, nil
	}
	l := e.nativeLang(n, n)
	if l == lang.Unknown {
		if op == "u^" {
			return Value{}, true, Error("The operator ^ takes two operands.")
		}
		return Value{}, false, nil
	}
	t := n.typ
	if nativeTypeLang(t) == lang.Unknown {
		t = literalType(l, n, n)
	}
	r := n.big()
	switch {
	case op == "u-":
		if l == lang.Rust && !isSigned(t) {
			return Value{}, true, errorf("cannot apply unary operator `-` to type `%s`", TypeName(Value{Type: t}))
		}
		r.Neg(r)
	case l == lang.Rust && op == "u!", l == lang.Go && op == "u^", op == "u~":
		out, err = newValue(t, numberOfBig(r.Not(r), isSigned(t)))
		return out, true, err
	default:
		return Value{}, false, nil
	}
	out, err = nativeResult(l, op, r, t)
	return out, true, err
}

// nativeFloats gives a constant without a type that of the other operand, which is a float of Rust or Go.
func (e *evaluator) nativeFloats(x, y *number) error {
	if _, ok := e.env.(Scope); ok {
		return nil
	}
	if nativeTypeLang(x.typ) == lang.Unknown || !x.isFloat {
		x, y = y, x
	}
	if nativeTypeLang(x.typ) == lang.Unknown || !x.isFloat || y.typ == nil || y.typ.Strip().Lang != lang.Unknown {
		return nil
	}
	b, err := encode(*y, x.typ)
	if err != nil {
		return err
	}
	n, err := numberOf(Value{Type: x.typ, Bytes: b})
	*y = n
	return err
}
