package eval

import (
	"cmp"
	"strings"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// goBuiltin evaluates len(x) and cap(x) of Go. done is false if n is another call.
func (e *evaluator) goBuiltin(n *node) (v Value, done bool, err error) {
	if v, done, err := e.goComplex(n); done {
		return v, true, err
	}
	if n.a.op != "name" || n.a.text != "len" && n.a.text != "cap" || len(n.args) != 1 || !e.speaks(lang.Go) {
		return Value{}, false, nil
	}
	if _, err := e.env.Variable(n.a.text); err == nil {
		return Value{}, false, nil // the program has its own
	}
	x, err := e.operand(n.args[0])
	if err != nil {
		return Value{}, true, err
	}
	if kindOf(x.Type) == types.Pointer && kindOf(elemOf(x.Type)) == types.Array { // of a pointer to an array
		if x, err = indirect(x, e.env); err != nil {
			return Value{}, true, err
		}
	}
	count, capacity := int64(-1), int64(-1)
	if s, ok := sequenceOf(x, e.env); ok {
		if count = s.count; !s.text {
			capacity = s.capacity
		}
	} else if m, ok := goMapOf(x, e.env); ok {
		if m.err != nil {
			return Value{}, true, m.err
		}
		count = m.used
	} else if c, ok := goChanOf(x, e.env); ok {
		if c.err != nil {
			return Value{}, true, c.err
		}
		count, capacity = c.count, c.slots
	} else if kindOf(x.Type) == types.Array && isText(x) && !x.HasAddr { // a literal
		count = sizeOf(x.Type) - 1
	} else if size := sizeOf(elemOf(x.Type)); kindOf(x.Type) == types.Array && size > 0 {
		count = sizeOf(x.Type) / size
		capacity = count
	} else if kindOf(x.Type) == types.Array {
		count, capacity = x.Type.Strip().Count, x.Type.Strip().Count
	}
	if n.a.text == "cap" {
		count = capacity
	}
	if count < 0 {
		return Value{}, true, errorf("invalid argument of %s: a value of type %s", n.a.text, x.Type.GoName())
	}
	return intValue(typeLong, uint64(count)), true, nil
}

// isNil compares a value of Go with nil. ok is false if neither side is nil.
func (e *evaluator) isNil(op string, a, b Value) (v Value, ok bool, err error) {
	if b.Type != typeNil {
		a, b = b, a
	}
	if b.Type != typeNil || a.Type == nil {
		return Value{}, false, nil
	}
	if a.Avail != Available { // one word of an interface may be lost
		return Value{}, true, cmp.Or(availabilityError(a), error(Error("value has been optimized out")))
	}
	var words []byte
	switch t := a.Type; {
	case isGoInterface(t):
		words = a.Bytes
	case isGoSlice(t):
		words = load(field(a, "array"), e.env).Bytes
	case kindOf(t) == types.Pointer, kindOf(t) == types.Func:
		words = a.Bytes
	default:
		return Value{}, false, nil
	}
	if n := e.env.Arch().PtrSize; len(words) >= n { // the type decides about an interface
		return truthValue((rawUint(words[:n]) == 0) == (op == "=="), nil), true, nil
	}
	return Value{}, false, nil
}

// assertion parses x.(T); the current token is the parenthesis. The type is kept as text: only the
// value tells which package T is of.
func (p *parser) assertion(x *node) *node {
	text, level := p.lex.text, 1
	for i := p.lex.pos; i < len(text); i++ {
		switch text[i] {
		case '(':
			level++
		case ')':
			level--
		}
		if level == 0 {
			n := p.node(node{op: "assert", text: strings.TrimSpace(text[p.lex.pos:i]), a: x})
			p.lex.pos = i + 1
			p.advance()
			return n
		}
	}
	p.syntax()
	return x
}

// assertion evaluates x.(T): the value in an interface, if it has the type T.
func (e *evaluator) assertion(n *node) (Value, error) {
	v, err := e.operand(n.a)
	if err != nil {
		return Value{}, err
	}
	if !isGoInterface(v.Type) {
		return Value{}, errorf("%s is not an interface", TypeName(v))
	}
	held, ok := dynamic(v, e.env)
	switch {
	case !ok:
		return Value{}, Error("the type of the value in the interface is not known")
	case held.Type == nil:
		return Value{}, errorf("the interface is nil, not %s", n.text)
	}
	own := held.Type.GoName()
	if own == n.text || goLocal(own) == n.text {
		return held, nil
	}
	return Value{}, errorf("the interface holds %s, not %s", own, n.text)
}

// goLocal returns a type's name as its own package writes it: *T for *main.T.
func goLocal(name string) string {
	i := 0
	for i < len(name) && strings.IndexByte("*[]", name[i]) >= 0 {
		i++
	}
	rest := name[i:]
	head, _, _ := strings.Cut(rest, "[")
	if at := strings.LastIndexByte(head, '/'); at >= 0 {
		rest, head = rest[at+1:], head[at+1:]
	}
	if at := strings.IndexByte(head, '.'); at >= 0 {
		rest = rest[at+1:]
	}
	return name[:i] + rest
}
