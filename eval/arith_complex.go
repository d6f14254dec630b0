package eval

import (
	"math/big"

	"dbg/symbols/types"
)

// complexElem returns the type of the parts of a complex type.
func complexElem(t *types.Type) *types.Type {
	t = t.Strip()
	name := map[int64]string{4: "float", 8: "double", 16: "long double"}[t.Size/2]
	e := types.New(types.Float, name, t.Size/2, true, nil)
	e.Quad, e.Lang = t.Quad, t.Lang
	return e
}

// complexParts returns the real and the imaginary part of a complex value, or of a real one.
func complexParts(v Value) (re, im number, err error) {
	if kindOf(v.Type) != types.Complex {
		re, err = numberOf(v)
		return re, number{isFloat: true, typ: re.typ}, err
	}
	if err := availabilityError(v); err != nil {
		return re, im, err
	}
	half := len(v.Bytes) / 2
	if half == 0 {
		return re, im, errNotNumber
	}
	e := complexElem(v.Type)
	if re, err = numberOf(Value{Type: e, Bytes: v.Bytes[:half]}); err == nil {
		im, err = numberOf(Value{Type: e, Bytes: v.Bytes[half:]})
	}
	return re, im, err
}

// complexValue makes a complex value of parts in the type elem.
func complexValue(elem *types.Type, re, im number) (Value, error) {
	size := sizeOf(elem)
	b, err := encode(re, elem)
	if err != nil {
		return Value{}, err
	}
	c, err := encode(im, elem)
	if err != nil {
		return Value{}, err
	}
	t := types.New(types.Complex, "complex "+elem.Strip().Name, 2*size, true, nil)
	t.Quad = elem.Strip().Quad
	return Value{Type: t, Bytes: append(b, c...)}, nil
}

// complexes computes an operation with at least one complex number: C17, annex G. A real operand stays
// real: it has no imaginary part, not one of 0.
func complexes(op string, a, b Value) (Value, error) {
	re1, im1, err := complexParts(a)
	if err != nil {
		return Value{}, err
	}
	re2, im2, err := complexParts(b)
	if err != nil {
		return Value{}, err
	}
	real1, real2 := kindOf(a.Type) != types.Complex, kindOf(b.Type) != types.Complex
	elem := commonFloat(re1, re2)
	c := complexMath{elem: elem}
	var re, im number
	switch op {
	case "==", "!=":
		same := c.same(re1, re2) && c.same(im1, im2)
		return truthValue(same == (op == "=="), a.Type), nil
	case "+", "-":
		re = c.do(op, re1, re2)
		switch {
		case real2:
			im = im1
		case real1 && op == "-":
			im = im2.negated()
		case real1:
			im = im2
		default:
			im = c.do(op, im1, im2)
		}
	case "*":
		switch {
		case real1:
			re, im = c.do("*", re1, re2), c.do("*", re1, im2)
		case real2:
			re, im = c.do("*", re1, re2), c.do("*", im1, re2)
		default:
			re = c.do("-", c.do("*", re1, re2), c.do("*", im1, im2))
			im = c.do("+", c.do("*", re1, im2), c.do("*", im1, re2))
		}
	case "/":
		if real2 {
			re, im = c.do("/", re1, re2), c.do("/", im1, re2)
			break
		}
		re, im = c.quotient(re1, im1, re2, im2)
	default:
		return Value{}, Error("Argument to arithmetic operation not a number or boolean.")
	}
	if c.err != nil {
		return Value{}, c.err
	}
	return complexValue(elem, re, im)
}

// complexMath computes with parts of complex numbers in one type, and keeps the first error.
type complexMath struct {
	elem *types.Type
	err  error
}

// do computes a op b, rounded to the type.
func (c *complexMath) do(op string, a, b number) number {
	a.typ, b.typ = c.elem, c.elem
	if !a.isFloat {
		a = c.converted(a)
	}
	if !b.isFloat {
		b = c.converted(b)
	}
	v, err := floats(op, a, b)
	if err == nil {
		var n number
		if n, err = numberOf(v); err == nil {
			return n
		}
	}
	c.err = err
	return number{isFloat: true, typ: c.elem}
}

func (c *complexMath) converted(n number) number {
	b, err := encode(n, c.elem)
	if err == nil {
		n, err = numberOf(Value{Type: c.elem, Bytes: b})
	}
	if err != nil {
		c.err = err
	}
	return n
}

func (c *complexMath) same(a, b number) bool { return realCompare("==", a.real(), b.real()) }

// quotient computes (a+bi) / (c+di) with one rounding of each part, if all parts are finite.
func (c *complexMath) quotient(a, b, x, y number) (re, im number) {
	p := []real{a.real(), b.real(), x.real(), y.real()}
	for _, r := range p {
		if r.nan || r.inf {
			c.err = Error("The quotient of these complex numbers is not known.")
			return a, b
		}
	}
	f, ok := floatFormat(c.elem.Strip(), int(sizeOf(c.elem)))
	divisor := newFloat().Add(newFloat().Mul(p[2].signed(), p[2].signed()), newFloat().Mul(p[3].signed(), p[3].signed()))
	if !ok || divisor.Sign() == 0 {
		c.err = errDivision
		return a, b
	}
	ac, bd := newFloat().Mul(p[0].signed(), p[2].signed()), newFloat().Mul(p[1].signed(), p[3].signed())
	bc, ad := newFloat().Mul(p[1].signed(), p[2].signed()), newFloat().Mul(p[0].signed(), p[3].signed())
	part := func(sum *big.Float) number {
		sum.Quo(sum, divisor)
		r := real{neg: sum.Sign() < 0, v: sum.Abs(sum)}.rounded(f)
		x, _ := r.Float64()
		return number{f: x, exact: &r, isFloat: true, typ: c.elem}
	}
	return part(newFloat().Add(ac, bd)), part(newFloat().Sub(bc, ad))
}

// newFloat returns a number that holds sums of products of any two formats.
func newFloat() *big.Float { return new(big.Float).SetPrec(2 * workPrecision) }

// complexUnary computes -v, +v, !v and GNU C's ~v, the conjugate.
func complexUnary(op string, v Value) (Value, error) {
	re, im, err := complexParts(v)
	if err != nil {
		return Value{}, err
	}
	switch op {
	case "u!":
		return truthValue(re.zero() && im.zero(), v.Type), nil
	case "u-":
		re, im = re.negated(), im.negated()
	case "u~":
		im = im.negated()
	}
	out, err := complexValue(complexElem(v.Type), re, im)
	out.Type = v.Type
	return out, err
}

// castComplex converts to or from a complex type. Of a complex number that becomes a real one only the
// real part counts: C17, section 6.3.1.7.
func castComplex(t *types.Type, v Value) (Value, error) {
	re, im, err := complexParts(v)
	if err != nil {
		return Value{}, errInvalidCast
	}
	switch {
	case kindOf(t) == types.Complex:
		out, err := complexValue(complexElem(t), re, im)
		out.Type = t
		return out, err
	case kindOf(t) == types.Bool:
		u := intValue(typeBool, 1)
		if re.zero() && im.zero() {
			u.Bytes[0] = 0
		}
		return Value{Type: t, Bytes: u.Bytes}, nil
	case kindOf(t) == types.Float, isIntegral(t) && kindOf(t) != types.Pointer:
		return newValue(t, re)
	}
	return Value{}, errInvalidCast
}
