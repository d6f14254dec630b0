package eval

import (
	"dbg/symbols/types"
	"dbg/target"
)

var errInvalidCast = Error("Invalid cast.")

// cast is (type) v. v needs not be read.
func (e *evaluator) cast(t *types.Type, v Value) (Value, error) {
	if isReference(t) && !isReference(v.Type) {
		if !v.HasAddr {
			return Value{}, Error("Attempt to take address of value not located in memory.")
		}
		return newValue(t, number{i: uint64(v.Addr)})
	}
	if isReference(t) && isReference(v.Type) {
		r, err := follow(v, e.env)
		if err != nil {
			return Value{}, err
		}
		return newValue(t, number{i: uint64(r.Addr)})
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
	case to == types.Func || to == types.Opaque || to == types.Unsupported || to == types.Complex:
		return Value{}, errInvalidCast
	case isStruct(v.Type):
		return Value{}, errInvalidCast
	case kindOf(v.Type) == types.Array && !v.HasAddr:
		return Value{}, Error("evaluation of this expression requires the target to allocate memory")
	case kindOf(v.Type) == types.Float && to != types.Float && !isIntegral(t):
		return Value{}, errInvalidCast
	}
	if to == kindOf(v.Type) && sizeOf(t) == sizeOf(v.Type) && v.BitSize == 0 && v.Bytes != nil && to != types.Pointer {
		// The same bytes with another name: also for those that can't be computed with.
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
		n.i += uint64(baseAdjustment(elemOf(v.Type), elemOf(t)))
	}
	return newValue(t, n)
}

// castAggregate takes an aggregate as another type of the same place.
func (e *evaluator) castAggregate(t *types.Type, v Value) (Value, error) {
	if isStruct(t) && isStruct(v.Type) {
		if off, ok := baseOffset(v.Type, t, 0); ok {
			return part(v, off, t, ""), nil
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

// baseOffset is where a base class is in a class; ok also if they are the same.
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

// baseAdjustment is what a pointer changes by when it is cast between a class and a base
// class of it.
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

// Truth says whether a value counts as true: it is not zero.
func Truth(v Value, env Env) (bool, error) {
	v, err := (&evaluator{env: env}).read(v)
	if err != nil {
		return false, err
	}
	return isTrue(v, "!")
}

// Int is the value as an integer.
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

// AddressOf is the address that a value names: a pointer's or an integer's value, an array's
// or a function's place, and that of a structure.
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
