package eval

import (
	"math"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// maxDeref limits the smart pointers that are followed for one member or method.
const maxDeref = 10

// hasRustView reports whether a structure of Rust may have a view, or elements, that a compiled
// expression does not know.
func hasRustView(t *types.Type) bool {
	if !isStruct(t) || t.Strip().Lang != lang.Rust {
		return false
	}
	name := strings.TrimLeft(t.Strip().Name, "&*")
	for _, crate := range []string{"std::", "core::", "alloc::", "hashbrown::", "mut ", "const ", "dyn ", "str", "["} {
		if strings.HasPrefix(name, crate) {
			return true
		}
	}
	return false
}

// isRustSlice reports whether a type is a reference to a slice, whose elements need no view.
func isRustSlice(t *types.Type) bool {
	if !hasRustView(t) {
		return false
	}
	name := t.Strip().Name
	return strings.HasPrefix(name, "&[") || strings.HasPrefix(name, "&mut [")
}

// isSmartPointer reports whether a structure of Rust stands for its target, whose members hide its
// own. RefCell and Mutex are not: a program must borrow or lock them, for which their views have
// the operator *.
func isSmartPointer(t *types.Type) bool {
	if !hasRustView(t) {
		return false
	}
	name, _, _ := strings.Cut(unqualified(t.Strip().Name), "<")
	switch name {
	case "Rc", "Arc", "Box", "Pin", "Ref", "RefMut", "MutexGuard", "RwLockReadGuard", "RwLockWriteGuard", "LazyCell", "LazyLock":
		return true
	}
	return strings.HasPrefix(t.Strip().Name, "&dyn ") || strings.HasPrefix(t.Strip().Name, "&mut dyn ")
}

// derefOnce follows a reference, a Box, or a smart pointer that has a view. ok is false if v is not
// one.
func (e *evaluator) derefOnce(v Value) (to Value, ok bool, err error) {
	if isRustReference(v.Type) {
		to, err = indirect(v, e.env)
		return to, true, err
	}
	if isSmartPointer(v.Type) {
		return e.viewMethod(v, "operator*", nil)
	}
	return v, false, nil
}

// rustPlace follows references and smart pointers to a value that has a method, or elements.
func (e *evaluator) rustPlace(v Value) (Value, error) {
	for range maxDeref {
		if !isRust(v.Type) {
			return v, nil
		}
		to, ok, err := e.derefOnce(v)
		if err != nil {
			return v, err
		}
		if !ok {
			return v, nil
		}
		if to, err = e.read(to); err != nil {
			return v, err
		}
		v = to
	}
	return v, nil
}

// rustMember finds a member through smart pointers: rc.x. Members of the target hide those of the
// pointer, which programs can't name.
func (e *evaluator) rustMember(v Value, name string) (Value, bool) {
	if !isRust(v.Type) || !isStruct(v.Type) {
		return Value{}, false
	}
	var found Value
	ok := false
	for range maxDeref {
		to, follows, err := e.derefOnce(v)
		if !follows || err != nil {
			break
		}
		v = to
		if isStruct(v.Type) {
			if m, has := member(v, name, e.env); has {
				found, ok = m, true
			}
		}
	}
	return found, ok
}

// rustCall evaluates a method of a value of Rust without calling it. done is false if the program
// must be called.
func (e *evaluator) rustCall(obj Value, n *node) (v Value, done bool, err error) {
	args := make([]Value, len(n.args))
	for i, a := range n.args {
		if a.op == "u&" && a.a.op == "value" { // a reference to a constant
			a = a.a
		}
		if args[i], err = e.operand(a); err != nil {
			return Value{}, false, nil // the call itself reports it
		}
	}
	name := n.a.text
	for range maxDeref {
		if v, done, err = e.viewMethod(obj, name, args); done || err != nil {
			return v, true, err
		}
		if v, done, err = e.sequenceMethod(obj, name, args); done || err != nil {
			return v, true, err
		}
		if v, done, err = e.enumMethod(obj, name, args); done || err != nil {
			return v, true, err
		}
		to, follows, err := e.derefOnce(obj)
		if err != nil || !follows {
			break
		}
		obj = to
	}
	return Value{}, false, nil
}

// sequenceMethod evaluates a method of a String, a Vec, a slice or an array.
func (e *evaluator) sequenceMethod(obj Value, name string, args []Value) (v Value, done bool, err error) {
	s, ok := sequenceOf(obj, e.env)
	if !ok {
		elem := elemOf(obj.Type)
		if kindOf(obj.Type) != types.Array || sizeOf(elem) <= 0 {
			return Value{}, false, nil
		}
		s = sequence{elem: elem, count: sizeOf(obj.Type) / sizeOf(elem), addr: obj.Addr}
	}
	at := func(i int64) (Value, bool, error) {
		if s.text {
			return Value{}, false, nil
		}
		if i < 0 || i >= s.count {
			return Value{}, true, errorf("no such element: index %d of %d", i, s.count)
		}
		if kindOf(obj.Type) == types.Array {
			v, err := e.element(obj, i)
			return v, true, err
		}
		return s.at(i), true, nil
	}
	switch {
	case len(args) == 0:
		switch name {
		case "len":
			return intValue(typeUlong, uint64(s.count)), true, nil
		case "is_empty":
			return Bool(s.count == 0), true, nil
		case "capacity":
			if c, ok := capacityIn(obj, e.env, 0); ok {
				return intValue(typeUlong, c), true, nil
			}
		case "first":
			return at(0)
		case "last":
			return at(s.count - 1)
		case "as_str", "as_slice", "as_ref", "as_mut_slice", "as_bytes", "iter":
			if name == "iter" && s.text {
				return Value{}, false, nil
			}
			return obj, true, nil
		case "as_ptr", "as_mut_ptr":
			p, err := newValue(pointerTo(s.elem, e.env.Arch().PtrSize), number{i: uint64(s.addr)})
			return p, true, err
		}
	case len(args) == 1:
		switch name {
		case "get":
			i, err := numberOf(args[0])
			if err != nil {
				return Value{}, true, err
			}
			return at(int64(i.integer()))
		case "contains", "starts_with", "ends_with":
			return e.contains(&s, name, args[0])
		}
	}
	return Value{}, false, nil
}

// contains evaluates contains, starts_with and ends_with of a text, and contains of a slice.
func (e *evaluator) contains(s *sequence, name string, what Value) (v Value, done bool, err error) {
	if s.text {
		text, ok := textOf(what, e.env)
		if !ok || s.count > maxFetch {
			return Value{}, false, nil
		}
		b := make([]byte, s.count)
		if n, err := e.env.ReadMemory(s.addr, b); n < len(b) {
			return Value{}, true, cannotAccess(err, s.addr)
		}
		search := map[string]func(string, string) bool{
			"contains": strings.Contains, "starts_with": strings.HasPrefix, "ends_with": strings.HasSuffix,
		}
		return Bool(search[name](string(b), string(text))), true, nil
	}
	if name != "contains" || s.count > maxChildren {
		return Value{}, false, nil
	}
	for i := range s.count {
		same, err := Equal(s.at(i), what, e.env)
		if same || err != nil {
			return Bool(same), true, err
		}
	}
	return Bool(false), true, nil
}

// capacityIn finds the number "cap" in the buffer of a Vec or a String.
func capacityIn(v Value, env Env, depth int) (uint64, bool) {
	if depth > 8 || !isStruct(v.Type) {
		return 0, false
	}
	fields := v.Type.Strip().Fields()
	for i := range fields {
		f := fieldOf(v, &fields[i], env)
		if fields[i].Name == "cap" {
			for isStruct(f.Type) && len(f.Type.Strip().Fields()) == 1 {
				f = fieldOf(f, &f.Type.Strip().Fields()[0], env)
			}
			return number64(load(f, env))
		}
		if n, ok := capacityIn(f, env, depth+1); ok {
			return n, true
		}
	}
	return 0, false
}

// enumMethod evaluates a method of an Option or a Result.
func (e *evaluator) enumMethod(obj Value, name string, args []Value) (v Value, done bool, err error) {
	if len(args) != 0 || !isStruct(obj.Type) || !strings.HasPrefix(obj.Type.Strip().Name, "core::") {
		return Value{}, false, nil
	}
	form, ok := variantOf(obj, e.env)
	if !ok {
		return Value{}, false, nil
	}
	if form.Avail != Available && form.Avail != Partial {
		return Value{}, true, availabilityError(form)
	}
	variant := lastName(form.Type.Strip().Name)
	if i := strings.LastIndex(form.Type.Strip().Name, "::"); i >= 0 {
		variant = form.Type.Strip().Name[i+2:]
	}
	switch name {
	case "is_some", "is_none", "is_ok", "is_err":
		wanted := map[string]string{"is_some": "Some", "is_none": "None", "is_ok": "Ok", "is_err": "Err"}[name]
		return Bool(variant == wanted), true, nil
	case "unwrap", "unwrap_err":
		has := variant == "Some" || variant == "Ok"
		if name == "unwrap_err" {
			has = variant == "Err"
		}
		if m, ok := member(form, "0", e.env); ok && has {
			return m, true, nil
		}
		return Value{}, true, errorf("the value is %s", variant)
	}
	return Value{}, false, nil
}

// rustType parses the type after "as": a primitive type, a pointer, or another type.
func (p *parser) rustType() *types.Type {
	if p.accept("*") || p.accept("&") {
		if p.tok.kind == tokName && (p.tok.text == "const" || p.tok.text == "mut") {
			p.advance()
		}
		if !p.enter() {
			return typeInt
		}
		defer p.leave()
		return pointerTo(p.rustType(), p.env.Arch().PtrSize)
	}
	if t := rustPrimitives[p.tok.text]; t != nil && p.tok.kind == tokName {
		p.advance()
		return t
	}
	if !p.atType() && !p.lenient {
		p.fail(errorf("No type named %s.", p.tok.text))
		return typeInt
	}
	return p.typeName()
}

// rustPrimitives are Rust's numbers, which a program need not have.
var rustPrimitives = func() map[string]*types.Type {
	m := map[string]*types.Type{}
	add := func(k types.Kind, name string, size int64, signed bool) {
		m[name] = types.New(k, name, size, signed, nil)
		m[name].Lang = lang.Rust
	}
	for name, size := range map[string]int64{"8": 1, "16": 2, "32": 4, "64": 8, "size": 8, "128": 16} {
		add(types.Int, "i"+name, size, true)
		add(types.Uint, "u"+name, size, false)
	}
	add(types.Float, "f32", 4, true)
	add(types.Float, "f64", 8, true)
	add(types.Bool, "bool", 1, false)
	add(types.Char, "char", 4, false)
	return m
}()

// rustCast evaluates v as T. A number that is too large for an integer becomes the nearest one.
func (e *evaluator) rustCast(n *node) (Value, error) {
	v, err := e.operand(n.a)
	if err != nil {
		return Value{}, err
	}
	if kindOf(v.Type) == types.Float && isIntegral(n.typ) {
		x, err := numberOf(v)
		if err != nil {
			return Value{}, err
		}
		return newValue(n.typ, saturated(x.float(), n.typ))
	}
	if form, ok := variantOf(v, e.env); ok && isIntegral(n.typ) && isStruct(form.Type) {
		return Value{}, errInvalidCast
	}
	return e.cast(n.typ, v)
}

// saturated converts a floating-point number to an integer type as Rust does.
func saturated(f float64, t *types.Type) number {
	bits := uint(8 * min(max(sizeOf(t), 1), 8))
	f = math.Trunc(f)
	if f != f {
		return number{signed: isSigned(t)}
	}
	if isSigned(t) {
		lo, hi := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
		switch {
		case f <= float64(lo):
			return number{i: uint64(lo), signed: true}
		case f >= float64(hi):
			return number{i: uint64(hi), signed: true}
		}
		return number{i: uint64(int64(f)), signed: true}
	}
	hi := ^uint64(0) >> (64 - bits)
	switch {
	case f <= 0:
		return number{}
	case f >= float64(hi):
		return number{i: hi}
	}
	return number{i: uint64(f)}
}
