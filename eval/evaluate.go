package eval

import (
	"errors"
	"strconv"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
	"dbg/target"
)

// Evaluate evaluates an expression, with its assignments. The result contains its bytes if they are
// at most 64 KiB. An optimised-out value is a valid result; unreadable memory is an error.
func Evaluate(text string, env Env) (Value, error) {
	n, err := parse(text, env)
	if err != nil {
		return Value{}, err
	}
	e := &evaluator{env: env}
	if n.op == "type" {
		return Value{}, Error("Attempt to use a type name as an expression")
	}
	v, err := e.eval(n)
	if err != nil {
		return Value{}, err
	}
	// A reference is shown with its target, so both must be readable.
	v = Fetch(v, env)
	if v.Avail == Unreadable {
		return Value{}, v.Err
	}
	return v, nil
}

// TypeOf returns the type of an expression, or the type that text names, for whatis and ptype. It
// assigns nothing, and reads memory only if the type depends on it: *p has a type even if p is
// null. A nil type means void.
func TypeOf(text string, env Env) (*types.Type, error) {
	n, err := parse(text, env)
	if err != nil {
		return nil, err
	}
	if n.op == "type" {
		return n.typ, nil
	}
	v, err := (&evaluator{env: env, dry: 1}).eval(n)
	return v.Type, err
}

// evaluator evaluates the tree of one expression.
type evaluator struct {
	env   Env
	steps int
	// dry is above 0 inside sizeof, where nothing is assigned.
	dry int
}

// Speaker is an Env that knows the language of the selected frame. Comparisons return true and
// false in languages that have these, otherwise 1 and 0.
type Speaker interface{ Language() lang.Lang }

// spoken gives the result of a comparison the type that it has in the frame's language.
func (e *evaluator) spoken(v Value, err error) (Value, error) {
	if s, ok := e.env.(Speaker); ok && err == nil && v.Type == typeInt {
		switch s.Language() {
		case lang.CPlusPlus, lang.Rust, lang.Go:
			v.Type, v.Bytes = typeBool, v.Bytes[:1]
		}
	}
	return v, err
}

func (e *evaluator) eval(n *node) (Value, error) {
	e.steps++
	if e.steps > maxSteps {
		return Value{}, Error("expression takes too many steps")
	}
	switch n.op {
	case "value":
		return n.value, nil
	case "name":
		return e.name(n.text)
	case "$":
		return e.dollar(n.text)
	case "type":
		return Value{}, Error("Attempt to use a type as an expression")
	case "sizeof":
		return e.sizeof(n.a)
	case "alignof":
		return e.alignof(n.a)
	case "call":
		return e.call(n, nil)
	case "cast":
		if n.text != "" {
			return e.namedCast(n)
		}
		if n.a.op == "call" {
			v, err := e.call(n.a, n.typ)
			if err != nil {
				return Value{}, err
			}
			return e.cast(n.typ, v)
		}
		v, err := e.eval(n.a)
		if err != nil {
			return Value{}, err
		}
		return e.cast(n.typ, v)
	case "{}":
		return e.at(n)
	case ",":
		if _, err := e.eval(n.a); err != nil {
			return Value{}, err
		}
		return e.eval(n.b)
	case "?":
		return e.choose(n)
	case "&&", "||":
		return e.spoken(e.logical(n))
	case ".", "->":
		return e.dot(n)
	case ".*", "->*":
		v, _, err := e.throughMember(n)
		return v, err
	case "entry":
		return e.entryValue(n.text)
	case "[]":
		return e.index(n)
	case "slice":
		return e.slice(n)
	case "as":
		return e.rustCast(n)
	case "assert":
		return e.assertion(n)
	case "@":
		return e.repeat(n)
	case "u*":
		return e.dereference(n.a)
	case "u&":
		return e.addressOf(n.a)
	case "u-", "u+", "u!", "u~", "u^":
		v, err := e.operand(n.a)
		if err != nil {
			return Value{}, err
		}
		if v, done, err := e.nativeUnary(n.op, v); done {
			return v, err
		}
		if n.op == "u!" {
			return e.spoken(unary(n.op, v))
		}
		return unary(n.op, v)
	case "==", "!=", "<", ">", "<=", ">=":
		return e.spoken(e.binary(n))
	case "u++", "u--", "p++", "p--":
		return e.increment(n)
	case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "&^=":
		return e.assign(n)
	}
	return e.binary(n)
}

// operand evaluates n, follows a reference, and reads the value.
func (e *evaluator) operand(n *node) (Value, error) {
	v, err := e.eval(n)
	if err != nil {
		return Value{}, err
	}
	return e.read(v)
}

// read follows a reference and reads the value. It does not read arrays and functions.
func (e *evaluator) read(v Value) (Value, error) {
	v, err := follow(v, e.env)
	if err != nil {
		return Value{}, err
	}
	if k := kindOf(v.Type); (k == types.Array || k == types.Func) && v.HasAddr {
		return v, nil
	}
	v = load(v, e.env)
	if err := availabilityError(v); err != nil && v.Avail != Partial {
		return Value{}, err
	}
	return v, nil
}

// follow returns the target of a reference.
func follow(v Value, mem target.Memory) (Value, error) {
	for range maxNesting {
		if !isReference(v.Type) {
			return v, nil
		}
		r := load(v, mem)
		if p, ok := implied(r); ok {
			p.Name = v.Name
			v = p
			continue
		}
		if err := availabilityError(r); err != nil {
			return Value{}, err
		}
		v = Value{Type: elemOf(v.Type), Name: v.Name, Addr: target.Addr(integerOf(r)), HasAddr: true}
	}
	return Value{}, Error("reference to itself")
}

// name evaluates a name: a symbol, or a member of the current method's object.
func (e *evaluator) name(name string) (Value, error) {
	v, err := e.env.Variable(name)
	if err == nil {
		return v, nil
	}
	if v, found, e2 := e.qualifiedMember(name); found {
		return v, e2
	}
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		return Value{}, err
	}
	if !strings.Contains(name, "::") && name != "this" && name != "self" {
		for _, self := range []string{"this", "self"} {
			obj, err := e.env.Variable(self)
			if err != nil {
				continue
			}
			if obj, err = e.pointee(obj); err != nil {
				continue
			}
			if m, ok := member(obj, name, e.env); ok {
				return m, nil
			}
		}
	}
	if name == "nil" && e.speaks(lang.Go) {
		return Value{Type: typeNil, Bytes: make([]byte, 8)}, nil
	}
	// This may be an enumerator with the name of its type: Color::RED.
	if i := strings.LastIndex(name, "::"); i > 0 {
		if v, ok := enumerator(e.env.Type(name[:i]), name[i+2:]); ok {
			return v, nil
		}
	}
	return Value{}, err
}

// enumerator finds a name in an enumeration, with or without its scope.
func enumerator(t *types.Type, name string) (Value, bool) {
	if kindOf(t) != types.Enum && !isGo(t) {
		return Value{}, false
	}
	for _, en := range t.Strip().Enumerators() {
		if en.Name == name || enumName(t.Strip(), en.Name) == name || strings.HasSuffix(en.Name, "::"+name) ||
			isGo(t) && strings.HasSuffix(en.Name, "."+name) {
			v, err := newValue(t, number{i: uint64(en.Value), signed: true})
			v.enumerator = true
			return v, err == nil
		}
	}
	return Value{}, false
}

// dollar evaluates a name after "$": history, a register, or a convenience variable.
func (e *evaluator) dollar(name string) (Value, error) {
	if n, relative, ok := historyName(name); ok {
		v, found := e.env.History(n, relative)
		switch {
		case !found && relative:
			return Value{Type: typeVoid}, nil // $ of an empty history
		case !found:
			return Value{}, errorf("History has not yet reached $%d.", n)
		}
		v.fixed = "Left operand of assignment is not a modifiable lvalue."
		return v, nil
	}
	v, err := e.env.Register(name)
	var missing *NotFoundError
	switch {
	case err == nil:
		v.register = name
		return v, nil
	case !errors.As(err, &missing):
		return Value{}, err
	}
	v, ok := e.env.Convenience(name)
	if !ok {
		v = Value{Type: typeVoid}
	}
	v.variable, v.fixed = name, ""
	return v, nil
}

// historyName parses the text after "$" in $, $$, $3 and $$3.
func historyName(s string) (n int, relative, ok bool) {
	digits := strings.TrimPrefix(s, "$")
	relative = s == "" || digits != s
	if digits == "" {
		if digits != s {
			return 1, true, true
		}
		return 0, true, true
	}
	n, err := strconv.Atoi(digits)
	return n, relative, err == nil && n >= 0
}

func (e *evaluator) truth(n *node) (bool, error) {
	v, err := e.operand(n)
	if err != nil {
		return false, err
	}
	return isTrue(v, "?")
}

// isTrue reports whether a value that was read is not zero.
func isTrue(v Value, op string) (bool, error) {
	if isStruct(v.Type) {
		return false, errorf("Structure has no component named operator%s.", op)
	}
	switch kindOf(v.Type) {
	case types.Complex:
		re, im, err := complexParts(v)
		return err == nil && !(re.zero() && im.zero()), err
	case types.MemberPointer:
		return memberSet(v)
	}
	n, err := numberOf(v)
	return err == nil && !n.zero(), err
}

func (e *evaluator) logical(n *node) (Value, error) {
	a, err := e.operand(n.a)
	if err != nil {
		return Value{}, err
	}
	yes, err := isTrue(a, n.op)
	if err != nil {
		return Value{}, err
	}
	if yes == (n.op == "&&") {
		b, err := e.operand(n.b)
		if err != nil {
			return Value{}, err
		}
		if yes, err = isTrue(b, n.op); err != nil {
			return Value{}, err
		}
	}
	return truthValue(yes, a.Type), nil
}

// operandType returns the type of an operand of sizeof or alignof, which is not evaluated.
func (e *evaluator) operandType(n *node) (*types.Type, error) {
	t := n.typ
	if n.op != "type" {
		e.dry++
		v, err := e.eval(n)
		e.dry--
		if err != nil {
			return nil, err
		}
		t = v.Type
	}
	if isReference(t) {
		t = elemOf(t)
	}
	return t, nil
}

func (e *evaluator) alignof(n *node) (Value, error) {
	t, err := e.operandType(n)
	if err != nil {
		return Value{}, err
	}
	a := alignOf(t, e.env.Arch().PtrSize)
	if a == 0 {
		return Value{}, Error("could not determine alignment of type")
	}
	return intValue(typeUlong, uint64(a)), nil
}

func (e *evaluator) sizeof(n *node) (Value, error) {
	t, err := e.operandType(n)
	if err != nil {
		return Value{}, err
	}
	size := sizeOf(t)
	switch {
	case kindOf(t) == types.Void:
		size = 1 // gcc's size of void
	case size < 0:
		return Value{}, Error("sizeof an incomplete type")
	}
	return intValue(typeUlong, uint64(size)), nil
}

// at evaluates {type} address.
func (e *evaluator) at(n *node) (Value, error) {
	v, err := e.operand(n.a)
	if err != nil {
		return Value{}, err
	}
	a, err := numberOf(v)
	if err != nil {
		return Value{}, err
	}
	return Value{Type: n.typ, Addr: target.Addr(a.integer()), HasAddr: true}, nil
}

// repeat evaluates first@count: an array that starts at first.
func (e *evaluator) repeat(n *node) (Value, error) {
	v, err := e.eval(n.a)
	if err != nil {
		return Value{}, err
	}
	if v, err = follow(v, e.env); err != nil {
		return Value{}, err
	}
	count, err := e.operand(n.b)
	if err != nil {
		return Value{}, err
	}
	c, err := numberOf(count)
	if err != nil {
		return Value{}, err
	}
	k := int64(c.integer())
	switch {
	case !v.HasAddr || v.function != "" || v.BitSize > 0:
		return Value{}, Error("Only values in memory can be extended with '@'.")
	case k <= 0:
		return Value{}, errorf("Invalid number %d of repetitions.", k)
	}
	t, ok := arrayOf(v.Type, k)
	if !ok {
		return Value{}, errorf("Invalid number %d of repetitions.", k)
	}
	return Value{Type: t, Addr: v.Addr, HasAddr: true}, nil
}
