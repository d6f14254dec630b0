package eval

import (
	"math/big"

	"dbg/symbols/types"
)

// wideIntegers computes an operation in a type of 128 bits.
func wideIntegers(op string, x, y number, t *types.Type) (Value, error) {
	a, b := x.as(t), y.as(t)
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
			return Value{}, errDivision
		}
		if op == "/" {
			r.Quo(a, b)
		} else {
			r.Rem(a, b)
		}
	case "&":
		r.And(a, b)
	case "|":
		r.Or(a, b)
	case "^":
		r.Xor(a, b)
	case "==", "!=", "<", ">", "<=", ">=":
		return truthValue(ordered(op, a.Cmp(b)), x.typ), nil
	default:
		return Value{}, errorf("operator %s is not supported", op)
	}
	return newValue(t, numberOfBig(r, t.Kind == types.Int))
}

const errDivision = Error("Division by zero")

// as returns the value that an integer has in an integer type of any size.
func (n number) as(t *types.Type) *big.Int {
	v := n.big()
	size := uint(sizeOf(t)) * 8
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), size), big.NewInt(1))
	v = new(big.Int).And(v, mask)
	if isSigned(t) && v.Bit(int(size)-1) == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), size))
	}
	return v
}

// ordered returns the result of a comparison of two values whose order is known.
func ordered(op string, order int) bool {
	switch op {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	}
	return order >= 0
}

// wideShift computes << and >> of an integer of 128 bits. Shifting by its width or more, or by a negative
// number, leaves only the sign.
func wideShift(op string, x, y number, t *types.Type) (Value, error) {
	a, by := x.as(t), uint(128)
	if v := y.big(); v.Sign() >= 0 && v.BitLen() <= 7 {
		by = uint(v.Uint64())
	}
	if op == "<<" {
		a.Lsh(a, by)
	} else {
		a.Rsh(a, by)
	}
	return newValue(t, numberOfBig(a, t.Kind == types.Int))
}

func wideUnary(op string, n number, t *types.Type) (Value, error) {
	a := n.as(t)
	switch op {
	case "u-":
		a.Neg(a)
	case "u~":
		a.Not(a)
	}
	return newValue(t, numberOfBig(a, t.Kind == types.Int))
}

// negated returns -n of a floating point number.
func (n number) negated() number {
	n.f = -n.f
	if n.exact != nil {
		r := *n.exact
		r.neg = !r.neg
		n.exact = &r
	}
	return n
}

// sameFormat reports whether two floating point types of the same size have the same format.
func sameFormat(a, b *types.Type) bool {
	f, ok1 := floatFormat(a.Strip(), int(sizeOf(a)))
	g, ok2 := floatFormat(b.Strip(), int(sizeOf(b)))
	return ok1 && ok2 && f == g
}
