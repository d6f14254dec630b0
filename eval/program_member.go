package eval

import (
	"strings"

	"dbg/expr"
	"dbg/symbols/types"
)

// pointee compiles the target of a pointer or reference. For a structure it returns the structure.
func (k *compiler) pointee(o operand) (operand, error) {
	o, err := k.follow(o)
	if err != nil {
		return o, err
	}
	switch kindOf(o.typ()) {
	case types.Pointer:
		if o, err = k.read(o); err != nil {
			return o, err
		}
		return k.indirect(o)
	case types.Array:
		if isStruct(elemOf(o.typ())) {
			return k.element(o, constant(intValue(typeInt, 0)))
		}
	}
	return o, nil
}

// viewKnows reports whether the view of a class has an operator.
func (k *compiler) viewKnows(t *types.Type, operator string, args ...Value) bool {
	w, ok := k.c.Env.(Viewer)
	if !ok || !isStruct(t) {
		return false
	}
	view := w.View(Value{Type: t, Avail: OptimizedOut})
	if view == nil {
		return false
	}
	_, ok, _ = view.Method(operator, args)
	return ok
}

// indirect compiles *o for a pointer that was read.
func (k *compiler) indirect(o operand) (operand, error) {
	t := elemOf(o.typ())
	if kindOf(t) == types.Void {
		return o, Error("Attempt to take contents of a non-pointer value.")
	}
	return operand{at: inMemory, v: Value{Type: t}}, nil
}

// dereference compiles the operator *.
func (k *compiler) dereference(n *node) (operand, error) {
	o, err := k.operand(n)
	if err != nil {
		return o, err
	}
	if hasRustView(o.typ()) {
		return o, notCompiled("the operator * of a view")
	}
	switch kindOf(o.typ()) {
	case types.Pointer:
		return k.indirect(o)
	case types.Array:
		return k.element(o, constant(intValue(typeInt, 0)))
	case types.Func:
		return o, nil
	case types.Int, types.Uint, types.Char, types.Enum:
		return operand{at: inMemory, v: Value{Type: typeInt}}, nil
	case types.Struct, types.Union:
		if k.viewKnows(o.typ(), "operator*") {
			return o, notCompiled("the operator * of a view")
		}
	}
	return o, Error("Attempt to take contents of a non-pointer value.")
}

// addressOf compiles the operator &.
func (k *compiler) addressOf(n *node) (operand, error) {
	o, err := k.eval(n)
	if err != nil {
		return o, err
	}
	if o, err = k.follow(o); err != nil {
		return o, err
	}
	switch {
	case o.at == inMemory && o.v.BitSize == 0:
		return stacked(pointerTo(o.typ(), k.c.Arch.PtrSize)), nil
	case o.v.InReg && o.v.Name != "":
		return o, errorf("Address requested for identifier %q which is in register $%s", o.v.Name, k.c.Arch.RegName(o.v.Reg))
	}
	return o, Error("Attempt to take address of value not located in memory.")
}

// dot compiles the operators . and ->.
func (k *compiler) dot(n *node) (operand, error) {
	m := k.mark()
	whole := func(err error) (operand, error) {
		if full := dotted(n); full != "" && !isNotCompiled(err) {
			k.rollback(m)
			if o, e2 := k.symbol(full); e2 == nil || isNotCompiled(e2) {
				return o, e2
			}
		}
		return operand{}, err
	}
	o, err := k.eval(n.a)
	if err != nil {
		return whole(err)
	}
	if n.op == "->" {
		if o, err = k.follow(o); err != nil {
			return o, err
		}
		if k.viewKnows(o.typ(), "operator->") {
			return o, notCompiled("the operator -> of a view")
		}
	}
	if o, err = k.pointee(o); err != nil {
		return o, err
	}
	if !isStruct(o.typ()) {
		if n.op == "->" {
			return whole(Error("Attempt to extract a component of a value that is not a structure pointer."))
		}
		return whole(Error("Attempt to extract a component of a value that is not a structure."))
	}
	name := n.text
	if i := strings.LastIndex(name, "::"); i >= 0 {
		// object.base::member
		if path, ok := basePath(o.typ(), name[:i], 0); ok {
			if o, err = k.fields(o, path); err != nil {
				return o, err
			}
			name = name[i+2:]
		}
	}
	found, ok, err := k.member(o, name)
	if err == nil && (!ok && hasRustView(o.typ()) || isSmartPointer(o.typ())) {
		return found, notCompiled("a member that a view may find")
	}
	if err == nil && !ok {
		err = errorf("There is no member named %s.", n.text)
	}
	return found, err
}

// member finds a field of a structure, also in its anonymous members and base classes.
func (k *compiler) member(o operand, name string) (operand, bool, error) {
	path, ok, err := memberPath(o.typ(), name, 0)
	if !ok || err != nil {
		return o, false, err
	}
	if last := path[len(path)-1]; last.Static {
		// A static member is a global variable; the object must only exist.
		if o.at != known && o.at != inPieces {
			k.emit(instruction{op: opDrop})
		}
		class := o.typ()
		if len(path) > 1 {
			class = path[len(path)-2].Type
		}
		s, err := k.symbol(strings.TrimPrefix(class.Strip().Name, "::") + "::" + last.Name)
		if err != nil {
			return o, true, notCompiled("a static member")
		}
		return s, true, nil
	}
	o, err = k.fields(o, path)
	return o, true, err
}

// memberPath finds the fields that lead to a member, in the order of memberAt.
func memberPath(t *types.Type, name string, depth int) (path []*types.Field, ok bool, err error) {
	if depth > 20 || !isStruct(t) || name == "" {
		return nil, false, nil
	}
	if vs := t.Strip().Variants(); kindOf(t) == types.Struct && vs != nil && len(vs.All) > 0 {
		return nil, false, notCompiled("a type with several forms")
	}
	if isDigit(name[0]) {
		name = "__" + name
	}
	fields := t.Strip().Fields()
	for i := range fields {
		if f := &fields[i]; f.Name == name && f.Name != "" && !f.Base {
			return []*types.Field{f}, true, nil
		}
	}
	for i := range fields {
		f := &fields[i]
		if f.Static || !f.Base && f.Name != "" {
			continue
		}
		if path, ok, err := memberPath(f.Type, name, depth+1); ok || err != nil {
			return append([]*types.Field{f}, path...), ok, err
		}
	}
	return nil, false, nil
}

// basePath finds the fields that lead to the base class with a name.
func basePath(t *types.Type, class string, depth int) ([]*types.Field, bool) {
	if depth > 20 || !isStruct(t) {
		return nil, false
	}
	if s := t.Strip(); s.Name == class || unqualified(s.Name) == class {
		return nil, true
	}
	fields := t.Strip().Fields()
	for i := range fields {
		if f := &fields[i]; f.Base {
			if path, ok := basePath(f.Type, class, depth+1); ok {
				return append([]*types.Field{f}, path...), true
			}
		}
	}
	return nil, false
}

// fields compiles the access to a field through a path of fields.
func (k *compiler) fields(o operand, path []*types.Field) (operand, error) {
	for _, f := range path {
		var err error
		switch {
		case f.Place != nil:
			o, err = k.placed(o, f)
		case f.Virtual:
			err = notCompiled("a virtual base class")
		case f.BitSize > 0:
			o, err = k.bitPart(o, f.BitOffset, f.BitSize, f.Type, f.Name)
		default:
			o, err = k.part(o, f.Offset, f.Type, f.Name)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// placed compiles the access to a virtual base class, whose place depends on the object.
func (k *compiler) placed(o operand, f *types.Field) (operand, error) {
	if o.at != inMemory {
		return o, notCompiled("a virtual base class of a value that is not in memory")
	}
	l, ok := expr.Linearize(f.Place.Expr, &expr.LinearContext{Arch: k.c.Arch, Object: true})
	if !ok || l.Kind != expr.InMemory {
		return o, notCompiled("a virtual base class")
	}
	return operand{at: inMemory, v: Value{Type: f.Type, Name: f.Name}}, k.linear(l.Steps)
}

// index compiles the operator [].
func (k *compiler) index(n *node) (operand, error) {
	a, err := k.operand(n.a)
	if err != nil {
		return a, err
	}
	m := k.mark()
	i, err := k.eval(n.b)
	if err != nil {
		return a, err
	}
	if i, err = k.follow(i); err != nil {
		return a, err
	}
	if stride(a.one()) == nil && !isStruct(a.typ()) && stride(i.one()) != nil {
		return a, notCompiled("an index before its array")
	}
	if hasRustView(a.typ()) && !isRustSlice(a.typ()) || isRustReference(a.typ()) {
		return a, notCompiled("the index of a view")
	}
	if t, _ := goReference(a.stand(), ""); t != nil {
		return a, notCompiled("an element of a map or a channel")
	}
	if i.at == known {
		k.rollback(m)
	} else if i, err = k.read(i); err != nil {
		return a, err
	}
	x, err := numberOf(i.stand())
	if err != nil {
		return a, err
	}
	if x.isFloat {
		return a, Error("non-integral type given in subscript")
	}
	return k.element(a, i)
}

// element compiles element i of an array, or of a pointer's target. The number of i is on the
// stack, unless i is known.
func (k *compiler) element(o, i operand) (operand, error) {
	if yes, err := i.isScalar(); err != nil || !yes {
		return o, notCompiled("an index without a number")
	}
	t := elemOf(o.typ())
	if t.IsDynamic() {
		return o, notCompiled("an array in an array of variable length")
	}
	size := sizeOf(t)
	switch kind := kindOf(o.typ()); {
	case kind == types.Array && o.at != inMemory && i.at == known:
		n, err := numberOf(i.v)
		if err != nil || size <= 0 || int64(n.i) < 0 || int64(n.i) > maxFetch/size {
			return o, notCompiled("an element of an array that is not in memory")
		}
		return k.part(o, int64(n.i)*size, t, "")
	case kind == types.Array && o.at == inMemory || kind == types.Pointer && o.at == onStack:
		in := instruction{op: opIndex, n: size}
		if kind == types.Array {
			if in.op = opIndexArray; size <= 0 {
				return o, Error("no such vector element")
			}
		} else if _, err := k.indirect(o); err != nil {
			return o, err
		} else if size <= 0 {
			return o, Error("Cannot perform pointer math on incomplete types, try casting to a known type, or void *.")
		}
		if i.at == known {
			var err error
			if _, err = k.read(i); err != nil {
				return o, err
			}
		}
		k.emit(in)
		return operand{at: inMemory, v: Value{Type: t}}, nil
	case isStruct(o.typ()):
		return k.sequenceElement(o, i)
	case kind == types.Array:
		return o, notCompiled("an element of an array that is not in memory")
	}
	return o, errorf("cannot subscript something of type `%s'", TypeName(o.v))
}
