package eval

import (
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// Calls of functions of Go: main.add(1, 2), t.Method(3), a func value. Debug information lists the
// results of such a function among its parameters. It has no methods: those are functions with the
// names main.T.Method and main.(*T).Method, whose first parameter is the receiver.

// typeNil is the type of nil in an argument.
var typeNil = types.New(types.Pointer, "nil", 8, false, typeVoid)

// notLinked is the error of a method without code.
const notLinked = "%s has no code of its own in the program: it does not exist, the compiler inlined it, " +
	"or the linker removed it because nothing uses it"

func isGo(t *types.Type) bool { return t != nil && t.Strip().Lang == lang.Go }

// goParams returns the parameters of a function of Go without its results.
func goParams(ft *types.Type) (in []*types.Type) {
	for i, p := range ft.Params() {
		if !ft.Result(i) {
			in = append(in, p)
		}
	}
	return in
}

// isGeneric reports whether a function gets a dictionary of its type arguments.
func isGeneric(ft *types.Type) bool {
	for _, n := range ft.ParamNames() {
		if n == ".dict" {
			return true
		}
	}
	return false
}

// goMethod finds a method of a value of Go: in its type, in the type that it points to, in the
// embedded fields, or in the dynamic type of an interface. The candidate has the receiver.
func (e *evaluator) goMethod(obj Value, name string, caller Caller, depth int) (c candidate, found bool, err error) {
	if depth > 8 || !isGo(obj.Type) {
		return c, false, nil
	}
	if isGoInterface(obj.Type) {
		held, ok := dynamic(obj, e.env)
		switch {
		case !ok:
			return c, false, errorf("the value in the interface is not known")
		case held.Type == nil:
			return c, false, errorf("the interface is nil")
		}
		return e.goMethod(held, name, caller, depth+1)
	}
	t, pointer := obj.Type, false
	reference := strings.HasPrefix(t.Name, "map[") || strings.HasPrefix(t.Name, "chan ")
	if kindOf(t) == types.Pointer && elemOf(t) != nil && !reference {
		t, pointer = elemOf(t), true
	}
	if t == nil || t.Name == "" {
		return c, false, nil
	}
	if strings.ContainsRune(t.Name, '[') && strings.ContainsRune(t.Name, '.') {
		return c, false, errorf("%s is a generic type: the dictionary that its methods need is not known", t.Name)
	}
	slash := strings.LastIndexByte(t.Name, '/')
	dot := strings.IndexByte(t.Name[slash+1:], '.')
	if dot >= 0 {
		dot += slash + 1
		if fs := caller.Functions(t.Name + "." + name); len(fs) > 0 && isGo(fs[0].Type) {
			receiver := obj
			if pointer {
				if receiver, err = indirect(obj, e.env); err != nil {
					return c, false, err
				}
			}
			return candidate{fn: fs[0], receiver: &receiver}, true, nil
		}
		if fs := caller.Functions(t.Name[:dot] + ".(*" + t.Name[dot+1:] + ")." + name); len(fs) > 0 && isGo(fs[0].Type) {
			receiver := obj
			if !pointer {
				if !obj.HasAddr {
					return c, false, errorf("%s.%s needs the address of its receiver, which is not in memory", t.Name, name)
				}
				p, err := newValue(pointerTo(obj.Type, e.env.Arch().PtrSize), number{i: uint64(obj.Addr)})
				if err != nil {
					return c, false, err
				}
				receiver = p
			}
			return candidate{fn: fs[0], receiver: &receiver}, true, nil
		}
	}
	// A promoted method: Go names an embedded field after its type.
	if pointer {
		if obj, err = indirect(obj, e.env); err != nil {
			return c, false, nil
		}
	}
	if !isStruct(obj.Type) {
		return c, false, nil
	}
	for _, f := range obj.Type.Strip().Fields() {
		if f.Type == nil || f.Name == "" {
			continue
		}
		of := strings.TrimPrefix(f.Type.GoName(), "*")
		if i := strings.LastIndexByte(of, '.'); i < 0 || of[i+1:] != f.Name {
			continue
		}
		if c, found, err := e.goMethod(fieldOf(obj, &f, e.env), name, caller, depth+1); found || err != nil {
			return c, found, err
		}
	}
	return c, false, nil
}

// goCandidate finds the function of Go that a call of n.a.text means. found is false if n is not
// about a value of Go.
func (e *evaluator) goCandidate(obj Value, n *node, caller Caller) (string, []candidate, bool, error) {
	if !isGo(obj.Type) || obj.function != "" {
		return "", nil, false, nil
	}
	if s, err := e.pointee(obj); err == nil && isStruct(s.Type) && !isGoInterface(s.Type) {
		if m, ok := member(s, n.text, e.env); ok {
			name, list, err := e.value(n.text, m)
			return name, list, true, err
		}
	}
	name := strings.TrimPrefix(obj.Type.GoName(), "*") + "." + n.text
	c, found, err := e.goMethod(obj, n.text, caller, 0)
	if err == nil && !found {
		err = errorf(notLinked, name)
	}
	return name, []candidate{c}, true, err
}

// goGeneric reports whether a name is that of a generic function: the functions of its shapes have
// the shapes in their names.
func goGeneric(name string, caller Caller) bool {
	for _, shape := range []string{"int", "string", "float64", "uint8", "int64", "bool", "*uint8", "interface {}", "struct {}"} {
		if len(caller.Functions(name+"[go.shape."+shape+"]")) > 0 {
			return true
		}
	}
	return false
}

// goClosure returns the function that a func value of Go refers to, and the address of its closure,
// which the function expects in a register.
func (e *evaluator) goClosure(v Value) (fn Value, context uint64, err error) {
	if context, err = e.goWord(v); err != nil {
		return fn, 0, err
	}
	if context == 0 {
		return fn, 0, Error("the func value is nil")
	}
	code, err := e.word(target.Addr(context))
	if err != nil {
		return fn, 0, err
	}
	fn = v
	fn.Addr, fn.HasAddr, fn.InReg, fn.Bytes = target.Addr(code), true, false, nil
	return fn, context, nil
}

// goWord returns the contents of a func value.
func (e *evaluator) goWord(v Value) (uint64, error) {
	if err := availabilityError(v); err != nil {
		return 0, err
	}
	switch {
	case len(v.Bytes) == 8:
		return rawUint(v.Bytes), nil
	case v.HasAddr:
		return e.word(v.Addr)
	}
	return 0, errNoPlace
}

// performGo calls a function of Go.
func (e *evaluator) performGo(caller Caller, name string, c *candidate, args []Value) (Value, error) {
	ft := c.fn.Type.Strip()
	call := &Call{Name: name, Addr: c.fn.Addr, Type: ft, Context: c.context}
	if isGeneric(ft) {
		return Value{}, errorf("%s is a generic function: the dictionary of its type arguments is not known", name)
	}
	params := goParams(ft)
	if c.receiver != nil {
		args = append([]Value{*c.receiver}, args...)
	}
	list := len(params) > 0 && isGoSlice(params[len(params)-1])
	switch {
	case len(args) < len(params) && !(list && len(args) == len(params)-1):
		return Value{}, tooFew
	case len(args) > len(params) && !list, len(args) > 1000:
		return Value{}, tooMany
	}
	if e.dry > 0 {
		return goDryResult(ft), nil
	}
	for i, p := range params {
		var a Argument
		var err error
		last := i == len(params)-1
		switch {
		case last && list && (len(args) != len(params) || !e.goAssignable(args[i], p)):
			a, err = e.goList(args[i:], p)
		default:
			a, err = e.goArgument(args[i], p)
		}
		if err != nil {
			return Value{}, errorf("argument %d of %s: %v", i+1, name, err)
		}
		call.Args = append(call.Args, a)
	}
	return caller.Call(call)
}

// goDryResult returns a value of the type of a call's result.
func goDryResult(ft *types.Type) Value {
	var results []*types.Type
	for i, p := range ft.Params() {
		if ft.Result(i) {
			results = append(results, p)
		}
	}
	if len(results) == 1 {
		return Value{Type: results[0], Bytes: make([]byte, max(sizeOf(results[0]), 0))}
	}
	return Value{Type: typeVoid}
}

func isGoString(t *types.Type) bool { return isGo(t) && t.Strip().Name == "string" && sizeOf(t) == 16 }

func isGoSlice(t *types.Type) bool {
	if !isGo(t) || kindOf(t) != types.Struct || sizeOf(t) != 24 {
		return false
	}
	return strings.HasPrefix(t.Strip().Name, "[]") || t.Strip().GoElem() != nil
}

// isLiteral reports whether a value is a string of the user's expression.
func isLiteral(v Value) bool {
	return kindOf(v.Type) == types.Array && !v.HasAddr && kindOf(elemOf(v.Type)) == types.Char && len(v.Bytes) > 0
}

// goAssignable reports whether a value can be passed as a slice.
func (e *evaluator) goAssignable(v Value, p *types.Type) bool {
	_, err := e.goArgument(v, p)
	return err == nil
}

// goArgument makes an argument of the type of its parameter. Go converts no types by itself, except
// those of constants. An expression of the user has no constants of Go, so a number may have any type
// if the parameter can hold its value.
func (e *evaluator) goArgument(v Value, param *types.Type) (Argument, error) {
	if v.Type == typeNil {
		switch kindOf(param) {
		case types.Pointer, types.Func:
		default:
			if !isGoSlice(param) && !isGoInterface(param) {
				return Argument{}, errorf("nil is not a value of type %s", param.GoName())
			}
		}
		return Argument{Value: Value{Type: param, Bytes: make([]byte, sizeOf(param))}}, nil
	}
	v, err := follow(v, e.env)
	if err != nil {
		return Argument{}, err
	}
	if isLiteral(v) {
		text := v.Bytes[:len(v.Bytes)-1]
		elem := param.Strip().GoElem()
		if isGoString(param) || isGoSlice(param) && elem != nil && sizeOf(elem) == 1 {
			return goText(param, text, len(text)), nil
		}
	}
	wrong := func() error { return errorf("a value of type %s is not of type %s", v.Type.GoName(), param.GoName()) }
	if v.Type == nil {
		return Argument{}, errorf("it has no value")
	}
	switch k := kindOf(param); k {
	case types.Bool, types.Int, types.Uint, types.Char, types.Float, types.Enum:
		return e.goNumber(v, param, wrong)
	case types.Func:
		if kindOf(v.Type) != types.Func || v.function != "" {
			return Argument{}, wrong()
		}
		w, err := e.goWord(v)
		if err != nil {
			return Argument{}, err
		}
		b := make([]byte, 8)
		e.env.Arch().ByteOrder.PutUint64(b, w)
		return Argument{Value: Value{Type: param, Bytes: b}}, nil
	case types.Pointer:
		if kindOf(v.Type) != k || !equivalent(v.Type, param) && kindOf(elemOf(param)) != types.Void {
			return Argument{}, wrong()
		}
	default:
		if isGoInterface(param) && v.Type.GoName() != param.GoName() {
			return e.goBoxed(v, param, wrong)
		}
		if !equivalent(v.Type, param) {
			return Argument{}, wrong()
		}
	}
	v = load(v, e.env)
	if err := availabilityError(v); err != nil {
		return Argument{}, err
	}
	return Argument{Value: Value{Type: param, Bytes: v.Bytes}}, nil
}

// GoLinker is an Env that finds the tables of a program of Go.
type GoLinker interface {
	// GoItab returns the address of the table with the methods that an interface type has for a
	// concrete type (internal/abi.ITab). It exists only if the program converts the one to the other.
	GoItab(concrete, iface *types.Type) (target.Addr, bool)
}

// goBoxed converts a value to an interface type with methods.
func (e *evaluator) goBoxed(v Value, param *types.Type, wrong func() error) (Argument, error) {
	out := make([]byte, sizeOf(param))
	if isGoInterface(v.Type) {
		held, ok := dynamic(v, e.env)
		switch {
		case !ok:
			return Argument{}, wrong()
		case held.Type == nil:
			return Argument{Value: Value{Type: param, Bytes: out}}, nil
		}
		v = held
	}
	v = load(v, e.env)
	if err := availabilityError(v); err != nil {
		return Argument{}, err
	}
	linker, ok := e.env.(GoLinker)
	if !ok || len(out) != 16 || len(v.Bytes) == 0 {
		return Argument{}, wrong()
	}
	table, ok := linker.GoItab(v.Type, param)
	if !ok {
		return Argument{}, wrong()
	}
	e.env.Arch().ByteOrder.PutUint64(out, uint64(table))
	a := Argument{Value: Value{Type: param, Bytes: out}}
	switch {
	case kindOf(v.Type) == types.Pointer && len(v.Bytes) == 8:
		copy(out[8:], v.Bytes)
	case hasPointers(v.Type, 0):
		return Argument{}, errorf("a value of type %s can't be put into an interface: it has pointers", v.Type.GoName())
	default:
		a.Text, a.TextAt = v.Bytes, 8
	}
	return a, nil
}

// goNumber converts a number if the parameter's type can hold its value.
func (e *evaluator) goNumber(v Value, param *types.Type, wrong func() error) (Argument, error) {
	v, err := e.read(v)
	if err != nil {
		return Argument{}, err
	}
	n, err := numberOf(v)
	if err != nil || (kindOf(v.Type) == types.Bool) != (kindOf(param) == types.Bool) {
		return Argument{}, wrong()
	}
	out, err := e.cast(param, v)
	if err != nil {
		return Argument{}, err
	}
	back, err := numberOf(out)
	if err != nil {
		return Argument{}, err
	}
	if !back.isFloat && !n.equals(back) {
		return Argument{}, errorf("%s can't hold the value", param.GoName())
	}
	return Argument{Value: Value{Type: param, Bytes: out.Bytes}}, nil
}

// equals compares a number with an integer.
func (n number) equals(m number) bool {
	if n.isFloat {
		return n.float() == m.float()
	}
	negative := func(x number) bool { return x.signed && int64(x.i) < 0 }
	return n.i == m.i && negative(n) == negative(m)
}

// goText is an argument whose contents the call copies into the program's heap: a string, or a slice
// of n elements.
func goText(param *types.Type, data []byte, n int) Argument {
	b := make([]byte, sizeOf(param))
	for off := 8; off < len(b); off += 8 {
		for i := range 8 {
			b[off+i] = byte(uint64(n) >> (8 * i))
		}
	}
	return Argument{Value: Value{Type: param, Bytes: b}, Text: data}
}

// goList makes the slice of the last arguments: those of a variadic function.
func (e *evaluator) goList(args []Value, param *types.Type) (Argument, error) {
	elem := param.Strip().GoElem()
	if elem == nil {
		return Argument{}, errorf("the type of the elements of %s is not known", param.GoName())
	}
	if hasPointers(elem, 0) && len(args) > 0 {
		return Argument{}, errorf("a slice of %s can't be made: its elements have pointers", elem.GoName())
	}
	var data []byte
	for _, v := range args {
		a, err := e.goArgument(v, elem)
		if err != nil {
			return Argument{}, err
		}
		data = append(data, a.Bytes...)
	}
	return goText(param, data, len(args)), nil
}

// hasPointers reports whether values of a type of Go may have pointers into the heap.
func hasPointers(t *types.Type, depth int) bool {
	switch kindOf(t) {
	case types.Bool, types.Int, types.Uint, types.Char, types.Float, types.Enum, types.Complex:
		return false
	case types.Array:
		return depth > 20 || t.Strip().Count != 0 && hasPointers(elemOf(t), depth+1)
	case types.Struct:
		if depth > 20 {
			return true
		}
		for _, f := range t.Strip().Fields() {
			if hasPointers(f.Type, depth+1) {
				return true
			}
		}
		return false
	}
	return true
}

// GoPointers calls yield with the offset of each pointer in a value of a type of Go, and with the
// pointer's type. It returns false if the type is not understood.
func GoPointers(t *types.Type, yield func(off int64, t *types.Type)) bool {
	steps := 0
	var walk func(t *types.Type, off int64, depth int) bool
	walk = func(t *types.Type, off int64, depth int) bool {
		if steps++; steps > 10_000 || depth > 20 {
			return false
		}
		switch kindOf(t) {
		case types.Bool, types.Int, types.Uint, types.Char, types.Float, types.Enum, types.Complex, types.Void:
			return true
		case types.Pointer, types.Func:
			yield(off, t)
			return true
		case types.Array:
			size := sizeOf(elemOf(t))
			for i := range t.Strip().Count {
				if !walk(elemOf(t), off+i*size, depth+1) {
					return false
				}
			}
			return true
		case types.Struct:
			for _, f := range t.Strip().Fields() {
				if f.Place != nil || f.BitSize > 0 || !walk(f.Type, off+f.Offset, depth+1) {
					return false
				}
			}
			return true
		}
		return false
	}
	return walk(t, 0, 0)
}
