package eval

import (
	"bytes"

	"dbg/symbols/types"
	"dbg/target"
)

var errInvalidCast = Error("Invalid cast.")

// cast evaluates (type) v. v need not have been read.
func (e *evaluator) cast(t *types.Type, v Value) (Value, error) {
	if isReference(t) {
		r, err := follow(v, e.env)
		if err != nil {
			return Value{}, err
		}
		if !r.HasAddr {
			return Value{}, Error("Attempt to take address of value not located in memory.")
		}
		at, err := e.castObject(r.Addr, r.Type, elemOf(t))
		if err != nil {
			return Value{}, err
		}
		return newValue(t, number{i: uint64(at)})
	}
	v, err := e.read(v)
	if err != nil {
		return Value{}, err
	}
	to := kindOf(t)
	switch {
	case to == types.Void:
		return Value{Type: typeVoid}, nil
	case to == types.Struct, to == types.Union, to == types.Array:
		return e.castAggregate(t, v)
	case to == types.Func || to == types.Opaque || to == types.Unsupported:
		return Value{}, errInvalidCast
	case to == types.Complex || kindOf(v.Type) == types.Complex:
		return castComplex(t, v)
	case to == types.MemberPointer || kindOf(v.Type) == types.MemberPointer:
		return castMemberPointer(t, v)
	case isStruct(v.Type):
		return Value{}, errInvalidCast
	case kindOf(v.Type) == types.Array && !v.HasAddr:
		return Value{}, Error("evaluation of this expression requires the target to allocate memory")
	case kindOf(v.Type) == types.Float && to == types.Pointer, kindOf(v.Type) == types.Pointer && to == types.Float:
		return Value{}, errInvalidCast
	}
	if to == kindOf(v.Type) && sizeOf(t) == sizeOf(v.Type) && v.BitSize == 0 && v.Bytes != nil && to != types.Pointer &&
		(to != types.Float || sameFormat(t, v.Type)) {
		// The bytes stay the same, and only the type changes, even if the value can't be used in
		// arithmetic.
		return Value{Type: t, Bytes: v.Bytes}, nil
	}
	n, err := numberOf(v)
	if err == errNotNumber {
		err = errInvalidCast
	}
	if err != nil {
		return Value{}, err
	}
	if to == types.Pointer && kindOf(v.Type) == types.Pointer && n.i != 0 {
		at, err := e.castObject(target.Addr(n.i), elemOf(v.Type), elemOf(t))
		if err != nil {
			return Value{}, err
		}
		n.i = uint64(at)
	}
	return newValue(t, n)
}

// castAggregate reinterprets an aggregate as another type at the same place.
func (e *evaluator) castAggregate(t *types.Type, v Value) (Value, error) {
	if isStruct(t) && isStruct(v.Type) {
		if off, ok := baseOffset(v.Type, t, 0); ok {
			return part(v, off, t, ""), nil
		}
		if derives(v.Type, t, 0) {
			return e.upcast(v, t)
		}
		if off, ok := baseOffset(t, v.Type, 0); ok && v.HasAddr {
			return Value{Type: t, Addr: v.Addr - target.Addr(off), HasAddr: true}, nil
		}
	}
	if kindOf(t) == types.Array && kindOf(v.Type) == types.Array && v.HasAddr {
		return Value{Type: t, Addr: v.Addr, HasAddr: true}, nil
	}
	return Value{}, errInvalidCast
}

// baseOffset returns the offset of a base class in a class. ok is also true if they are the same.
func baseOffset(class, base *types.Type, depth int) (int64, bool) {
	c, b := class.Strip(), base.Strip()
	if c == b || c.Name != "" && c.Name == b.Name && c.Size == b.Size && c.Kind == b.Kind {
		return 0, true
	}
	if depth > 20 || c.Kind != types.Struct {
		return 0, false
	}
	for _, f := range c.Fields() {
		if f.Base && !f.Virtual && f.Type != nil {
			if off, ok := baseOffset(f.Type, base, depth+1); ok {
				return f.Offset + off, true
			}
		}
	}
	return 0, false
}

// baseAdjustment returns the change of a pointer when it is cast between a class and one of its
// base classes.
func baseAdjustment(from, to *types.Type) int64 {
	if !isStruct(from) || !isStruct(to) {
		return 0
	}
	if off, ok := baseOffset(from, to, 0); ok {
		return off
	}
	if off, ok := baseOffset(to, from, 0); ok {
		return -off
	}
	return 0
}

// Truth reports whether a value is true: not zero.
func Truth(v Value, env Env) (bool, error) {
	v, err := (&evaluator{env: env}).read(v)
	if err != nil {
		return false, err
	}
	return isTrue(v, "!")
}

// Int returns the value as an integer.
func Int(v Value, env Env) (int64, error) {
	v, err := (&evaluator{env: env}).read(v)
	if err != nil {
		return 0, err
	}
	n, err := numberOf(v)
	if err == errNotNumber {
		err = Error("Value can't be converted to integer.")
	}
	return int64(n.integer()), err
}

// Float returns the value as a floating-point number.
func Float(v Value, env Env) (float64, error) {
	v, err := (&evaluator{env: env}).read(v)
	if err != nil {
		return 0, err
	}
	n, err := numberOf(v)
	if err == errNotNumber {
		err = Error("Value can't be converted to a floating-point number.")
	}
	if err != nil {
		return 0, err
	}
	return n.float(), nil
}

// CString returns the characters of an array of them, or those that a pointer leads to, up to a
// zero and at most limit.
func CString(v Value, env Env, limit int) (string, error) {
	if v.Type != nil && v.Type.Strip().Kind == types.Array {
		v = load(v, env)
		if v.Err != nil {
			return "", v.Err
		}
		b, _, _ := bytes.Cut(v.Bytes, []byte{0})
		return string(b[:min(len(b), limit)]), nil
	}
	a, err := AddressOf(v, env)
	if err != nil {
		return "", err
	}
	b, _, err := readString(env, a, 1, limit)
	if err != nil && len(b) == 0 {
		return "", err
	}
	return string(b), nil
}

// AddressOf returns the address that a value denotes: the value of a pointer or an integer, or the
// place of an array, a function or a structure.
func AddressOf(v Value, env Env) (target.Addr, error) {
	v, err := follow(v, env)
	if err != nil {
		return 0, err
	}
	if isStruct(v.Type) && v.HasAddr {
		return v.Addr, nil
	}
	n, err := Int(v, env)
	return target.Addr(n), err
}
