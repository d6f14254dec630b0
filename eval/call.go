package eval

import (
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// Caller is an Env that can call functions of the program.
type Caller interface {
	// Call calls a function and returns its result. The program runs meanwhile.
	Call(c *Call) (Value, error)
	// Functions returns the functions that a name may mean, or that have it as linkage name.
	Functions(name string) []Value
	// Allocate puts data into the program's memory, where it stays.
	Allocate(data []byte) (target.Addr, error)
}

// Call is a call whose arguments have been converted.
type Call struct {
	Name   string
	Addr   target.Addr
	Type   *types.Type // of the function
	Result *types.Type // nil: void
	Args   []Argument
	Fixed  int // so many arguments belong to named parameters
	// Context is the address of the closure of a func value of Go; 0: a function without one.
	Context uint64
}

// Argument is one argument. Its value has bytes.
type Argument struct {
	Value
	// ByAddress: the address of a copy is passed, which the function may change.
	ByAddress bool
	// Text is copied into the heap of a program of Go, and its address is put into the value at offset
	// TextAt: the contents of a string or of a slice that the expression has made, or the value in an
	// interface.
	Text   []byte
	TextAt int64
}

const (
	tooFew  = Error("Too few arguments in function call.")
	tooMany = Error("Too many arguments in function call.")
)

// candidate is a function that a call may mean.
type candidate struct {
	fn     Value // a function
	params []*types.Type
	object *Value // of a method
	method *types.Method

	receiver *Value // of a method of Go
	context  uint64 // the closure of a func value of Go
}

// call evaluates a call. A function whose result type is not known has the type want.
func (e *evaluator) call(n *node, want *types.Type) (Value, error) {
	if n.a.op == "type" {
		if len(n.args) != 1 {
			return Value{}, Error("A cast takes one value.")
		}
		v, err := e.eval(n.args[0])
		if err != nil {
			return Value{}, err
		}
		return e.cast(n.a.typ, v)
	}
	if v, done, err := e.function(n); done {
		return v, err
	}
	if v, done, err := e.literalMethod(n); done {
		return v, err
	}
	if v, done, err := e.intrinsic(n); done {
		return v, err
	}
	if v, done, err := e.goBuiltin(n); done {
		return v, err
	}
	caller, ok := e.env.(Caller)
	if !ok {
		return Value{}, Error("calling functions is not supported")
	}
	if n.a.op == ".*" || n.a.op == "->*" {
		return e.callThroughMember(n, caller)
	}
	name, list, err := e.candidates(n.a, caller)
	if err != nil {
		return Value{}, err
	}
	args := make([]Value, len(n.args))
	for i, a := range n.args {
		if args[i], err = e.eval(a); err != nil {
			if a.op != "name" || a.text != "nil" || !isGo(list[0].fn.Type) {
				return Value{}, err
			}
			args[i] = Value{Type: typeNil, Bytes: make([]byte, 8)}
		}
	}
	c, err := e.resolve(name, list, args)
	if err != nil {
		return Value{}, err
	}
	return e.perform(caller, name, c, args, want)
}

// callThroughMember evaluates (o.*m)(args).
func (e *evaluator) callThroughMember(n *node, caller Caller) (Value, error) {
	fn, this, err := e.throughMember(n.a)
	if err != nil {
		return Value{}, err
	}
	if kindOf(fn.Type) != types.Func {
		return Value{}, Error("Invalid data type for function to be called.")
	}
	args := []Value{this}
	for _, a := range n.args {
		v, err := e.eval(a)
		if err != nil {
			return Value{}, err
		}
		args = append(args, v)
	}
	return e.perform(caller, "at "+fn.Addr.String(), &candidate{fn: fn, params: fn.Type.Strip().Params()}, args, nil)
}

// candidates finds what is called.
func (e *evaluator) candidates(n *node, caller Caller) (string, []candidate, error) {
	switch n.op {
	case "name":
		v, err := e.name(n.text)
		if this, e2 := e.this(); e2 == nil && !strings.Contains(n.text, "::") {
			if obj, e2 := e.pointee(this); e2 == nil {
				if list := e.methods(obj, n.text, caller, 0); len(list) > 0 {
					return n.text, list, nil
				}
			}
		}
		if err == nil && v.function == "" {
			return e.value(n.text, v)
		}
		var out []candidate
		for _, f := range caller.Functions(n.text) {
			out = append(out, candidate{fn: f, params: f.Type.Params()})
		}
		if len(out) == 0 && err == nil {
			out = append(out, candidate{fn: v, params: v.Type.Params()})
		}
		if len(out) == 0 {
			return n.text, nil, err
		}
		return n.text, out, nil
	case ".", "->":
		obj, err := e.eval(n.a)
		if err == nil {
			if name, list, found, err := e.goCandidate(obj, n, caller); found {
				return name, list, err
			}
			obj, err = e.pointee(obj)
		}
		if err == nil && isStruct(obj.Type) {
			if m, ok := member(obj, n.text, e.env); ok {
				return e.value(n.text, m)
			}
			list := e.methods(obj, n.text, caller, 0)
			if len(list) == 0 {
				return "", nil, errorf("Couldn't find method %s::%s", obj.Type.Strip().Name, n.text)
			}
			return obj.Type.Strip().Name + "::" + n.text, list, nil
		}
		if full := dotted(n); full != "" { // Go: main.f
			if fs := caller.Functions(full); len(fs) > 0 {
				return full, []candidate{{fn: fs[0], params: fs[0].Type.Params()}}, nil
			}
			if goGeneric(full, caller) {
				return "", nil, errorf("%s is a generic function: the dictionary of its type arguments is not known", full)
			}
		}
		if err != nil {
			return "", nil, err
		}
		return "", nil, Error("Attempt to extract a component of a value that is not a structure.")
	}
	v, err := e.eval(n)
	if err != nil {
		return "", nil, err
	}
	return e.value("at "+v.Addr.String(), v)
}

// value is a function, a pointer to one, or an object with an operator().
func (e *evaluator) value(name string, v Value) (string, []candidate, error) {
	v, err := e.read(v)
	if err != nil {
		return "", nil, err
	}
	if kindOf(v.Type) == types.Pointer && kindOf(elemOf(v.Type)) == types.Func {
		if v, err = indirect(v, e.env); err != nil {
			return "", nil, err
		}
	}
	switch {
	case kindOf(v.Type) == types.Func && v.function == "" && isGo(v.Type):
		fn, context, err := e.goClosure(v)
		return name, []candidate{{fn: fn, context: context}}, err
	case kindOf(v.Type) == types.Func && v.HasAddr:
		return name, []candidate{{fn: v, params: v.Type.Strip().Params()}}, nil
	case isStruct(v.Type):
		if caller, ok := e.env.(Caller); ok {
			if list := e.methods(v, "operator()", caller, 0); len(list) > 0 {
				return name, list, nil
			}
		}
	case isIntegral(v.Type):
		// gdb takes an integer for the address of a function that returns int.
		n, err := numberOf(v)
		return name, []candidate{{fn: FunctionValue(name, target.Addr(n.integer()), types.NewFunc(typeInt, nil))}}, err
	}
	return "", nil, Error("Invalid data type for function to be called.")
}

// methods finds the methods of a name in the class of an object, or in the first of its bases that
// has one.
func (e *evaluator) methods(obj Value, name string, caller Caller, depth int) []candidate {
	if depth > 20 || !isStruct(obj.Type) {
		return nil
	}
	var out []candidate
	t := obj.Type.Strip()
	list := t.Methods()
	for i := range list {
		m := &list[i]
		if m.Name != name || m.Deleted {
			continue
		}
		c := candidate{object: &obj, method: m, params: m.Type.Params()}
		if m.Static {
			c.object = nil
		} else if len(c.params) == 0 {
			continue
		} else {
			c.params = c.params[1:]
		}
		c.fn = FunctionValue(t.Name+"::"+name, 0, m.Type)
		out = append(out, c)
	}
	if len(out) > 0 {
		return out
	}
	for _, f := range t.Fields() {
		if f.Base && f.Type != nil {
			if out := e.methods(fieldOf(obj, &f, e.env), name, caller, depth+1); len(out) > 0 {
				return out
			}
		}
	}
	return nil
}

// perform calls the function that was chosen.
func (e *evaluator) perform(caller Caller, name string, c *candidate, args []Value, want *types.Type) (Value, error) {
	ft := c.fn.Type.Strip()
	if ft.Lang == lang.Go {
		return e.performGo(caller, name, c, args)
	}
	call := &Call{Name: name, Addr: c.fn.Addr, Type: ft, Result: ft.Elem(), Fixed: len(c.params)}
	unknown := ft == unknownFunction
	if unknown {
		if want == nil {
			return Value{}, errorf("'%s' has unknown return type; cast the call to its declared return type", name)
		}
		call.Result, call.Fixed = want, len(args)
	}
	open := unknown || ft.Variadic() || len(c.params) == 0 && !ft.Prototyped()
	switch {
	case len(args) < len(c.params):
		return Value{}, tooFew
	case len(args) > len(c.params) && !open:
		return Value{}, tooMany
	case len(args) > 1000:
		return Value{}, tooMany
	}
	if open && !ft.Variadic() {
		call.Fixed = len(args)
	}
	if e.dry > 0 {
		if call.Result == nil {
			return Value{Type: typeVoid}, nil
		}
		return Value{Type: call.Result, Bytes: make([]byte, max(sizeOf(call.Result), 0))}, nil
	}
	if c.method != nil {
		if err := e.locate(caller, c, call); err != nil {
			return Value{}, err
		}
	}
	for i, v := range args {
		var a Argument
		var err error
		if i < len(c.params) {
			a, err = e.convert(caller, v, c.params[i])
			if err == nil && !ft.Prototyped() && ft.Lang == lang.C {
				a.Value, err = e.promote(a.Value) // without a prototype a float arrives as a double
			}
		} else {
			a, err = e.promoted(caller, v)
		}
		if err != nil {
			return Value{}, err
		}
		call.Args = append(call.Args, a)
	}
	return caller.Call(call)
}

// locate finds the code of a method, and makes the object its first argument.
func (e *evaluator) locate(caller Caller, c *candidate, call *Call) error {
	m := c.method
	if c.object != nil {
		obj := *c.object
		var this Argument
		if obj.HasAddr {
			p, err := newValue(pointerTo(obj.Type, e.env.Arch().PtrSize), number{i: uint64(obj.Addr)})
			if err != nil {
				return err
			}
			this.Value = p
		} else {
			obj = load(obj, e.env)
			if err := availabilityError(obj); err != nil {
				return err
			}
			this = Argument{Value: obj, ByAddress: true}
		}
		call.Args, call.Fixed = append(call.Args, this), call.Fixed+1
		if m.Virtual && m.HasSlot && obj.HasAddr && m.Slot < 1<<20 {
			table, err := e.word(obj.Addr)
			if err == nil {
				table, err = e.word(target.Addr(table + 8*m.Slot))
			}
			call.Addr = target.Addr(table)
			return err
		}
	}
	if m.Linkage != "" {
		if fs := caller.Functions(m.Linkage); len(fs) > 0 {
			call.Addr = fs[0].Addr
			return nil
		}
	}
	return errorf("Cannot evaluate function -- may be inlined")
}

func (e *evaluator) word(a target.Addr) (uint64, error) {
	v := load(At(typeUlong, "", a, e.env), e.env)
	if err := availabilityError(v); err != nil {
		return 0, err
	}
	return rawUint(v.Bytes), nil
}

// convert makes an argument of the type of its parameter.
func (e *evaluator) convert(caller Caller, v Value, param *types.Type) (Argument, error) {
	if isReference(param) {
		return e.bind(v, param)
	}
	v, err := e.read(v)
	if err != nil {
		return Argument{}, err
	}
	if kindOf(v.Type) == types.Array && !v.HasAddr && kindOf(param) == types.Pointer {
		return e.literal(caller, v, param)
	}
	if isStruct(param) {
		return e.copyClass(caller, v, param)
	}
	if kindOf(param) == types.Complex || kindOf(param) == types.Array || kindOf(param) == types.MemberPointer {
		if kindOf(v.Type) != kindOf(param) || sizeOf(v.Type) != sizeOf(param) {
			return Argument{}, errInvalidCast
		}
		v = load(v, e.env)
		return Argument{Value: Value{Type: param, Bytes: v.Bytes}}, availabilityError(v)
	}
	v, err = e.cast(param, v)
	return Argument{Value: v}, err
}

// bind passes a reference: to what v is, or to a copy of it.
func (e *evaluator) bind(v Value, param *types.Type) (Argument, error) {
	v, err := follow(v, e.env)
	if err != nil {
		return Argument{}, err
	}
	to := elemOf(param)
	off, base := int64(0), equivalent(v.Type, to)
	if !base && isStruct(to) && isStruct(v.Type) {
		off, base = baseOffset(v.Type, to, 0)
	}
	if base && v.HasAddr && v.BitSize == 0 {
		p, err := newValue(param, number{i: uint64(v.Addr) + uint64(off)})
		return Argument{Value: p}, err
	}
	if kindOf(param) == types.Reference && (to == nil || to.Kind != types.Const) {
		return Argument{}, Error("Attempt to take address of value not located in memory.")
	}
	if v, err = e.read(v); err == nil && !base {
		v, err = e.cast(to, v)
	} else if err == nil && isStruct(to) {
		v = part(v, off, to, "")
	}
	return Argument{Value: v, ByAddress: true}, err
}

// literal copies a string of the expression into the program.
func (e *evaluator) literal(caller Caller, v Value, param *types.Type) (Argument, error) {
	if err := availabilityError(v); err != nil {
		return Argument{}, err
	}
	a, err := caller.Allocate(v.Bytes)
	if err != nil {
		return Argument{}, err
	}
	p, err := newValue(param, number{i: uint64(a)})
	return Argument{Value: p}, err
}

// copyClass passes a structure. One that is not trivial for the purposes of calls is copied by its
// copy constructor, if it has one.
func (e *evaluator) copyClass(caller Caller, v Value, param *types.Type) (Argument, error) {
	off, ok := int64(0), equivalent(v.Type, param)
	if !ok {
		off, ok = baseOffset(v.Type, param, 0)
	}
	if !ok || !isStruct(v.Type) {
		return Argument{}, errInvalidCast
	}
	if !equivalent(v.Type, param) {
		v = part(v, off, param, "")
	}
	v = load(v, e.env)
	if err := availabilityError(v); err != nil {
		return Argument{}, err
	}
	if !param.PassedByReference() {
		return Argument{Value: v}, nil
	}
	list := param.Strip().Methods()
	for i := range list {
		m := &list[i]
		ps := m.Type.Params()
		if m.Name != lastName(param.Strip().Name) || len(ps) != 2 || !isReference(ps[1]) || !equivalent(elemOf(ps[1]), param) ||
			kindOf(ps[1]) != types.Reference {
			continue
		}
		fs := caller.Functions(m.Linkage)
		if len(fs) == 0 { // the complete object constructor, C1, shares the code of C2
			fs = caller.Functions(strings.Replace(m.Linkage, "C4", "C1", 1))
		}
		if len(fs) == 0 {
			fs = caller.Functions(strings.Replace(m.Linkage, "C4", "C2", 1))
		}
		if len(fs) == 0 || m.Deleted || !v.HasAddr {
			return Argument{}, errorf("the copy constructor of %s is not in the program", param.Strip().Name)
		}
		at, err := caller.Allocate(make([]byte, len(v.Bytes)))
		if err != nil {
			return Argument{}, err
		}
		this, _ := newValue(pointerTo(param, 8), number{i: uint64(at)})
		from, _ := newValue(ps[1], number{i: uint64(v.Addr)})
		if _, err := caller.Call(&Call{Name: param.Strip().Name, Addr: fs[0].Addr, Type: m.Type.Strip(),
			Args: []Argument{{Value: this}, {Value: from}}, Fixed: 2}); err != nil {
			return Argument{}, err
		}
		return Argument{Value: this}, nil
	}
	return Argument{Value: v, ByAddress: true}, nil
}

// promoted is the default argument promotions, for an argument without a parameter.
func (e *evaluator) promoted(caller Caller, v Value) (Argument, error) {
	v, err := e.read(v)
	if err != nil {
		return Argument{}, err
	}
	if kindOf(v.Type) == types.Array {
		p := pointerTo(elemOf(v.Type), e.env.Arch().PtrSize)
		if !v.HasAddr {
			return e.literal(caller, v, p)
		}
		v, err = newValue(p, number{i: uint64(v.Addr)})
		return Argument{Value: v}, err
	}
	if kindOf(v.Type) == types.Func {
		v, err = newValue(pointerTo(v.Type, e.env.Arch().PtrSize), number{i: uint64(v.Addr)})
		return Argument{Value: v}, err
	}
	if isStruct(v.Type) {
		return e.copyClass(caller, v, v.Type)
	}
	v, err = e.promote(v)
	return Argument{Value: v}, err
}

// promote widens small integers to int, and float to double: C11, section 6.5.2.2.
func (e *evaluator) promote(v Value) (Value, error) {
	switch k := kindOf(v.Type); {
	case k == types.Float && sizeOf(v.Type) < 8:
		return e.cast(typeDouble, v)
	case (k == types.Bool || k == types.Char || k == types.Int || k == types.Uint || k == types.Enum) && (sizeOf(v.Type) < 4 || v.BitSize > 0):
		return e.cast(typeInt, v)
	}
	return v, nil
}

// Void returns the value of a call that returns nothing.
func Void() Value { return Value{Type: typeVoid} }

// Convert returns a value as another type, as an assignment converts it.
func Convert(v Value, t *types.Type, env Env) (Value, error) {
	e := &evaluator{env: env}
	v, err := e.read(v)
	if err != nil {
		return Value{}, err
	}
	b, err := e.converted(Value{Type: t}, v)
	return Value{Type: t, Bytes: b}, err
}

// this returns the object whose method runs. Only C++ has one; elsewhere the name is like any other,
// and the search for it would go through the whole program.
func (e *evaluator) this() (Value, error) {
	if s, ok := e.env.(Speaker); ok && s.Language() != lang.CPlusPlus {
		return Value{}, &NotFoundError{"this"}
	}
	return e.env.Variable("this")
}
