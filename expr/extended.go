package expr

import (
	"encoding/binary"
	"math"
	"math/big"

	"dbg/arch"
)

// The x87 extended format is gcc's long double on x86 (System V ABI, AMD64 supplement, section
// 3.1.2): 64 bits of mantissa, of which the highest is the integer bit, 15 bits of exponent and a
// sign bit, in 16 bytes. Arithmetic follows the processor's default: 64 bits of precision, rounding
// to nearest. It is not defined here for numbers that are not finite or not normal.
const (
	extendedSize = 16
	extendedBias = 16383
)

var errExtended = &UnavailableError{"a typed operation", "a finite and normal number in the extended format"}

func (t typ) extended() bool { return t.float && t.size == extendedSize }

// isX87 reports whether the register is on the x87 stack. Those always hold extended numbers.
func isX87(a *arch.Arch, r arch.Reg) bool { return a == arch.AMD64 && r >= arch.ST0 && r < arch.ST0+8 }

// extendedValue decodes an extended number of 10 bytes or more.
func extendedValue(b []byte, t typ) value {
	return value{bits: binary.LittleEndian.Uint64(b), hi: binary.LittleEndian.Uint16(b[8:]), typ: t}
}

// number returns the exact value of a number of any type, or false if it is not finite.
func (v value) number(ptr int) (*big.Float, bool) {
	f := new(big.Float).SetPrec(64)
	switch {
	case v.typ.extended():
		exp := int(v.hi & 0x7fff)
		zero := exp == 0 && v.bits == 0
		if exp == 0x7fff || !zero && v.bits>>63 == 0 {
			return nil, false // infinite, not a number, denormal, or an invalid pattern
		}
		f.SetUint64(v.bits)
		if !zero {
			f.SetMantExp(f, exp-extendedBias-63)
		}
		if v.hi>>15 != 0 {
			f.Neg(f)
		}
		return f, true
	case v.typ.float:
		x := v.toFloat()
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return nil, false
		}
		return f.SetFloat64(x), true
	case v.typ.signed:
		return f.SetInt64(v.int(ptr)), true
	}
	return f.SetUint64(v.bits), true
}

// fromNumber rounds a number to a type. It returns false if the number is out of the type's range.
func fromNumber(f *big.Float, t typ, ptr int) (value, bool) {
	v := value{typ: t}
	switch {
	case t.extended():
		if f.Sign() == 0 {
			if f.Signbit() {
				v.hi = 1 << 15
			}
			return v, true
		}
		m := new(big.Float)
		exp := f.MantExp(m) + extendedBias - 1
		if exp <= 0 || exp >= 0x7fff {
			return value{}, false
		}
		m.SetMantExp(m.Abs(m), 64)
		v.bits, _ = m.Uint64()
		v.hi = uint16(exp)
		if f.Signbit() {
			v.hi |= 1 << 15
		}
		return v, true
	case t.float && t.size == 4:
		x, _ := f.Float32()
		return floatValue(float64(x), t), !math.IsInf(float64(x), 0)
	case t.float:
		x, _ := f.Float64()
		return floatValue(x, t), !math.IsInf(x, 0)
	case f.Signbit() && f.Sign() != 0:
		i, _ := f.Int64() // towards zero
		limit := new(big.Float).SetInt64(-1 << 63)
		return v.as(uint64(i), ptr), f.Cmp(limit) >= 0
	}
	u, _ := f.Uint64()
	limit := new(big.Float).SetMantExp(big.NewFloat(1), 64)
	return v.as(u, ptr), f.Cmp(limit) < 0
}

// convertExtended executes DW_OP_convert from or to the extended format.
func (v value) convertExtended(t typ, ptr int) (value, error) {
	if f, ok := v.number(ptr); ok {
		if to, ok := fromNumber(f, t, ptr); ok {
			return to, nil
		}
	}
	return value{}, errExtended
}

// binaryExtended computes a op b for two extended numbers.
func (a value) binaryExtended(op byte, b value) (value, error) {
	x, ok1 := a.number(8)
	y, ok2 := b.number(8)
	if !ok1 || !ok2 {
		return value{}, errExtended
	}
	f := new(big.Float).SetPrec(64)
	switch op {
	case opPlus:
		f.Add(x, y)
	case opMinus:
		f.Sub(x, y)
	case opMul:
		f.Mul(x, y)
	case opDiv:
		if y.Sign() == 0 {
			return value{}, errExtended
		}
		f.Quo(x, y)
	case opEq, opGe, opGt, opLe, opLt, opNe:
		c := x.Cmp(y)
		return compared(op, c < 0, c == 0, c > 0), nil
	default:
		return value{}, errInteger
	}
	if v, ok := fromNumber(f, a.typ, 8); ok {
		return v, nil
	}
	return value{}, errExtended
}

// regvalExtended executes DW_OP_regval_type for an x87 register, which holds an extended number
// regardless of gcc's type for it.
func (m *machine) regvalExtended(reg arch.Reg, t typ) error {
	if m.c.Wide == nil {
		return &UnknownRegisterError{Reg: reg, Name: m.c.Arch.RegName(reg)}
	}
	b, err := m.c.Wide(reg)
	if err != nil || len(b) < 10 {
		return &UnknownRegisterError{Reg: reg, Name: m.c.Arch.RegName(reg)}
	}
	v := extendedValue(b, typ{size: extendedSize, float: true})
	if !t.extended() {
		if v, err = v.convertExtended(t, m.ptr); err != nil {
			return err
		}
	}
	return m.pushValue(v)
}
