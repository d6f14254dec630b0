package eval

import (
	"errors"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// compiler translates the tree of an expression. Its methods have the same names and structure as
// those of evaluator. Each method evaluates with the evaluator's functions what does not depend on
// the program's state, and emits code for the rest.
type compiler struct {
	c     *ProgramContext
	env   *placeEnv
	types evaluator // finds the types of results and errors in operands
	steps int

	code           []instruction
	barrier        int // instructions before it are not merged with later ones
	depth, deepest int // of the stack

	// lost is the reason why the program is not compiled although its types are known. The rest of
	// the expression is still checked for errors.
	lost error
}

// lose returns an operand for a value that a program can't read.
func (k *compiler) lose(v Value, why string) (operand, error) {
	k.lost = notCompiled(why)
	k.emit(instruction{op: opConst})
	return operand{at: inMemory, v: Value{Type: v.Type, Name: v.Name}}, nil
}

// eval compiles n. If a part of n is a choice between different types, n becomes a choice.
func (k *compiler) eval(n *node) (operand, error) {
	m := k.mark()
	o, err := k.node(n)
	if err == nil {
		return o, nil
	}
	var mixed *mixedChoice
	if !errors.As(err, &mixed) || mixed.of == n {
		return o, err
	}
	k.rollback(m)
	return k.lift(n, mixed)
}

// node compiles n.
func (k *compiler) node(n *node) (operand, error) {
	k.steps++
	if k.steps > maxSteps || len(k.code) > maxCode {
		return operand{}, notCompiled("the expression is too large")
	}
	switch n.op {
	case "value":
		if kindOf(n.value.Type) == types.Array {
			return operand{}, notCompiled("a string")
		}
		return constant(n.value), nil
	case "name":
		if n.text == "nil" && k.c.Language == lang.Go {
			return operand{}, notCompiled("nil")
		}
		return k.name(n.text)
	case "$":
		return k.dollar(n.text)
	case "type":
		return operand{}, Error("Attempt to use a type as an expression")
	case "sizeof":
		return k.sizeof(n.a)
	case "alignof":
		return k.alignof(n.a)
	case "cast":
		if n.text != "" && n.text != "static_cast" {
			return operand{}, notCompiled("the operator " + n.text)
		}
		o, err := k.eval(n.a)
		if err != nil {
			return o, err
		}
		if n.text != "" && k.types.pointedClass(o.typ()) != nil && k.types.pointedClass(n.typ) != nil {
			return o, notCompiled("a cast between classes")
		}
		return k.cast(n.typ, o)
	case "{}":
		return k.place(n)
	case ",":
		m := k.mark()
		a, err := k.eval(n.a)
		if err != nil {
			return a, err
		}
		k.discard(m)
		return k.eval(n.b)
	case "?":
		return k.choose(n)
	case "&&", "||":
		return k.logical(n)
	case ".", "->":
		return k.dot(n)
	case "[]":
		return k.index(n)
	case "u*":
		return k.dereference(n.a)
	case "u&":
		if k.c.Language == lang.CPlusPlus && n.a.op == "name" && strings.Contains(n.a.text, "::") {
			return operand{}, notCompiled("the address of a qualified name")
		}
		return k.addressOf(n.a)
	case "u-", "u+", "u!", "u~":
		return k.unary(n)
	case "call", "slice", ".*", "->*", "entry", "as", "assert", "@", "u++", "u--", "p++", "p--", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "&^=", "u^", "&^":
		return operand{}, notCompiled("the operator " + n.op)
	}
	return k.binary(n)
}

// operand compiles n, follows a reference, and reads a scalar.
func (k *compiler) operand(n *node) (operand, error) {
	o, err := k.eval(n)
	if err != nil {
		return o, err
	}
	return k.read(o)
}

// discard removes the value that was emitted since the mark. Code that can fail stays, because its
// error is an error of the expression.
func (k *compiler) discard(m mark) {
	if k.fails(m) {
		for k.depth > m.depth {
			k.emit(instruction{op: opDrop})
		}
		return
	}
	k.rollback(m)
}

// truth compiles n to a number that is not 0 if n is true.
func (k *compiler) truth(n *node, op string) error {
	if n.op == "?" { // the sides may have different types
		return k.chooseTruth(n, op)
	}
	m := k.mark()
	o, err := k.operand(n)
	var mixed *mixedChoice
	if errors.As(err, &mixed) {
		k.rollback(m)
		return k.chooseTruth(mixed.choice, op)
	}
	if err != nil {
		return err
	}
	return k.isTrue(o, op)
}

// isTrue converts an operand that was read to a truth value. op is "!" for the whole condition.
func (k *compiler) isTrue(o operand, op string) error {
	if isStruct(o.typ()) {
		return errorf("Structure has no component named operator%s.", op)
	}
	if kindOf(o.typ()) == types.Complex {
		return notCompiled("a complex number")
	}
	if o.at == known || o.at == inBits || o.at == nothing {
		if _, err := numberOf(o.stand()); err != nil {
			return err
		}
		return notCompiled("a value without a number")
	}
	if yes, err := o.isScalar(); err != nil {
		return err
	} else if !yes {
		return errNotNumber
	}
	if op == "!" && kindOf(o.typ()) == types.Array {
		return notCompiled("an array, which Evaluate reads as a whole")
	}
	if kindOf(o.typ()) == types.Float {
		k.emit(instruction{op: opFloatNonzero})
	}
	return nil
}

// sizeof compiles the size of an operand or a type. It compiles the operand only to get its type.
func (k *compiler) sizeof(n *node) (operand, error) {
	if n.op == "type" {
		v, err := k.types.sizeof(n)
		return constant(v), err
	}
	m := k.mark()
	o, err := k.eval(n)
	if err != nil {
		return o, err
	}
	k.discard(m)
	if isReference(o.typ()) {
		o.v.Type = elemOf(o.typ())
	}
	if o.typ().IsDynamic() {
		return o, notCompiled("the size of an array of variable length")
	}
	v, err := k.types.sizeof(&node{op: "type", typ: o.typ()})
	return constant(v), err
}

// alignof compiles the alignment of a type.
func (k *compiler) alignof(n *node) (operand, error) {
	if n.op != "type" {
		return operand{}, notCompiled("the alignment of an expression")
	}
	v, err := k.types.alignof(n)
	return constant(v), err
}

// place compiles {type} address.
func (k *compiler) place(n *node) (operand, error) {
	o, err := k.operand(n.a)
	if err != nil {
		return o, err
	}
	if err := k.integer(o); err != nil {
		return o, err
	}
	return operand{at: inMemory, v: Value{Type: n.typ}}, nil
}

// integer converts an operand that was read to an integer, as C does.
func (k *compiler) integer(o operand) error {
	if _, err := numberOf(o.stand()); err != nil {
		return err
	}
	if yes, err := o.isScalar(); !yes || err != nil {
		return notCompiled("a value without a number")
	}
	if kindOf(o.typ()) == types.Float {
		k.emit(instruction{op: opFloatToInt})
	}
	return nil
}

// name compiles a name: a symbol, or a member of the current method's object.
func (k *compiler) name(name string) (operand, error) {
	o, err := k.symbol(name)
	if err == nil || !notFound(err) {
		return o, err
	}
	if !strings.Contains(name, "::") && name != "this" && name != "self" {
		for _, self := range []string{"this", "self"} {
			m := k.mark()
			obj, e2 := k.symbol(self)
			if e2 == nil {
				obj, e2 = k.pointee(obj)
			}
			if e2 != nil && !isNotCompiled(e2) {
				k.rollback(m)
				continue
			}
			if e2 != nil {
				return obj, e2
			}
			found, ok, e2 := k.member(obj, name)
			if e2 != nil || ok {
				return found, e2
			}
			k.rollback(m)
		}
	}
	// This may be an enumerator with the name of its type: Color::RED.
	if i := strings.LastIndex(name, "::"); i > 0 {
		if v, ok := enumerator(k.env.Type(name[:i]), name[i+2:]); ok {
			return constant(v), nil
		}
	}
	return o, err
}

// symbol finds a variable, a function or an enumerator.
func (k *compiler) symbol(name string) (operand, error) {
	s := k.env.symbol(name)
	switch {
	case s.v != nil:
		return k.variable(s.v, s.bias)
	case s.err != nil:
		return operand{}, s.err
	}
	return k.value(s.Value)
}

// value returns an operand for a value from Env.
func (k *compiler) value(v Value) (operand, error) {
	switch {
	case v.Avail != Available || v.Type.IsDynamic():
		return k.lose(v, "the variable "+v.Name)
	case v.InReg && v.Bytes == nil && k.general(v.Reg):
		k.emit(instruction{op: opReg, reg: v.Reg})
		return operand{at: inBits, v: Value{Type: v.Type}}, nil
	case v.HasAddr && v.BitSize == 0:
		k.emit(instruction{op: opConst, n: int64(v.Addr)})
		return operand{at: inMemory, v: Value{Type: v.Type, Name: v.Name}}, nil
	case v.Bytes != nil:
		return constant(v), nil
	}
	return k.lose(v, "the variable "+v.Name)
}

// dollar compiles a register. The other names after "$" are not compiled: their values change, and
// belong to the session.
func (k *compiler) dollar(name string) (operand, error) {
	a := k.c.Arch
	r, ok := a.RegByName(name)
	t, first := registerType(a, r), int64(0)
	if !ok {
		sub, ok := subRegisterOf(a, name)
		if !ok {
			return operand{}, notCompiled("$" + name)
		}
		r, t, first = sub.reg, sub.typ, int64(sub.byte)
	}
	if !isIntegral(t) || !k.general(r) {
		return operand{}, notCompiled("$" + name)
	}
	k.emit(instruction{op: opReg, reg: r})
	whole := operand{at: inBits, v: Value{Type: typeUlong, Name: name}}
	return k.part(whole, first, t, name)
}
