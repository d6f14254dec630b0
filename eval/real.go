package eval

import (
	"encoding/binary"
	"math"
	"math/big"
)

// workPrecision is the precision of intermediate results. An operation in at least 2p+2 bits that is then
// rounded to p bits gives the result of one rounding (Figueroa, "When is double rounding innocuous?").
const workPrecision = 2*113 + 4

// rounded returns x as a number of a format, rounded to the nearest even.
func (r real) rounded(f format) real {
	b := make([]byte, f.size())
	r.encode(b, f)
	out, _ := f.decode(b)
	return out
}

// size returns the bytes that a number of the format needs.
func (f format) size() int {
	if f.explicit {
		return 10
	}
	return (1 + f.exp + f.frac) / 8
}

// realOf returns a float64 as a real.
func realOf(x float64) real {
	b := make([]byte, 8)
	binary.LittleEndian.PutUint64(b, math.Float64bits(x))
	r, _ := formatDouble.decode(b)
	return r
}

// realOfInt returns an integer as a real.
func realOfInt(n *big.Int) real {
	if n.Sign() == 0 {
		return real{}
	}
	prec := uint(max(n.BitLen(), 64))
	return real{neg: n.Sign() < 0, v: new(big.Float).SetPrec(prec).SetInt(new(big.Int).Abs(n))}
}

func (r real) isZero() bool { return !r.nan && !r.inf && (r.v == nil || r.v.Sign() == 0) }

// signed returns a finite number with its sign.
func (r real) signed() *big.Float {
	x := new(big.Float).SetPrec(workPrecision)
	if r.v != nil {
		x.Set(r.v)
	}
	if r.neg {
		x.Neg(x)
	}
	return x
}

// truncated returns the integer part. Infinities and what exceeds 128 bits become the nearest limit, and
// a NaN becomes 0.
func (r real) truncated() *big.Int {
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	switch {
	case r.nan, !r.inf && r.isZero():
		return new(big.Int)
	case !r.inf && r.v.MantExp(nil) <= 128:
		limit, _ = r.v.Int(nil)
	}
	if r.neg {
		limit.Neg(limit)
	}
	return limit
}

// encode writes the number in a format, rounded to the nearest even.
func (r real) encode(b []byte, f format) {
	most := uint64(1)<<f.exp - 1
	exp, m := uint64(0), new(big.Int)
	switch {
	case r.nan:
		exp = most
		m.SetUint64(r.payload)
		shift := f.frac - r.frac
		if r.frac == formatX87.frac {
			m.And(m, new(big.Int).SetUint64(1<<63-1))
		}
		if r.frac == 0 {
			shift = 0
		}
		if shift >= 0 {
			m.Lsh(m, uint(shift))
		} else {
			m.Rsh(m, uint(-shift))
		}
		m.SetBit(m, f.frac-1, 1)
	case r.inf:
		exp = most
	case !r.isZero():
		exp, m = roundTo(r.v, f)
		if exp >= most {
			exp, m = most, new(big.Int)
		}
	}
	if f.explicit {
		m.SetBit(m, f.frac, 0)
		if exp != 0 {
			m.SetBit(m, f.frac, 1)
		}
	} else {
		m.SetBit(m, f.frac, 0)
		m.Or(m, new(big.Int).Lsh(new(big.Int).SetUint64(exp), uint(f.frac)))
		exp = 0
	}
	if f.explicit {
		m.Or(m, new(big.Int).Lsh(new(big.Int).SetUint64(exp), 64))
	}
	if r.neg {
		m.SetBit(m, 8*f.size()-1, 1)
	}
	clear(b)
	for i, x := range m.FillBytes(make([]byte, 32)) {
		if at := 31 - i; at < len(b) {
			b[at] = x
		}
	}
}

// roundTo returns the biased exponent and the mantissa, with its integer bit, of a positive number.
func roundTo(v *big.Float, f format) (exp uint64, m *big.Int) {
	bias := 1<<(f.exp-1) - 1
	e := v.MantExp(nil) - 1 // v = 1.xxx * 2^e
	if e > bias+1 {
		return 1<<f.exp - 1, new(big.Int)
	}
	quantum := max(e, 1-bias) - f.frac // the exponent of the last bit
	if e < quantum-2 {
		return 0, new(big.Int)
	}
	scaled := new(big.Float).SetMantExp(v, -quantum)
	m, _ = scaled.Int(nil)
	rest := new(big.Float).SetPrec(scaled.Prec()).Sub(scaled, new(big.Float).SetPrec(scaled.Prec()+1).SetInt(m))
	if half := rest.Cmp(big.NewFloat(0.5)); half > 0 || half == 0 && m.Bit(0) == 1 {
		m.Add(m, big.NewInt(1))
	}
	if m.BitLen() > f.frac+1 {
		m.Rsh(m, 1)
		quantum++
	}
	if m.BitLen() <= f.frac {
		return 0, m // denormal
	}
	return uint64(quantum + f.frac + bias), m
}

// realInvalid is the result of an invalid operation on x86 processors (Intel SDM, volume 1, table 4-3).
func realInvalid(f format) real {
	b := make([]byte, f.size())
	real{neg: true, nan: true}.encode(b, f)
	r, _ := f.decode(b)
	return r
}

// realArithmetic computes a op b in a format. ok is false for another operator.
func realArithmetic(op string, a, b real, f format) (r real, ok bool) {
	switch op {
	case "-":
		if !b.nan {
			b.neg = !b.neg
		}
		op = "+"
	case "+", "*", "/":
	default:
		return real{}, false
	}
	switch {
	case a.nan:
		return a.rounded(f), true
	case b.nan:
		return b.rounded(f), true
	case op == "+":
		return realSum(a, b, f), true
	}
	sign := a.neg != b.neg
	switch {
	case op == "*" && (a.inf && b.isZero() || a.isZero() && b.inf), op == "/" && (a.inf && b.inf || a.isZero() && b.isZero()):
		return realInvalid(f), true
	case a.inf, op == "*" && b.inf, op == "/" && b.isZero():
		return real{neg: sign, inf: true, digits: f.digits}, true
	case a.isZero(), b.isZero(), b.inf:
		return real{neg: sign, digits: f.digits}, true
	}
	x := new(big.Float).SetPrec(workPrecision)
	if op == "*" {
		x.Mul(a.v, b.v)
	} else {
		x.Quo(a.v, b.v)
	}
	return real{neg: sign, v: x}.rounded(f), true
}

func realSum(a, b real, f format) real {
	switch {
	case a.inf && b.inf && a.neg != b.neg:
		return realInvalid(f)
	case a.inf:
		return a.rounded(f)
	case b.inf:
		return b.rounded(f)
	case a.isZero() && b.isZero():
		return real{neg: a.neg && b.neg, digits: f.digits}
	}
	x := new(big.Float).SetPrec(workPrecision).Add(a.signed(), b.signed())
	return real{neg: x.Signbit() && x.Sign() != 0, v: x.Abs(x)}.rounded(f)
}

// realCompare computes a comparison. All but != are false if a number is a NaN.
func realCompare(op string, a, b real) bool {
	if a.nan || b.nan {
		return op == "!="
	}
	infinite := func(r real) int {
		switch {
		case !r.inf:
			return 0
		case r.neg:
			return -1
		}
		return 1
	}
	order := infinite(a) - infinite(b)
	if !a.inf && !b.inf {
		order = a.signed().Cmp(b.signed())
	}
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
