package eval

import (
	"strings"

	"dbg/symbols/types"
	"dbg/target"
)

// A VtableFinder is an Env that knows the tables of virtual functions of C++.
type VtableFinder interface {
	// VtableClass returns the class of the complete objects that hold the address vptr: it is in the
	// virtual table of that class. It returns nil if vptr is not in a virtual table, or if it is not
	// certain which class the table belongs to. Tables of objects under construction count as unknown.
	VtableClass(vptr target.Addr) *types.Type
}

// An ObjectPrinter is an Env whose user may want to see objects by their dynamic types: gdb's "set
// print object".
type ObjectPrinter interface{ PrintObject() bool }

// Limits of the search for the static class in the dynamic one.
const (
	maxBaseDepth = 20
	maxBases     = 1000
)

// isDynamic reports whether objects of a class have a pointer to a virtual table: the class has
// virtual functions or virtual bases, or one of its bases has.
func isDynamic(t *types.Type) bool { return dynamicAt(t, 0) }

func dynamicAt(t *types.Type, depth int) bool {
	if depth > maxBaseDepth || kindOf(t) != types.Struct {
		return false
	}
	for _, f := range t.Strip().Fields() {
		if isVptr(&f) || f.Base && (f.Virtual || dynamicAt(f.Type, depth+1)) {
			return true
		}
	}
	return false
}

// isVptr reports whether a member is the pointer to the virtual table: "_vptr.Shape" of gcc,
// "_vptr$Shape" of clang.
func isVptr(f *types.Field) bool { return !f.Base && !f.Static && strings.HasPrefix(f.Name, "_vptr") }

// Complete returns the complete object that v is a part of, by the virtual table of v (Itanium C++
// ABI, section 2.5.2). ok is false if v is not part of an object whose class is certain: it is not of
// a class with a virtual table, it is damaged or under construction, or the class has no debug
// information. Then v is what its static type tells.
func Complete(v Value, env Env) (object Value, ok bool) {
	finder, knows := env.(VtableFinder)
	if !knows || !v.HasAddr || v.raw || v.base || !isDynamic(v.Type) {
		return Value{}, false
	}
	vptr, ok := readWord(v.Addr, env)
	if !ok {
		return Value{}, false
	}
	class := finder.VtableClass(target.Addr(vptr))
	if class == nil || !isStruct(class) || sizeOf(class) <= 0 {
		return Value{}, false
	}
	size := target.Addr(env.Arch().PtrSize)
	toTop, ok := readWord(target.Addr(vptr)-2*size, env)
	if !ok {
		return Value{}, false
	}
	object = Value{Type: class, Name: v.Name, Addr: v.Addr + target.Addr(toTop), HasAddr: true, fixed: v.fixed}
	if back := v.Addr - object.Addr; uint64(back) >= uint64(sizeOf(class)) {
		return Value{}, false
	}
	first, ok := readWord(object.Addr, env)
	if !ok || object.Addr != v.Addr && finder.VtableClass(target.Addr(first)) != class {
		return Value{}, false
	}
	budget := maxBases
	if !containsBase(object, v, env, 0, &budget) {
		return Value{}, false
	}
	object.Type = qualifiedAs(class, v.Type)
	return object, true
}

// containsBase reports whether an object is base itself, or has it as a base at the same address.
func containsBase(object, base Value, env Env, depth int, budget *int) bool {
	if *budget--; *budget < 0 || depth > maxBaseDepth {
		return false
	}
	if object.Addr == base.Addr && sameClass(object.Type, base.Type) {
		return true
	}
	fields := object.Type.Strip().Fields()
	for i := range fields {
		f := &fields[i]
		if !f.Base || f.Type == nil {
			continue
		}
		if b := fieldOf(object, f, env); b.HasAddr && containsBase(b, base, env, depth+1, budget) {
			return true
		}
	}
	return false
}

// qualifiedAs returns t with the qualifiers of another type.
func qualifiedAs(t, like *types.Type) *types.Type {
	for range maxNesting {
		if like == nil {
			break
		}
		switch like.Kind {
		case types.Const, types.Volatile:
			return types.New(like.Kind, "", t.Size, false, qualifiedAs(t, like.Elem()))
		case types.Typedef:
			like = like.Elem()
			continue
		}
		break
	}
	return t
}

// readWord reads a pointer of the program.
func readWord(a target.Addr, env Env) (uint64, bool) {
	b := make([]byte, env.Arch().PtrSize)
	if n, err := env.ReadMemory(a, b); err != nil || n < len(b) {
		return 0, false
	}
	return rawUint(b), true
}

// DynamicType returns the type of a pointer or a reference to an object, or of an object, by the
// dynamic class of the object. It returns nil if that is not known.
func DynamicType(v Value, env Env) *types.Type {
	d, ok := dynamicValue(v, env)
	if !ok {
		return nil
	}
	return d.Type
}

// dynamicValue returns a pointer or a reference to a complete object, or the object, in place of one to a
// part of it.
func dynamicValue(v Value, env Env) (Value, bool) {
	k := kindOf(v.Type)
	if k == types.Struct {
		return Complete(v, env)
	}
	if k != types.Pointer && k != types.Reference && k != types.RvalueReference || v.Avail != Available {
		return Value{}, false
	}
	// A class that is only declared here is searched for in the whole program: the user has asked.
	elem := elemOf(v.Type)
	if !isStruct(elem) {
		return Value{}, false
	}
	p := load(v, env)
	if p.Avail != Available {
		return Value{}, false
	}
	object, ok := Complete(Value{Type: elem, Addr: target.Addr(integerOf(p)), HasAddr: true}, env)
	if !ok {
		return Value{}, false
	}
	size := env.Arch().PtrSize
	out := Value{Type: types.New(k, "", int64(size), false, object.Type), Name: v.Name}
	out.Bytes = intValue(typeUlong, uint64(object.Addr)).Bytes[:size]
	out.fixed = "A pointer that is shown by its dynamic type can't be assigned."
	return out, true
}

// asObject returns the object whose members an expression names: the complete one if the user wants
// dynamic types.
func (e *evaluator) asObject(v Value) Value { return asObject(v, e.env) }

func asObject(v Value, env Env) Value {
	if o, ok := env.(ObjectPrinter); ok && o.PrintObject() {
		if c, ok := Complete(v, env); ok {
			return c
		}
	}
	return v
}

// Pointee returns the target of a pointer or a reference, and another value as it is.
func Pointee(v Value, env Env) (Value, error) { return (&evaluator{env: env}).pointee(v) }

// Dynamics returns the parts of an object that have a virtual table of their own: the object itself, if
// its class has virtual functions or bases, and its bases that do not share its table.
func Dynamics(v Value, env Env) []Value {
	var out []Value
	seen := map[target.Addr]bool{}
	budget := maxBases
	var walk func(v Value, depth int)
	walk = func(v Value, depth int) {
		if budget--; budget < 0 || depth > maxBaseDepth || !v.HasAddr {
			return
		}
		if isDynamic(v.Type) && !seen[v.Addr] {
			seen[v.Addr] = true
			out = append(out, v)
		}
		fields := v.Type.Strip().Fields()
		for i := range fields {
			if fields[i].Base {
				walk(fieldOf(v, &fields[i], env), depth+1)
			}
		}
	}
	if isStruct(v.Type) {
		walk(v, 0)
	}
	return out
}

// EvaluatePure evaluates an expression without assigning anything and without calling the program.
// What needs that has no value.
func EvaluatePure(text string, env Env) (Value, error) {
	n, err := parse(text, env)
	if err != nil {
		return Value{}, err
	}
	if n.op == "type" {
		return Value{}, Error("Attempt to use a type name as an expression")
	}
	return (&evaluator{env: env, dry: 1}).eval(n)
}

// NamesType reports whether a text is a type and not an expression.
func NamesType(text string, env Env) bool {
	n, err := parse(text, env)
	return err == nil && n.op == "type"
}

// IsKnown reports whether all of a value, or a part of it, is available.
func IsKnown(v Value) bool { return v.Avail == Available || v.Avail == Partial }
