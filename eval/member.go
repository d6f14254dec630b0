package eval

import (
	"cmp"
	"strings"

	"dbg/symbols/types"
	"dbg/target"
)

// pointee returns the target of a pointer or reference. For a structure it returns the structure.
func (e *evaluator) pointee(v Value) (Value, error) {
	v, err := follow(v, e.env)
	if err != nil {
		return v, err
	}
	switch kindOf(v.Type) {
	case types.Pointer:
		return indirect(v, e.env)
	case types.Array:
		if isStruct(elemOf(v.Type)) {
			return e.element(v, 0)
		}
	}
	return v, nil
}

// indirect returns *v for a pointer.
func indirect(v Value, mem target.Memory) (Value, error) {
	v = load(v, mem)
	if p, ok := implied(v); ok {
		return p, nil
	}
	if err := availabilityError(v); err != nil {
		return Value{}, err
	}
	t := elemOf(v.Type)
	if kindOf(t) == types.Void {
		return Value{}, Error("Attempt to take contents of a non-pointer value.")
	}
	p := Value{Type: t, Addr: target.Addr(integerOf(v)), HasAddr: true}
	if kindOf(t) == types.Func {
		p.function = "*"
	}
	return p, nil
}

// implied returns the target of a pointer that has no value itself, if the target is known.
func implied(v Value) (Value, bool) {
	if v.Avail != Synthetic || v.pointee == nil || len(v.implicit) != 1 || !isPointer(v.Type) {
		return Value{}, false
	}
	return v.pointee(&v.implicit[0], elemOf(v.Type)), true
}

// dereference evaluates the operator *.
func (e *evaluator) dereference(n *node) (Value, error) {
	v, err := e.eval(n)
	if err == nil {
		v, err = follow(v, e.env)
	}
	if err == nil {
		if to, ok := implied(v); ok {
			return to, nil
		}
		v, err = e.read(v)
	}
	if err != nil {
		return Value{}, err
	}
	if n.op == "slice" && isRust(v.Type) {
		return v, nil
	}
	if to, ok, err := e.viewMethod(v, "operator*", nil); ok {
		return to, err
	}
	switch kindOf(v.Type) {
	case types.Pointer:
		return indirect(v, e.env)
	case types.Array:
		return e.element(v, 0)
	case types.Func:
		return v, nil
	case types.Int, types.Uint, types.Char, types.Enum:
		// gdb allows this, and reads an int at the address.
		a, err := numberOf(v)
		return Value{Type: typeInt, Addr: target.Addr(a.integer()), HasAddr: true}, err
	}
	return Value{}, Error("Attempt to take contents of a non-pointer value.")
}

// addressOf evaluates the operator &.
func (e *evaluator) addressOf(n *node) (Value, error) {
	if n.op == "name" {
		if v, done, err := e.addressOfMember(n.text); done {
			return v, err
		}
	}
	v, err := e.eval(n)
	if err != nil {
		return Value{}, err
	}
	if n.op == "slice" && isRust(v.Type) {
		return v, nil // &v[1..3]
	}
	if isReference(v.Type) {
		if v, err = follow(v, e.env); err != nil {
			return Value{}, err
		}
	}
	switch {
	case v.HasAddr && v.BitSize == 0:
		size := e.env.Arch().PtrSize
		return newValue(pointerTo(v.Type, size), number{i: uint64(v.Addr)})
	case v.InReg && v.Name != "":
		return Value{}, errorf("Address requested for identifier %q which is in register $%s", v.Name, e.env.Arch().RegName(v.Reg))
	case v.Avail != Available && v.Avail != Partial:
		if err := availabilityError(v); err != nil {
			return Value{}, err
		}
	}
	return Value{}, Error("Attempt to take address of value not located in memory.")
}

// dot evaluates the operators . and ->, which are the same, as in gdb. A name with dots may also be
// one symbol: Go's main.x.
func (e *evaluator) dot(n *node) (Value, error) {
	v, err := e.eval(n.a)
	if err != nil {
		if full := dotted(n); full != "" {
			if v, e2 := e.env.Variable(full); e2 == nil {
				return v, nil
			}
		}
		return Value{}, err
	}
	if n.op == "->" {
		if v, err = follow(v, e.env); err != nil {
			return Value{}, err
		}
		if to, ok, err := e.viewMethod(v, "operator->", nil); err != nil {
			return Value{}, err
		} else if ok {
			v = to
		}
	}
	through := kindOf(v.Type) == types.Pointer
	if v, err = e.pointee(v); err != nil {
		return Value{}, err
	}
	if through {
		v = e.asObject(v)
	}
	if !isStruct(v.Type) {
		if full := dotted(n); full != "" {
			if v, err := e.env.Variable(full); err == nil {
				return v, nil
			}
		}
		if n.op == "->" {
			return Value{}, Error("Attempt to extract a component of a value that is not a structure pointer.")
		}
		return Value{}, Error("Attempt to extract a component of a value that is not a structure.")
	}
	name := n.text
	if i := strings.LastIndex(name, "::"); i >= 0 {
		// object.base::member
		if b, ok := baseNamed(v, name[:i], e.env, 0); ok {
			v, name = b, name[i+2:]
		}
	}
	if m, ok := e.rustMember(v, name); ok {
		return m, nil
	}
	m, ok := member(v, name, e.env)
	if !ok {
		m, ok = member(e.asObject(v), name, e.env)
	}
	if !ok {
		return Value{}, errorf("There is no member named %s.%s", n.text, suggestMember(v, name))
	}
	return m, nil
}

// dotted returns the text of a chain of names and dots, or "".
func dotted(n *node) string {
	var parts []string
	for ; n.op == "."; n = n.a {
		parts = append(parts, n.text)
		if len(parts) > 16 {
			return ""
		}
	}
	if n.op != "name" {
		return ""
	}
	s := n.text
	for i := len(parts) - 1; i >= 0; i-- {
		s += "." + parts[i]
	}
	return s
}

// member finds a field of a structure, also in its anonymous members and base classes.
func member(v Value, name string, env Env) (Value, bool) {
	return memberAt(v, name, env, 0)
}

func memberAt(v Value, name string, env Env, depth int) (Value, bool) {
	if depth > 20 || !isStruct(v.Type) || name == "" {
		return Value{}, false
	}
	if form, ok := variantOf(v, env); ok {
		return memberAt(form, name, env, depth+1)
	}
	if isDigit(name[0]) {
		name = "__" + name // rustc's names for the members of tuples
	}
	fields := v.Type.Strip().Fields()
	for i := range fields {
		f := &fields[i]
		if f.Name != name || f.Name == "" || f.Base {
			continue
		}
		if f.Static {
			return staticMember(v, f, env), true
		}
		return fieldOf(v, f, env), true
	}
	for i := range fields {
		f := &fields[i]
		if f.Static || !f.Base && f.Name != "" {
			continue
		}
		if m, ok := memberAt(fieldOf(v, f, env), name, env, depth+1); ok {
			return m, true
		}
	}
	if isGo(v.Type) && depth == 0 {
		return promotedField(v, name, env)
	}
	return Value{}, false
}

// baseNamed returns the part of v that is the base class with a name, or v itself.
func baseNamed(v Value, class string, env Env, depth int) (Value, bool) {
	if depth > 20 || !isStruct(v.Type) {
		return Value{}, false
	}
	if t := v.Type.Strip(); t.Name == class || unqualified(t.Name) == class {
		return v, true
	}
	fields := v.Type.Strip().Fields()
	for i := range fields {
		if fields[i].Base {
			if b, ok := baseNamed(fieldOf(v, &fields[i], env), class, env, depth+1); ok {
				return b, true
			}
		}
	}
	return Value{}, false
}

// fieldOf returns the value of a field of v.
func fieldOf(v Value, f *types.Field, env Env) Value {
	switch {
	case f.Place != nil:
		return placed(v, f, env)
	case f.Virtual:
		return Value{Type: f.Type, Name: f.Name, Avail: Unreadable, Err: Error("virtual base class at an unknown location")}
	case f.BitSize > 0:
		return bitPart(v, f.BitOffset, f.BitSize, f.Type, f.Name)
	}
	return part(v, f.Offset, f.Type, f.Name)
}

// placed returns a virtual base class, whose place is found through the object's virtual function
// table.
func placed(v Value, f *types.Field, env Env) Value {
	out := Value{Type: f.Type, Name: f.Name}
	switch {
	case v.Avail != Available && v.Avail != Partial:
		out.Avail, out.Err = v.Avail, v.Err
		return out
	case !v.HasAddr || env == nil:
		out.Avail, out.Err = Unreadable, Error("virtual base class of a value that is not in memory")
		return out
	}
	fc := FrameContext{Mem: env, Arch: env.Arch(), Initial: []uint64{uint64(v.Addr)}}
	a, err := fc.Evaluate(f.Place)
	if err != nil {
		return unlocated(out, err)
	}
	out.Addr, out.HasAddr = target.Addr(a), true
	if n, err := env.ReadMemory(out.Addr, make([]byte, 1)); n < 1 && sizeOf(f.Type) > 0 {
		return Value{Type: f.Type, Name: f.Name, Avail: Unreadable, Err: cannotAccess(err, out.Addr)} // the object is not valid
	}
	return out
}

// variantOf returns the active variant of a value, as a structure with that variant as its only
// member. The second result is false if the type has only one variant, or if the discriminant
// matches none.
func variantOf(v Value, env Env) (Value, bool) {
	if kindOf(v.Type) != types.Struct {
		return Value{}, false
	}
	vs := v.Type.Strip().Variants()
	if vs == nil || len(vs.All) == 0 {
		return Value{}, false
	}
	chosen := &vs.All[0]
	if vs.Discr != nil {
		d := load(fieldOf(v, vs.Discr, env), env)
		if d.Avail != Available || !isIntegral(d.Type) {
			if d.Avail == Available {
				d.Avail, d.Err = Unreadable, Error("enum whose discriminant is not an integer")
			}
			return Value{Type: typeVoid, Avail: d.Avail, Err: d.Err}, true
		}
		u := integerOf(d)
		if n := sizeOf(d.Type); n > 0 && n < 8 {
			u &= 1<<(8*uint(n)) - 1
		}
		if chosen = vs.Select(u); chosen == nil {
			return Value{Type: typeVoid, Avail: Unreadable, Err: errorf("enum with the unknown discriminant %d", u)}, true
		}
	} else if len(vs.All) > 1 {
		return Value{Type: typeVoid, Avail: Unreadable, Err: Error("enum without a discriminant")}, true
	}
	if len(chosen.Fields) != 1 {
		return Value{Type: typeVoid, Avail: Unreadable, Err: Error("enum whose variant does not have exactly one member")}, true
	}
	return fieldOf(v, &chosen.Fields[0], env), true
}

// staticMember returns a static member, which is a global variable.
func staticMember(v Value, f *types.Field, env Env) Value {
	if env != nil {
		s, err := env.Variable(strings.TrimPrefix(v.Type.Strip().Name, "::") + "::" + f.Name)
		if err == nil {
			s.Name = f.Name
			return s
		}
	}
	return Value{Type: f.Type, Name: f.Name, Avail: OptimizedOut}
}

// index evaluates the operator [].
func (e *evaluator) index(n *node) (Value, error) {
	a, err := e.operand(n.a)
	if err != nil {
		return Value{}, err
	}
	b, err := e.operand(n.b)
	if err != nil {
		return Value{}, err
	}
	if m, ok := goMapOf(a, e.env); ok {
		return m.at(b, e.env)
	}
	if a, err = e.rustPlace(a); err != nil {
		return Value{}, err
	}
	if v, ok, err := e.viewMethod(a, "operator[]", []Value{b}); ok {
		return v, err
	}
	if k := kindOf(b.Type); (k == types.Pointer || k == types.Array) && kindOf(a.Type) != types.Pointer && isNumeric(a.Type) {
		a, b = b, a // 2[p]
	}
	i, err := numberOf(b)
	if err != nil {
		return Value{}, err
	}
	if i.isFloat {
		return Value{}, Error("non-integral type given in subscript")
	}
	return e.element(a, int64(i.i))
}

// element returns element i of an array, or of the target of a pointer or a slice.
func (e *evaluator) element(v Value, i int64) (Value, error) {
	if s, ok := sequenceOf(v, e.env); ok {
		if i < 0 || i >= s.count {
			return Value{}, errorf("no such element: index %d of %d", i, s.count)
		}
		return s.at(i), nil
	}
	if c, ok := goChanOf(v, e.env); ok {
		if c.err != nil || i < 0 || i >= c.count {
			return Value{}, cmp.Or(c.err, errorf("no such element: index %d of %d", i, c.count))
		}
		return c.at(i), nil
	}
	t := elemOf(v.Type)
	size := sizeOf(t)
	switch kindOf(v.Type) {
	case types.Array:
		if size <= 0 || i > (1<<47)/size || i < -(1<<47)/size {
			return Value{}, Error("no such vector element")
		}
		p := part(v, i*size, t, "")
		return p, nil
	case types.Pointer:
		p, err := indirect(v, e.env)
		if err != nil {
			return Value{}, err
		}
		if size <= 0 {
			return Value{}, Error("Cannot perform pointer math on incomplete types, try casting to a known type, or void *.")
		}
		p.Addr += target.Addr(i * size)
		return p, nil
	}
	return Value{}, errorf("cannot subscript something of type `%s'", TypeName(v))
}
