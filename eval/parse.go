package eval

import (
	"bytes"

	"dbg/symbols/types"
)

// node is a node of an expression's tree: an operator and its operands.
type node struct {
	op      string // "name", "value", "$", "cast", "type", "sizeof", "call", or an operator; unary ones as "u-"
	text    string // of a name or a member
	value   Value
	typ     *types.Type // of "cast", "type" and "{}"
	a, b, c *node
	args    []*node // of "call"
}

// parser parses an expression by operator precedence. It asks env which names are types: a C
// expression can't be parsed without that.
type parser struct {
	lex   lexer
	tok   token
	env   Env
	nodes int
	depth int
	err   error
	tree  *node

	// lenient is set by Check, which knows no names: any name may be a type in a cast.
	lenient bool
}

// parse parses a whole expression.
func parse(text string, env Env) (*node, error) {
	p := &parser{lex: lexer{text: text}, env: env}
	err := p.whole()
	return p.tree, err
}

func (p *parser) whole() error {
	if n := len(p.lex.text); n > maxText {
		return errorf("expression of %d bytes is too long", n)
	}
	p.advance()
	p.tree = p.comma()
	if p.err == nil && p.tok.kind != tokEnd {
		if n := p.tree; n.op == "name" && !p.lenient {
			// For "(nope)1", the unknown name is a better error than the syntax.
			if _, err := p.env.Variable(n.text); err != nil {
				p.fail(err)
			}
		}
		p.syntax()
	}
	return p.err
}

// advance reads the next token. After an error there are no more tokens.
func (p *parser) advance() {
	if p.err != nil {
		p.tok = token{kind: tokEnd, pos: len(p.lex.text)}
		return
	}
	t, err := p.lex.next()
	p.tok = t
	if err != nil {
		p.fail(err)
	}
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.tok = token{kind: tokEnd, pos: len(p.lex.text)}
}

func (p *parser) syntax() {
	p.fail(errorf("A syntax error in expression, near `%s'.", p.lex.text[min(p.tok.pos, len(p.lex.text)):]))
}

func (p *parser) is(punct string) bool { return p.tok.kind == tokPunct && p.tok.text == punct }

func (p *parser) accept(punct string) bool {
	if p.is(punct) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(punct string) {
	if !p.accept(punct) {
		p.syntax()
	}
}

// enter limits recursion; leave ends it.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxNesting {
		p.fail(Error("expression is nested too deeply"))
	}
	return p.err == nil
}

func (p *parser) leave() { p.depth-- }

func (p *parser) node(n node) *node {
	p.nodes++
	if p.nodes > maxNodes {
		p.fail(Error("expression has too many parts"))
	}
	return &n
}

func (p *parser) comma() *node {
	n := p.assignment()
	for p.accept(",") {
		n = p.node(node{op: ",", a: n, b: p.assignment()})
	}
	return n
}

func (p *parser) assignment() *node {
	defer p.leave()
	if !p.enter() {
		return p.node(node{})
	}
	n := p.binary(1)
	if p.accept("?") {
		then := p.comma()
		p.expect(":")
		return p.node(node{op: "?", a: n, b: then, c: p.assignment()})
	}
	if p.tok.kind == tokPunct {
		switch op := p.tok.text; op {
		case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=":
			p.advance()
			return p.node(node{op: op, a: n, b: p.assignment()})
		}
	}
	return n
}

// precedence holds the precedence of binary operators, as in gdb's grammar: "@" is between the
// shifts and addition.
var precedence = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
	"<<": 8, ">>": 8, "@": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
}

func (p *parser) binary(least int) *node {
	n := p.unary()
	for {
		if p.tok.kind == tokName && p.tok.text == "as" && p.err == nil {
			p.advance()
			n = p.node(node{op: "as", typ: p.rustType(), a: n})
			continue
		}
		if p.tok.kind != tokPunct {
			break
		}
		op := p.tok.text
		prec := precedence[op]
		if prec == 0 || prec < least {
			break
		}
		p.advance()
		n = p.node(node{op: op, a: n, b: p.binary(prec + 1)})
	}
	return n
}

func (p *parser) unary() *node {
	defer p.leave()
	if !p.enter() {
		return p.node(node{})
	}
	if p.tok.kind == tokPunct {
		switch op := p.tok.text; op {
		case "*", "&", "-", "+", "!", "~", "++", "--":
			p.advance()
			return p.node(node{op: "u" + op, a: p.unary()})
		case "(":
			if n := p.cast(); n != nil {
				return n
			}
		case "{":
			p.advance()
			t := p.typeName()
			p.expect("}")
			return p.node(node{op: "{}", typ: t, a: p.unary()})
		}
	}
	if p.tok.kind == tokName && (p.tok.text == "sizeof" || p.tok.text == "alignof" || p.tok.text == "_Alignof") {
		op := p.tok.text
		p.advance()
		if op != "sizeof" {
			op = "alignof"
		}
		if p.is("(") {
			// sizeof (int) * 2 is a product, not the size of a cast.
			lex, tok := p.lex, p.tok
			p.advance()
			if p.atType() && !p.lenient {
				t := p.typeName()
				p.expect(")")
				return p.node(node{op: op, a: p.node(node{op: "type", typ: t})})
			}
			if p.err == nil {
				p.lex, p.tok = lex, tok
			}
		}
		return p.node(node{op: op, a: p.unary()})
	}
	return p.postfix(p.primary())
}

// cast parses "(type)" and its operand. If the next tokens are not a type in parentheses, it reads
// nothing and returns nil.
func (p *parser) cast() *node {
	lex, tok := p.lex, p.tok
	p.advance()
	if !p.atType() {
		if p.err == nil {
			p.lex, p.tok = lex, tok
		}
		return nil
	}
	t := p.typeName()
	if p.lenient && !p.is(")") {
		p.lex, p.tok, p.err = lex, tok, nil
		return nil
	}
	p.expect(")")
	if p.err != nil || p.tok.kind == tokEnd || p.tok.kind == tokPunct && !startsOperand(p.tok.text) {
		return p.node(node{op: "type", typ: t})
	}
	return p.node(node{op: "cast", typ: t, a: p.unary()})
}

func startsOperand(punct string) bool {
	switch punct {
	case "(", "*", "&", "-", "+", "!", "~", "{", "++", "--":
		return true
	}
	return false
}

func (p *parser) postfix(n *node) *node {
	for p.err == nil && p.tok.kind == tokPunct {
		switch op := p.tok.text; op {
		case ".", "->":
			p.advance()
			if op == "." && p.is("(") {
				n = p.assertion(n)
				continue
			}
			if p.tok.kind == tokNumber && op == "." || p.tok.kind != tokName && p.tok.kind != tokNumber {
				p.syntax()
				return n
			}
			n = p.node(node{op: op, text: p.tok.text, a: n})
			p.advance()
		case "[":
			p.advance()
			n = p.subscript(n)
		case "(":
			p.advance()
			var args []*node
			for !p.is(")") && p.err == nil {
				args = append(args, p.assignment())
				if !p.accept(",") {
					break
				}
			}
			p.expect(")")
			n = p.node(node{op: "call", a: n, args: args})
		case "++", "--":
			p.advance()
			n = p.node(node{op: "p" + op, a: n})
		default:
			return n
		}
	}
	return n
}

func (p *parser) primary() *node {
	switch p.tok.kind {
	case tokNumber:
		n := p.node(node{op: "value", value: p.tok.value})
		p.advance()
		return n
	case tokString:
		return p.strings()
	case tokDollar:
		if p.templateArg() != nil {
			return p.node(node{op: "type", typ: p.typeName()})
		}
		n := p.node(node{op: "$", text: p.tok.text})
		p.advance()
		return n
	case tokName:
		return p.name()
	}
	if p.accept("(") {
		n := p.comma()
		p.expect(")")
		return n
	}
	p.syntax()
	return p.node(node{})
}

// strings joins adjacent string literals.
func (p *parser) strings() *node {
	v := p.tok.value
	p.advance()
	for p.tok.kind == tokString {
		w := p.tok.value
		e := elemOf(v.Type)
		if elemOf(w.Type) != e {
			p.fail(Error("Undefined string concatenation."))
			break
		}
		b := bytes.Join([][]byte{v.Bytes[:len(v.Bytes)-int(e.Size)], w.Bytes}, nil)
		a, _ := arrayOf(e, int64(len(b))/e.Size)
		v = Value{Type: a, Bytes: b}
		p.advance()
	}
	return p.node(node{op: "value", value: v})
}

// name parses a name, a type, or a C++ cast.
func (p *parser) name() *node {
	switch word := p.tok.text; word {
	case "true", "false":
		p.advance()
		v := Value{Type: typeBool, Bytes: []byte{0}}
		if word == "true" {
			v.Bytes = []byte{1}
		}
		return p.node(node{op: "value", value: v})
	case "static_cast", "reinterpret_cast", "const_cast", "dynamic_cast":
		p.advance()
		p.expect("<")
		t := p.typeName()
		p.expect(">")
		p.expect("(")
		n := p.node(node{op: "cast", typ: t, a: p.comma()})
		p.expect(")")
		return n
	}
	if (!p.lenient || isTypeWord(p.tok.text)) && p.atType() {
		return p.node(node{op: "type", typ: p.typeName()})
	}
	n := p.node(node{op: "name", text: p.tok.text})
	if index, end, ok := p.elementIndex(); ok {
		n.text, p.lex.pos = "std::get<"+index+">", end
	} else if full, end, ok := p.template(); ok {
		n.text = full
		p.lex.pos = end
	}
	p.advance()
	return n
}
