package eval

import (
	"encoding/binary"
	"math"
	"math/big"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// number is a scalar for arithmetic: an integer in two's complement, or a floating point number if
// isFloat is set.
type number struct {
	i uint64
	// hi holds the upper half of an integer of 16 bytes, for which wide is set.
	hi   uint64
	wide bool
	bits int64 // the width of a bit-field, which decides about its promotion; otherwise 0

	f float64
	// exact is the number if a float64 may not hold it; f is then the nearest one. Otherwise it is nil.
	exact *real

	isFloat bool
	signed  bool
	typ     *types.Type
}

func (n number) zero() bool {
	switch {
	case n.exact != nil:
		return n.exact.isZero()
	case n.isFloat:
		return n.f == 0
	case n.wide:
		return n.i|n.hi == 0
	}
	return n.i == 0
}

// big returns the value of an integer.
func (n number) big() *big.Int {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], n.i)
	if !n.wide {
		return bigInt(b[:8], n.signed)
	}
	binary.LittleEndian.PutUint64(b[8:], n.hi)
	return bigInt(b[:], n.signed)
}

// real returns the number as an exact one.
func (n number) real() real {
	switch {
	case n.exact != nil:
		return *n.exact
	case n.isFloat:
		return realOf(n.f)
	}
	return realOfInt(n.big())
}

func (n number) float() float64 {
	switch {
	case n.isFloat:
		return n.f
	case n.wide:
		f, _ := n.real().rounded(formatDouble).Float64()
		return f
	case n.signed:
		return float64(int64(n.i))
	}
	return float64(n.i)
}

// numberOfBig returns the number with the low 128 bits of an integer.
func numberOfBig(v *big.Int, signed bool) number {
	low := new(big.Int).And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)))
	var b [16]byte
	low.FillBytes(b[:])
	return number{i: binary.BigEndian.Uint64(b[8:]), hi: binary.BigEndian.Uint64(b[:8]), wide: true, signed: signed}
}

// integer returns the value as 64 bits, converted as in C.
func (n number) integer() uint64 {
	switch {
	case !n.isFloat:
		return n.i
	case n.exact != nil:
		v := n.exact.truncated()
		switch {
		case v.Cmp(new(big.Int).SetUint64(math.MaxUint64)) > 0:
			return math.MaxUint64
		case v.Cmp(big.NewInt(math.MinInt64)) < 0:
			return 1 << 63
		}
		return numberOfBig(v, true).i
	case n.f != n.f:
		return 0
	case n.f >= math.MaxInt64:
		if n.f >= math.MaxUint64 {
			return math.MaxUint64
		}
		return uint64(n.f)
	case n.f <= math.MinInt64:
		return 1 << 63
	}
	return uint64(int64(n.f))
}

var (
	errNotNumber = Error("Argument to arithmetic operation not a number or boolean.")
	errWide      = Error("That operation is not available on integers of more than 16 bytes.")
)

// rawUint decodes up to 8 bytes.
func rawUint(b []byte) uint64 {
	var full [8]byte
	copy(full[:], b)
	return binary.LittleEndian.Uint64(full[:])
}

// signExtend extends a number of bits bits.
func signExtend(v uint64, bits int64) uint64 {
	if bits <= 0 || bits >= 64 {
		return v
	}
	s := uint(64 - bits)
	return uint64(int64(v<<s) >> s)
}

// integerOf decodes a value of an integral type of at most 8 bytes. It was read before.
func integerOf(v Value) uint64 {
	bits := int64(len(v.Bytes)) * 8
	var u uint64
	if v.BitSize > 0 {
		bits = v.BitSize
		u = rawUint(v.Bytes) >> uint(v.BitOffset)
		if v.BitOffset > 0 && len(v.Bytes) > 8 {
			u |= uint64(v.Bytes[8]) << uint(64-v.BitOffset)
		}
		if bits < 64 {
			u &= 1<<uint(bits) - 1
		}
	} else {
		u = rawUint(v.Bytes)
	}
	if isSigned(v.Type) {
		return signExtend(u, bits)
	}
	return u
}

// numberOf decodes a scalar that was read.
func numberOf(v Value) (number, error) {
	if err := availabilityError(v); err != nil {
		return number{}, err
	}
	if v.Type == nil {
		return number{}, errNotNumber
	}
	t := v.Type.Strip()
	switch {
	case t.Kind == types.Func && v.HasAddr:
		return number{i: uint64(v.Addr), typ: v.Type}, nil
	case t.Kind == types.Array && v.HasAddr:
		return number{i: uint64(v.Addr), typ: v.Type}, nil
	case v.Bytes == nil:
		return number{}, errNotNumber
	case t.Kind == types.Float:
		f, ok := floatOf(v.Bytes, t)
		if !ok {
			return number{}, Error("Invalid floating value found in program.")
		}
		g, _ := f.Float64()
		n := number{f: g, isFloat: true, signed: true, typ: v.Type}
		if f.frac > formatDouble.frac || f.nan && f.frac != formatDouble.frac {
			n.exact = &f
		}
		return n, nil
	case isIntegral(v.Type):
		switch {
		case v.BitSize == 0 && len(v.Bytes) == 16 && t.Kind != types.MemberPointer:
			return number{i: rawUint(v.Bytes[:8]), hi: rawUint(v.Bytes[8:]), wide: true, signed: isSigned(v.Type), typ: v.Type}, nil
		case v.BitSize == 0 && len(v.Bytes) > 8:
			return number{}, errWide
		}
		n := number{i: integerOf(v), bits: v.BitSize, signed: isSigned(v.Type), typ: v.Type}
		if t.Kind == types.Enum && n.bits == 0 && promotesToInt(t, v.enumerator) {
			n.bits = 31
		}
		return n, nil
	}
	return number{}, errNotNumber
}

// promotesToInt reports whether an operand of an enumeration becomes an int, although the compiler stores
// it as an unsigned int: an enumerator of C is an int (C17, section 6.4.4.3), and in C++ an enumeration whose
// underlying type is not fixed becomes an int if that has all of its values (C++20, section 7.3.7). Debug
// information does not tell whether the type is fixed; an enumeration that is not scoped rarely is.
func promotesToInt(t *types.Type, enumerator bool) bool {
	if t.Size != 4 || t.Signed || t.Scoped() || t.Lang != lang.CPlusPlus && !(t.Lang == lang.C && enumerator) {
		return false
	}
	for _, e := range t.Enumerators() {
		if e.Value > math.MaxInt32 || e.Value < 0 {
			return false
		}
	}
	return true
}

// encode returns the bytes of the number as type t.
func encode(n number, t *types.Type) ([]byte, error) {
	size := sizeOf(t)
	if size <= 0 || size > 16 {
		return nil, Error("Invalid cast.")
	}
	b := make([]byte, size)
	switch kindOf(t) {
	case types.Float:
		if !encodeFloat(b, n, t.Strip()) {
			return nil, Error("Unsupported floating point format.")
		}
	case types.Bool:
		if !n.zero() {
			b[0] = 1
		}
	default:
		u := n.integer()
		var full [16]byte
		if n.isFloat && size > 8 {
			n = numberOfBig(n.real().truncated(), true)
			u = n.i
		}
		binary.LittleEndian.PutUint64(full[:], u)
		if n.wide {
			binary.LittleEndian.PutUint64(full[8:], n.hi)
		} else if int64(u) < 0 && (n.signed || n.isFloat) {
			binary.LittleEndian.PutUint64(full[8:], math.MaxUint64)
		}
		copy(b, full[:])
	}
	return b, nil
}

// newValue makes a value without a place.
func newValue(t *types.Type, n number) (Value, error) {
	b, err := encode(n, t)
	return Value{Type: t, Bytes: b}, err
}

// intValue returns an integer constant of one of this package's types.
func intValue(t *types.Type, u uint64) Value {
	b := make([]byte, 8)
	binary.LittleEndian.PutUint64(b, u)
	return Value{Type: t, Bytes: b[:t.Size]}
}
