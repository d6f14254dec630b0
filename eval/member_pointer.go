package eval

import (
	"encoding/binary"
	"math"

	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// Pointers to members are those of the Itanium C++ ABI, section 2.3: the offset of a data member, or -1;
// the address of a method or 1 + the offset in the virtual table, and an adjustment of "this".

const errNullMember = Error("The pointer to member is null.")

// memberSet reports whether a pointer to member is not null.
func memberSet(v Value) (bool, error) {
	if err := availabilityError(v); err != nil {
		return false, err
	}
	switch {
	case kindOf(elemOf(v.Type)) != types.Func && len(v.Bytes) == 8:
		return rawUint(v.Bytes) != math.MaxUint64, nil
	case len(v.Bytes) == 16:
		return rawUint(v.Bytes[:8]) != 0 || rawUint(v.Bytes[8:])&1 != 0, nil
	}
	return false, errNotNumber
}

// sameMember compares two pointers to members, or one with null. done is false for other operations.
func sameMember(op string, a, b Value) (v Value, done bool, err error) {
	if op != "==" && op != "!=" {
		return Value{}, false, nil
	}
	if kindOf(a.Type) != types.MemberPointer {
		a, b = b, a
	}
	if kindOf(a.Type) != types.MemberPointer {
		return Value{}, false, nil
	}
	set, err := memberSet(a)
	if err != nil {
		return Value{}, true, err
	}
	if kindOf(b.Type) != types.MemberPointer {
		n, err := numberOf(b)
		if err != nil || n.isFloat || !n.zero() {
			return Value{}, true, errNotNumber
		}
		return truthValue(!set == (op == "=="), a.Type), true, nil
	}
	other, err := memberSet(b)
	if err != nil {
		return Value{}, true, err
	}
	same := !set && !other
	if set && other {
		x, err := convertMember(a, b.Type.Strip().Container())
		if err != nil {
			if x, err = convertMember(b, a.Type.Strip().Container()); err != nil {
				return Value{}, true, err
			}
			b = a
		}
		same = string(x.Bytes) == string(b.Bytes)
	}
	return truthValue(same == (op == "=="), a.Type), true, nil
}

// convertMember returns a pointer to a member as one of another class: the adjustment changes by the
// place of the base class.
func convertMember(v Value, class *types.Type) (Value, error) {
	from := v.Type.Strip().Container()
	if from == nil || class == nil {
		return v, errInvalidCast
	}
	d, ok := baseOffset(class, from, 0)
	if !ok {
		if d, ok = baseOffset(from, class, 0); !ok {
			return v, Error("Pointers to members of classes that are not related.")
		}
		d = -d
	}
	if set, err := memberSet(v); err != nil || !set || d == 0 {
		return v, err
	}
	b := append([]byte(nil), v.Bytes...)
	word := b[len(b)-8:]
	binary.LittleEndian.PutUint64(word, rawUint(word)+uint64(d))
	v.Bytes = b
	return v, nil
}

// castMemberPointer converts to a pointer to member, from another one or from null.
func castMemberPointer(t *types.Type, v Value) (Value, error) {
	switch {
	case kindOf(t) == types.Bool:
		set, err := memberSet(v)
		return Value{Type: t, Bytes: Bool(set).Bytes}, err
	case kindOf(t) != types.MemberPointer:
		return Value{}, errInvalidCast
	case kindOf(v.Type) == types.MemberPointer:
		if sizeOf(t) != sizeOf(v.Type) || (kindOf(elemOf(t)) == types.Func) != (kindOf(elemOf(v.Type)) == types.Func) {
			return Value{}, errInvalidCast
		}
		out, err := convertMember(v, t.Strip().Container())
		return Value{Type: t, Bytes: out.Bytes}, err
	}
	n, err := numberOf(v)
	if err != nil || n.isFloat || !n.zero() || sizeOf(t) != 8 && sizeOf(t) != 16 {
		return Value{}, errInvalidCast
	}
	b := make([]byte, sizeOf(t))
	if kindOf(elemOf(t)) != types.Func {
		binary.LittleEndian.PutUint64(b, math.MaxUint64)
	}
	return Value{Type: t, Bytes: b}, nil
}

// addressOfMember evaluates &C::m for a member that is not static. done is false if the name is not that
// of one.
func (e *evaluator) addressOfMember(name string) (v Value, done bool, err error) {
	scope, ok := scopeOf(name)
	if !ok {
		return Value{}, false, nil
	}
	class := e.env.Type(scope)
	if !isStruct(class) {
		return Value{}, false, nil
	}
	return e.memberOf(class.Strip(), name[len(scope)+2:], 0)
}

func (e *evaluator) memberOf(class *types.Type, name string, depth int) (v Value, done bool, err error) {
	if depth > 20 || !isStruct(class) {
		return Value{}, false, nil
	}
	for _, f := range class.Fields() {
		switch {
		case f.Name != name || f.Base:
			continue
		case f.Static:
			return Value{}, false, nil
		case f.BitSize > 0:
			return Value{}, true, Error("Attempt to take address of value not located in memory.")
		}
		t := types.NewMemberPointer(class, f.Type, 8)
		return Value{Type: t, Bytes: intValue(typeLong, uint64(f.Offset)).Bytes}, true, nil
	}
	var found []types.Method
	for _, m := range class.Methods() {
		if m.Name == name && !m.Static && !m.Deleted {
			found = append(found, m)
		}
	}
	if len(found) > 1 {
		return Value{}, true, errorf("%s::%s is overloaded: which one is meant is not known", class.Name, name)
	}
	if len(found) == 1 {
		v, err := e.methodPointer(class, &found[0])
		return v, true, err
	}
	for _, f := range class.Fields() {
		if f.Base && f.Type != nil {
			if v, done, err := e.memberOf(f.Type.Strip(), name, depth+1); done {
				return v, true, err
			}
		}
	}
	return Value{}, false, nil
}

// methodPointer makes a pointer to a method.
func (e *evaluator) methodPointer(class *types.Type, m *types.Method) (Value, error) {
	b := make([]byte, 16)
	if m.Virtual && m.HasSlot {
		binary.LittleEndian.PutUint64(b, uint64(m.Slot)*8+1)
		if e.env.Arch() == arch.ARM64 { // there the flag is in the adjustment
			binary.LittleEndian.PutUint64(b, uint64(m.Slot)*8)
			b[8] = 1
		}
	} else {
		caller, ok := e.env.(Caller)
		if !ok || m.Linkage == "" {
			return Value{}, errorf("the address of %s::%s is not known", class.Name, m.Name)
		}
		fs := caller.Functions(m.Linkage)
		if len(fs) == 0 {
			return Value{}, errorf("the address of %s::%s is not known: it may be inlined", class.Name, m.Name)
		}
		binary.LittleEndian.PutUint64(b, uint64(fs[0].Addr))
	}
	return Value{Type: types.NewMemberPointer(class, m.Type, 16), Bytes: b}, nil
}

// throughMember evaluates o.*m and p->*m. For a method, the second result is the pointer to the object.
func (e *evaluator) throughMember(n *node) (v, this Value, err error) {
	obj, err := e.eval(n.a)
	if err != nil {
		return v, this, err
	}
	if obj, err = e.pointee(obj); err != nil {
		return v, this, err
	}
	m, err := e.operand(n.b)
	if err != nil {
		return v, this, err
	}
	if kindOf(m.Type) != types.MemberPointer {
		return v, this, Error("not implemented: pointer-to-method in pointer-to-member construct")
	}
	if !isStruct(obj.Type) {
		return v, this, Error("Attempt to extract a component of a value that is not a structure.")
	}
	if set, err := memberSet(m); err != nil || !set {
		if err == nil {
			err = errNullMember
		}
		return v, this, err
	}
	class := m.Type.Strip().Container()
	if class == nil {
		return v, this, Error("The class of the pointer to member is not known.")
	}
	if obj, err = e.upcast(obj, class); err != nil {
		return v, this, err
	}
	if kindOf(elemOf(m.Type)) == types.Func {
		return e.methodThrough(obj, m)
	}
	off, t := int64(rawUint(m.Bytes)), elemOf(m.Type)
	if size := sizeOf(class); off < 0 || size < 0 || off > size || sizeOf(t) > size-off {
		return v, this, Error("The pointer to member is outside of the object.")
	}
	return part(obj, off, t, ""), this, nil
}

// methodThrough finds the method of a pointer to member in an object.
func (e *evaluator) methodThrough(obj, m Value) (fn, this Value, err error) {
	if !obj.HasAddr || len(m.Bytes) != 16 {
		return fn, this, Error("Attempt to take address of value not located in memory.")
	}
	ptr, adj := rawUint(m.Bytes[:8]), rawUint(m.Bytes[8:])
	virtual := ptr&1 != 0
	if e.env.Arch() == arch.ARM64 {
		virtual = adj&1 != 0
		adj = uint64(int64(adj) >> 1)
	} else if virtual {
		ptr--
	}
	at := uint64(obj.Addr) + adj
	if virtual {
		table, err := e.word(target.Addr(at))
		if err == nil {
			ptr, err = e.word(target.Addr(table + ptr))
		}
		if err != nil {
			return fn, this, err
		}
	}
	this, err = newValue(pointerTo(obj.Type, e.env.Arch().PtrSize), number{i: at})
	fn = FunctionValue("*", target.Addr(ptr), elemOf(m.Type).Strip())
	fn.Name = ""
	return fn, this, err
}
