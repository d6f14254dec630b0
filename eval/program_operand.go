package eval

import (
	"math"

	"dbg/expr"
	"dbg/symbols/types"
)

// where is the place of an operand's value while its program runs.
type where uint8

const (
	known    where = iota // the value is known at compile time: v.Bytes; nothing is on the stack
	inMemory              // its address is on the stack
	inBits                // its bytes are on the stack, the lowest first
	onStack               // its number is on the stack
	inPieces              // the value is in several places; nothing is on the stack
	nothing               // void: it has no value
)

// operand is the compiler's information about a value: the static part of a Value.
type operand struct {
	at where
	// v holds the type. If the value is known, or its number is, v also holds the bytes. For a
	// bit-field that is inMemory or inBits, v holds its bits. For a variable in a register, v holds
	// InReg, Reg and Name.
	v Value
	// pieces are the places of the parts of a value that is inPieces. The value starts off bytes
	// from the start of the first piece.
	pieces []expr.LinearPiece
	off    int64
}

func (o *operand) typ() *types.Type { return o.v.Type }

// fixed reports whether the value is known at compile time.
func (o *operand) fixed() bool { return o.v.Bytes != nil }

// stand returns a Value that represents the operand: with its type, and with its bytes if they are
// known, otherwise 1. With it, the evaluator's own functions determine the type of a result, or an
// error.
func (o *operand) stand() Value {
	if o.fixed() {
		return o.v
	}
	return o.one()
}

func (o *operand) one() Value {
	v := Value{Type: o.v.Type}
	if isIntegral(v.Type) {
		v.BitSize = o.v.BitSize // it decides about the promotion
	}
	switch size := sizeOf(v.Type); kindOf(v.Type) {
	case types.Array, types.Func:
		v.HasAddr, v.Addr = o.at == inMemory || o.at == onStack, 1
	case types.Void:
	default:
		if size > 0 && size <= maxFetch {
			v.Bytes = make([]byte, size)
			if kindOf(v.Type) != types.Float || !encodeFloat(v.Bytes, number{f: 1, isFloat: true}, v.Type.Strip()) {
				v.Bytes[0] = 1
			}
		}
	}
	return v
}

// constant returns an operand for a known value.
func constant(v Value) operand { return operand{at: known, v: v} }

// stacked returns an operand for a number that was emitted.
func stacked(t *types.Type) operand { return operand{at: onStack, v: Value{Type: t}} }

// isScalar reports whether numberOf can convert the operand to a number that a program can use in
// arithmetic. The error is that of numberOf.
func (o *operand) isScalar() (bool, error) {
	t := o.typ()
	switch {
	case t == nil || o.at == nothing:
		return false, nil
	case kindOf(t) == types.Func, kindOf(t) == types.Array:
		return o.at == inMemory || o.at == onStack, nil
	case kindOf(t) == types.Float:
		if n := sizeOf(t); n != 4 && n != 8 {
			return false, notCompiled("a floating point format")
		}
		return true, nil
	case isIntegral(t):
		n := sizeOf(t)
		if n > 8 && o.v.BitSize == 0 {
			return false, notCompiled("an integer of more than 8 bytes")
		}
		if n < 1 || (o.v.BitOffset+o.v.BitSize+7)/8 > 8 {
			return false, notCompiled("a value of this size")
		}
		return true, nil
	}
	return false, nil
}

// read follows a reference, and puts the number of a scalar on the stack. It does not change other
// values.
func (k *compiler) read(o operand) (operand, error) {
	o, err := k.follow(o)
	if err != nil {
		return o, err
	}
	yes, err := o.isScalar()
	if err != nil {
		k.lost = err
	}
	if !yes {
		return o, nil
	}
	t := o.typ()
	if o.at == inPieces {
		o = k.gather(o)
	}
	switch o.at {
	case known:
		n, err := numberOf(o.v)
		if err != nil {
			return o, err
		}
		k.constant(n)
		return operand{at: onStack, v: Value{Type: t, Bytes: o.v.Bytes, BitSize: o.v.BitSize,
			BitOffset: o.v.BitOffset, enumerator: o.v.enumerator}}, nil
	case inMemory:
		if kindOf(t) == types.Func || kindOf(t) == types.Array {
			return o, nil // its number is its address
		}
		k.load(&o)
	case inBits:
		k.extract(&o)
	}
	return operand{at: onStack, v: Value{Type: t, BitSize: o.v.BitSize}}, nil
}

// constant emits a known number.
func (k *compiler) constant(n number) {
	u := n.i
	if n.isFloat {
		u = math.Float64bits(n.f)
	}
	k.emit(instruction{op: opConst, n: int64(u)})
}

// load replaces the address on the stack by the number at that address.
func (k *compiler) load(o *operand) {
	t := o.typ()
	n := byteSize(o.v)
	if kindOf(t) == types.Float {
		k.emit(instruction{op: opLoad, size: uint8(n), bits: uint8(n * 8)})
		k.single(n)
		return
	}
	if o.v.BitSize > 0 {
		k.emit(instruction{op: opLoad, size: uint8(n), bits: uint8(n * 8)})
		k.extract(o)
		return
	}
	k.emit(instruction{op: opLoad, size: uint8(n), bits: uint8(n * 8), signed: isSigned(t)})
}

// extract replaces the bytes on the stack by their number.
func (k *compiler) extract(o *operand) {
	t, bits := o.typ(), sizeOf(o.typ())*8
	if o.v.BitSize > 0 {
		bits = o.v.BitSize
		if o.v.BitOffset > 0 {
			k.emit(instruction{op: opShiftDown, n: o.v.BitOffset})
		}
	}
	if kindOf(t) == types.Float {
		k.single(bits / 8)
		return
	}
	k.emit(instruction{op: opExtend, bits: uint8(bits), signed: isSigned(t)})
}

// single converts the bytes of a float to a float64.
func (k *compiler) single(size int64) {
	if size == 4 {
		k.emit(instruction{op: opSingle})
	}
}

// follow compiles the target of a reference.
func (k *compiler) follow(o operand) (operand, error) {
	for range maxNesting {
		if !isReference(o.typ()) {
			return o, nil
		}
		if o.at == inPieces {
			o = k.gather(o)
		}
		switch o.at {
		case known:
			n, err := numberOf(o.v)
			if err != nil {
				return o, err
			}
			k.constant(n)
		case inMemory:
			k.load(&o)
		case inBits:
			k.extract(&o)
		}
		o = operand{at: inMemory, v: Value{Type: elemOf(o.typ()), Name: o.v.Name}}
	}
	return o, Error("reference to itself")
}

// part returns the part of an operand that starts off bytes from its start, like part for a Value.
func (k *compiler) part(o operand, off int64, t *types.Type, name string) (operand, error) {
	n := sizeOf(t)
	switch o.at {
	case known:
		v := part(o.v, off, t, name)
		if v.Avail != Available || v.Bytes == nil {
			return o, notCompiled("a part that is not known")
		}
		return constant(v), nil
	case inPieces:
		o.v, o.off = Value{Type: t, Name: name}, o.off+off
		return o, nil
	case inMemory:
		k.emit(instruction{op: opAddConst, n: off})
		return operand{at: inMemory, v: Value{Type: t, Name: name}}, nil
	case inBits:
		if size := sizeOf(o.typ()); off < 0 || n <= 0 || off > size || n > size-off {
			return o, notCompiled("a part of a register")
		}
		if off > 0 {
			k.emit(instruction{op: opShiftDown, n: off * 8})
		}
		return operand{at: inBits, v: Value{Type: t, Name: name, InReg: o.v.InReg, Reg: o.v.Reg}}, nil
	}
	return o, notCompiled("a part of a value")
}

// bitPart returns a bit-field of an operand, which starts at a bit and has type t.
func (k *compiler) bitPart(o operand, bit, size int64, t *types.Type, name string) (operand, error) {
	if bit < 0 || size <= 0 || size > 64 || bit%8+size > 64 || !isIntegral(t) {
		return o, notCompiled("a bit-field")
	}
	bytes, _ := arrayOf(typeUchar, (bit%8+size+7)/8)
	o, err := k.part(o, bit/8, bytes, name)
	o.v.Type, o.v.BitSize, o.v.BitOffset = t, size, bit%8
	return o, err
}
