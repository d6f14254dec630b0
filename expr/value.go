package expr

import (
	"encoding/binary"
	"math"
)

// typ is the type of a value on the stack, DWARF 5 section 2.5.1. The zero typ is the generic type.
type typ struct {
	size          uint8 // bytes, 1 to 8; 0 for the generic type; 16 for the x87 extended format
	signed, float bool
}

// value is an entry of the stack. bits is zero-extended from the type's size; a float is its IEEE
// 754 pattern.
type value struct {
	bits uint64
	typ  typ
	hi   uint16 // sign and exponent of the extended format
}

func (v value) isInt() bool { return !v.typ.float }

// width returns the value's size in bytes if an address has ptr bytes.
func (v value) width(ptr int) int {
	if v.typ.size == 0 {
		return ptr
	}
	return int(v.typ.size)
}

// mask truncates v to n bytes.
func mask(v uint64, n int) uint64 {
	if n >= 8 {
		return v
	}
	return v & (1<<(8*uint(n)) - 1)
}

// as returns a value of v's type with other bits.
func (v value) as(bits uint64, ptr int) value {
	v.bits = mask(bits, v.width(ptr))
	return v
}

func (v value) int(ptr int) int64 { return signExtend(v.bits, v.width(ptr)) }

func (v value) toFloat() float64 {
	if v.typ.size == 4 {
		return float64(math.Float32frombits(uint32(v.bits)))
	}
	return math.Float64frombits(v.bits)
}

func floatValue(f float64, t typ) value {
	if t.size == 4 {
		return value{bits: uint64(math.Float32bits(float32(f))), typ: t}
	}
	return value{bits: math.Float64bits(f), typ: t}
}

// convert executes DW_OP_convert: it preserves the number as far as the new type can hold it.
func (v value) convert(t typ, ptr int) value {
	switch {
	case v.typ.float && t.float:
		return floatValue(v.toFloat(), t)
	case v.typ.float:
		f := v.toFloat()
		to := value{typ: t}
		switch {
		case f != f:
			return to
		case f >= 1<<63 && f < 1<<64:
			return to.as(uint64(f), ptr)
		case f >= 1<<63 || f < -(1<<63):
			return to.as(1<<63, ptr) // the result of the hardware's conversion
		}
		return to.as(uint64(int64(f)), ptr)
	case t.float && v.typ.signed:
		return floatValue(float64(v.int(ptr)), t)
	case t.float:
		return floatValue(float64(v.bits), t)
	}
	bits := v.bits
	if v.typ.signed {
		bits = uint64(v.int(ptr))
	}
	return value{typ: t}.as(bits, ptr)
}

// bytes returns the value in memory order.
func (v value) bytes(ptr int, o binary.ByteOrder) []byte {
	n := v.width(ptr)
	if v.typ.extended() {
		b := make([]byte, extendedSize)
		binary.LittleEndian.PutUint64(b, v.bits)
		binary.LittleEndian.PutUint16(b[8:], v.hi)
		return b
	}
	var b [8]byte
	if o == binary.ByteOrder(binary.BigEndian) {
		binary.BigEndian.PutUint64(b[:], v.bits<<(64-8*uint(n)))
	} else {
		binary.LittleEndian.PutUint64(b[:], v.bits)
	}
	return append([]byte(nil), b[:n]...)
}

// signed reports whether division and comparison of v are signed. For the generic type they are
// (DWARF 5, 2.5.1.4 and 2.5.1.5); DW_OP_mod is the exception.
func (v value) signed() bool { return v.typ.size == 0 || v.typ.signed }

// binary computes a op b for two values of one type.
func (a value) binary(op byte, b value, ptr int) (value, error) {
	if a.typ != b.typ && a.isInt() && b.isInt() && a.width(ptr) == b.width(ptr) {
		// clang mixes the generic type with an integer type of the same size.
		switch {
		case a.typ.size == 0:
			a.typ = b.typ
		case b.typ.size == 0:
			b.typ = a.typ
		}
	}
	if a.typ != b.typ {
		// Shift counts may be of any integral type: GCC shifts a typed value by
		// a generic constant.
		if !(op == opShl || op == opShr || op == opShra) || !b.isInt() || !a.isInt() {
			return value{}, errTypes
		}
	}
	if a.typ.float {
		return a.binaryFloat(op, b)
	}
	x, y := a.bits, b.bits
	bits := uint64(8 * a.width(ptr))
	switch op {
	case opAnd:
		return a.as(x&y, ptr), nil
	case opOr:
		return a.as(x|y, ptr), nil
	case opXor:
		return a.as(x^y, ptr), nil
	case opPlus:
		return a.as(x+y, ptr), nil
	case opMinus:
		return a.as(x-y, ptr), nil
	case opMul:
		return a.as(x*y, ptr), nil
	case opDiv:
		switch {
		case y == 0:
			return value{}, errDivide
		case a.signed():
			return a.as(uint64(a.int(ptr)/b.int(ptr)), ptr), nil // -2^63 / -1 wraps in Go
		}
		return a.as(x/y, ptr), nil
	case opMod:
		switch {
		case y == 0:
			return value{}, errDivide
		case a.typ.signed:
			return a.as(uint64(a.int(ptr)%b.int(ptr)), ptr), nil
		}
		return a.as(x%y, ptr), nil
	case opShl:
		if y >= bits {
			return a.as(0, ptr), nil
		}
		return a.as(x<<y, ptr), nil
	case opShr:
		if y >= bits {
			return a.as(0, ptr), nil
		}
		return a.as(x>>y, ptr), nil
	case opShra:
		return a.as(uint64(a.int(ptr)>>min(y, 63)), ptr), nil
	}
	less, equal := x < y, x == y
	if a.signed() {
		less = a.int(ptr) < b.int(ptr)
	}
	return compared(op, less, equal, !less && !equal), nil
}

func (a value) binaryFloat(op byte, b value) (value, error) {
	if a.typ.extended() {
		return a.binaryExtended(op, b)
	}
	x, y := a.toFloat(), b.toFloat()
	switch op {
	case opPlus:
		return floatValue(x+y, a.typ), nil
	case opMinus:
		return floatValue(x-y, a.typ), nil
	case opMul:
		return floatValue(x*y, a.typ), nil
	case opDiv:
		return floatValue(x/y, a.typ), nil
	case opEq, opGe, opGt, opLe, opLt, opNe:
		return compared(op, x < y, x == y, x > y), nil
	}
	return value{}, errInteger
}

// compared returns the result of a relation: 1 or 0 of the generic type.
func compared(op byte, less, equal, greater bool) value {
	var r bool
	switch op {
	case opEq:
		r = equal
	case opGe:
		r = equal || greater
	case opGt:
		r = greater
	case opLe:
		r = equal || less
	case opLt:
		r = less
	case opNe:
		r = !equal
	}
	if r {
		return value{bits: 1}
	}
	return value{}
}

// unary computes op v.
func (v value) unary(op byte, ptr int) (value, error) {
	if v.typ.extended() && (op == opAbs || op == opNeg) {
		if op == opNeg {
			v.hi ^= 1 << 15
		} else {
			v.hi &^= 1 << 15
		}
		return v, nil
	}
	if v.typ.float {
		switch op {
		case opAbs:
			return floatValue(math.Abs(v.toFloat()), v.typ), nil
		case opNeg:
			return floatValue(-v.toFloat(), v.typ), nil
		}
		return value{}, errInteger
	}
	switch op {
	case opAbs:
		if v.signed() && v.int(ptr) < 0 {
			return v.as(-v.bits, ptr), nil
		}
		return v, nil
	case opNeg:
		return v.as(-v.bits, ptr), nil
	}
	return v.as(^v.bits, ptr), nil // DW_OP_not
}
