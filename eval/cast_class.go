package eval

import (
	"dbg/symbols/types"
	"dbg/target"
)

// subobjects adds the base classes of obj of a type, and obj itself, at different places.
func subobjects(obj Value, base *types.Type, env Env, found []Value, depth int) []Value {
	if depth > 20 || len(found) > 16 || !isStruct(obj.Type) {
		return found
	}
	if sameClass(obj.Type, base) {
		for _, f := range found {
			if f.Addr == obj.Addr && f.HasAddr == obj.HasAddr {
				return found
			}
		}
		return append(found, obj)
	}
	fields := obj.Type.Strip().Fields()
	for i := range fields {
		if fields[i].Base && fields[i].Type != nil {
			found = subobjects(fieldOf(obj, &fields[i], env), base, env, found, depth+1)
		}
	}
	return found
}

// sameClass reports whether two types are the same class. A program has one class of a name, but for
// those in anonymous namespaces, whose sizes are compared, too.
func sameClass(a, b *types.Type) bool {
	a, b = a.Strip(), b.Strip()
	return a == b || a.Name != "" && a.Name == b.Name && a.Size == b.Size && a.Kind == b.Kind
}

// derives reports whether a class has a base class, also a virtual one, or is that class.
func derives(class, base *types.Type, depth int) bool {
	if depth > 20 || !isStruct(class) || !isStruct(base) {
		return false
	}
	if sameClass(class, base) {
		return true
	}
	for _, f := range class.Strip().Fields() {
		if f.Base && derives(f.Type, base, depth+1) {
			return true
		}
	}
	return false
}

// upcast returns the base class of an object, or the object itself.
func (e *evaluator) upcast(obj Value, base *types.Type) (Value, error) {
	found := subobjects(obj, base, e.env, nil, 0)
	switch len(found) {
	case 0:
		return Value{}, errorf("%s is not a base class of %s", base.Strip().Name, obj.Type.Strip().Name)
	case 1:
		return found[0], availabilityError(found[0])
	}
	return Value{}, errorf("base class '%s' is ambiguous in type '%s'", base.Strip().Name, obj.Type.Strip().Name)
}

// castObject returns the place to which a pointer or a reference to a class leads when it is converted to
// one to another class: C++20, section 7.6.1.9. Classes that are not related stay where they are.
func (e *evaluator) castObject(at target.Addr, from, to *types.Type) (target.Addr, error) {
	switch {
	case at == 0 || !isStruct(from) || !isStruct(to):
		return at, nil
	case derives(from, to, 0):
		obj, err := e.upcast(Value{Type: from, Addr: at, HasAddr: true}, to)
		return obj.Addr, err
	}
	if off, ok := baseOffset(to, from, 0); ok {
		return at - target.Addr(off), nil
	}
	if derives(to, from, 0) {
		return 0, errorf("cannot convert from pointer to base class '%s' to pointer to derived class '%s' because the base is "+
			"virtual",
			from.Strip().Name, to.Strip().Name)
	}
	return at, nil
}

// namedCast evaluates the casts of C++ that have a name.
func (e *evaluator) namedCast(n *node) (Value, error) {
	v, err := e.eval(n.a)
	if err != nil {
		return Value{}, err
	}
	switch n.text {
	case "reinterpret_cast":
		return e.reinterpret(n.typ, v)
	case "dynamic_cast":
		return e.dynamicCast(n.typ, v)
	case "const_cast":
		from := v.Type
		if isReference(n.typ) && !isReference(from) {
			from = types.New(types.Reference, "", 8, false, from)
		}
		if kindOf(n.typ) != kindOf(from) || kindOf(n.typ) != types.Pointer && !isReference(n.typ) ||
			!equivalent(elemOf(n.typ), elemOf(from)) {
			return Value{}, Error("Invalid const_cast.")
		}
	default:
		f, t := e.pointedClass(v.Type), e.pointedClass(n.typ)
		if f != nil && t != nil && !derives(f, t, 0) && !derives(t, f, 0) {
			return Value{}, errorf("invalid static_cast from type '%s' to type '%s'", TypeName(v), n.typ)
		}
	}
	return e.cast(n.typ, v)
}

// pointedClass returns the class to which a pointer or a reference leads, or nil.
func (e *evaluator) pointedClass(t *types.Type) *types.Type {
	if k := kindOf(t); k != types.Pointer && !isReference(t) || !isStruct(elemOf(t)) {
		return nil
	}
	return elemOf(t)
}

// reinterpret evaluates reinterpret_cast, which changes no address.
func (e *evaluator) reinterpret(t *types.Type, v Value) (Value, error) {
	const invalid = Error("Invalid reinterpret_cast.")
	v, err := follow(v, e.env)
	if err != nil {
		return Value{}, err
	}
	if isReference(t) {
		if !v.HasAddr {
			return Value{}, Error("Attempt to take address of value not located in memory.")
		}
		return newValue(t, number{i: uint64(v.Addr)})
	}
	if v, err = e.read(v); err != nil {
		return Value{}, err
	}
	address := func(k types.Kind) bool { return k == types.Pointer || k == types.Array || k == types.Func }
	from, to := kindOf(v.Type), kindOf(t)
	switch {
	case to == types.MemberPointer && from == to && sizeOf(t) == sizeOf(v.Type):
		return Value{Type: t, Bytes: v.Bytes}, nil
	case to == types.Pointer && (address(from) || isIntegral(v.Type) && from != types.MemberPointer),
		isIntegral(t) && address(from) && sizeOf(t) >= int64(e.env.Arch().PtrSize),
		isIntegral(t) && isIntegral(v.Type) && isNumeric(v.Type): // gdb allows all of these
		n, err := numberOf(v)
		if err != nil {
			return Value{}, err
		}
		n.typ = nil
		return newValue(t, n)
	}
	return Value{}, invalid
}

// dynamicCast evaluates dynamic_cast by the run-time type of the object: C++20, section 7.6.1.7.
func (e *evaluator) dynamicCast(t *types.Type, v Value) (Value, error) {
	to := elemOf(t)
	reference := isReference(t)
	if kindOf(t) != types.Pointer && !reference {
		return Value{}, Error("Argument to dynamic_cast must be a pointer or reference type")
	}
	if kindOf(to) != types.Void && !isStruct(to) {
		return Value{}, Error("Argument to dynamic_cast must be pointer to class or `void *'")
	}
	obj, err := follow(v, e.env)
	if err != nil {
		return Value{}, err
	}
	if !reference {
		if obj, err = e.read(obj); err != nil {
			return Value{}, err
		}
		if kindOf(obj.Type) != types.Pointer {
			return Value{}, Error("Argument to dynamic_cast does not have pointer type")
		}
		if n, err := numberOf(obj); err != nil || n.zero() {
			return Value{Type: t, Bytes: make([]byte, max(sizeOf(t), 0))}, err
		}
		if obj, err = indirect(obj, e.env); err != nil {
			return Value{}, err
		}
	}
	if !isStruct(obj.Type) || !obj.HasAddr {
		return Value{}, Error("Argument to dynamic_cast does not have pointer to class type")
	}
	if kindOf(to) != types.Void && derives(obj.Type, to, 0) {
		up, err := e.upcast(obj, to)
		if err != nil {
			return Value{}, err
		}
		return newValue(t, number{i: uint64(up.Addr)})
	}
	whole, err := e.mostDerived(obj)
	if err != nil {
		return Value{}, err
	}
	if kindOf(to) == types.Void {
		return newValue(t, number{i: uint64(whole.Addr)})
	}
	at := pickSubobject(subobjects(whole, to, e.env, nil, 0), obj, e.env)
	if at == 0 && reference {
		return Value{}, Error("dynamic_cast failed")
	}
	return newValue(t, number{i: uint64(at)})
}

// pickSubobject chooses the object to which a dynamic_cast leads: the one that contains the source, else
// the only one. 0: the cast fails.
func pickSubobject(found []Value, source Value, env Env) target.Addr {
	var at target.Addr
	n := 0
	for _, f := range found {
		for _, in := range subobjects(f, source.Type, env, nil, 0) {
			if in.Addr == source.Addr {
				at, n = f.Addr, n+1
			}
		}
	}
	if n == 0 && len(found) == 1 {
		return found[0].Addr
	}
	if n == 1 {
		return at
	}
	return 0
}

// mostDerived returns the complete object of which obj is a part, by its virtual table.
func (e *evaluator) mostDerived(obj Value) (Value, error) {
	if !isPolymorphic(obj.Type, 0) {
		return Value{}, Error("Argument to dynamic_cast does not have polymorphic type")
	}
	whole, ok := Complete(obj, e.env)
	if !ok {
		return Value{}, errorf("the run-time type of the object at %s is not known", obj.Addr)
	}
	return whole, nil
}

// isPolymorphic reports whether a class, or a base of it, has virtual methods or virtual bases.
func isPolymorphic(t *types.Type, depth int) bool {
	if depth > 20 || !isStruct(t) {
		return false
	}
	for _, m := range t.Strip().Methods() {
		if m.Virtual {
			return true
		}
	}
	for _, f := range t.Strip().Fields() {
		if f.Base && (f.Virtual || isPolymorphic(f.Type, depth+1)) {
			return true
		}
	}
	return false
}
