package eval

import (
	"encoding/binary"
	"math"

	"dbg/symbols/types"
)

// number is a scalar for arithmetic. Either i (an integer, in two's complement) or f is valid:
// isFloat tells which.
type number struct {
	i       uint64
	f       float64
	isFloat bool
	signed  bool
	typ     *types.Type
}

func (n number) zero() bool {
	if n.isFloat {
		return n.f == 0
	}
	return n.i == 0
}

func (n number) float() float64 {
	switch {
	case n.isFloat:
		return n.f
	case n.signed:
		return float64(int64(n.i))
	}
	return float64(n.i)
}

// integer returns the value as 64 bits, converted as in C.
func (n number) integer() uint64 {
	switch {
	case !n.isFloat:
		return n.i
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
	errWide      = Error("That operation is not available on integers of more than 8 bytes.")
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
		return number{f: g, isFloat: true, signed: true, typ: v.Type}, nil
	case isIntegral(v.Type):
		if v.BitSize == 0 && len(v.Bytes) > 8 {
			return number{}, errWide
		}
		return number{i: integerOf(v), signed: isSigned(v.Type), typ: v.Type}, nil
	}
	return number{}, errNotNumber
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
		binary.LittleEndian.PutUint64(full[:], u)
		if int64(u) < 0 && (n.signed || n.isFloat) {
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
