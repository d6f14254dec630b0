package eval

import "dbg/symbols/types"

// cast compiles (type) o. o need not have been read.
func (k *compiler) cast(t *types.Type, o operand) (operand, error) {
	if isReference(t) {
		if isReference(o.typ()) {
			var err error
			if o, err = k.follow(o); err != nil {
				return o, err
			}
		}
		if f, t := o.typ(), elemOf(t); isStruct(f) && isStruct(t) && !sameClass(f, t) {
			return o, notCompiled("a reference to another class")
		}
		if o.at != inMemory || o.v.BitSize > 0 {
			return o, notCompiled("a reference to a value that is not in memory")
		}
		return stacked(t), nil
	}
	m := k.mark()
	o, err := k.read(o)
	if err != nil {
		return o, err
	}
	to := kindOf(t)
	if to == types.Struct || to == types.Union || to == types.Array {
		return k.castAggregate(t, o)
	}
	result, err := k.types.cast(t, o.stand())
	if err != nil {
		return o, err
	}
	if to == types.Void { // the comma operator removes what was emitted
		return operand{at: nothing, v: Value{Type: typeVoid}}, nil
	}
	if o.fixed() {
		if k.depth > m.depth {
			k.rollback(m)
		}
		return constant(result), nil
	}
	if yes, err := o.isScalar(); err != nil || !yes {
		return o, notCompiled("a cast of a value without a number")
	}
	return stacked(t), k.convert(t, &o)
}

// convert emits the conversion of a number to a scalar type.
func (k *compiler) convert(t *types.Type, o *operand) error {
	from, to := o.typ(), kindOf(t)
	if to == kindOf(from) && sizeOf(t) == sizeOf(from) && o.v.BitSize == 0 && to != types.Pointer {
		if to == types.Float {
			return k.round(t)
		}
		return k.fit(t) // the same bytes with another name
	}
	if to == types.Pointer && kindOf(from) == types.Pointer {
		if f, t := elemOf(from), elemOf(t); hasVirtualBase(f, t) {
			return notCompiled("a virtual base class")
		}
		if d := baseAdjustment(elemOf(from), elemOf(t)); d != 0 {
			k.emit(instruction{op: opAdjust, n: d})
		}
	}
	switch to {
	case types.Float:
		if !isFloat(o) {
			k.emit(intToFloat(isSigned(from), sizeOf(t) == 4))
		}
		return k.round(t)
	case types.Bool:
		if isFloat(o) {
			k.emit(instruction{op: opFloatNonzero})
		} else {
			k.emit(instruction{op: opNonzero})
		}
		return k.fit(t)
	}
	if isFloat(o) {
		k.emit(instruction{op: opFloatToInt})
	}
	return k.fit(t)
}

// hasVirtualBase reports whether two classes are related, but not at a fixed distance.
func hasVirtualBase(a, b *types.Type) bool {
	if !derives(a, b, 0) && !derives(b, a, 0) {
		return false
	}
	_, up := baseOffset(a, b, 0)
	_, down := baseOffset(b, a, 0)
	return !up && !down
}

// castAggregate reinterprets an aggregate as another type at the same place.
func (k *compiler) castAggregate(t *types.Type, o operand) (operand, error) {
	from := o.typ()
	if isStruct(t) && isStruct(from) {
		if off, ok := baseOffset(from, t, 0); ok {
			return k.part(o, off, t, "")
		}
		if off, ok := baseOffset(t, from, 0); ok && o.at == inMemory {
			return k.part(o, -off, t, "")
		}
	}
	if kindOf(t) == types.Array && kindOf(from) == types.Array && o.at == inMemory {
		o.v.Type = t
		return o, nil
	}
	return o, errInvalidCast
}
