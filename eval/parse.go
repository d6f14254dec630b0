package eval

import (
	"regexp"

	"dbg/symbols/lang"
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
	work  int // what was entered: also what is read again, as a type or as an expression
	err   error
	tree  *node

	// lenient is set by Check, which knows no names: any name may be a type in a cast.
	lenient bool
}

// parse parses a whole expression.
func parse(text string, env Env) (*node, error) {
	p := &parser{lex: lexer{text: text, lang: literalLang(env)}, env: env}
	err := p.whole()
	return p.tree, err
}

// literalLang returns the language whose literals an expression has. Views are written in C++.
func literalLang(env Env) lang.Lang {
	if _, ok := env.(Scope); ok {
		return lang.CPlusPlus
	}
	if s, ok := env.(Speaker); ok {
		return s.Language()
	}
	return lang.Unknown
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
	if p.err != nil && !p.lenient {
		p.blameCast()
	}
	return p.err
}

// unknownCast finds the name in a cast to a pointer: "(name *)".
var unknownCast = regexp.MustCompile(`\(\s*([A-Za-z_][A-Za-z_0-9:]*)\s*[*&]+\s*\)`)

// blameCast replaces a syntax error by the error of an unknown name, where a cast has one.
func (p *parser) blameCast() {
	if _, syntax := p.err.(Error); !syntax {
		return
	}
	m := unknownCast.FindStringSubmatch(p.lex.text)
	if m == nil || typeWord(m[1]) || p.findType(m[1]) != nil {
		return
	}
	if _, err := p.env.Variable(m[1]); notFound(err) {
		p.err = err
	}
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
	p.work++
	switch {
	case p.depth > maxNesting:
		p.fail(Error("expression is nested too deeply"))
	case p.work > maxWork:
		p.fail(Error("expression has too many parts"))
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
		case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "&^=":
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
	"<<": 8, ">>": 8, "@": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11, "&^": 11, ".*": 12, "->*": 12,
}

// goPrecedence holds the precedence of Go: multiplication, shifts and & are the same, and so are addition,
// | and ^, and all comparisons (The Go Programming Language Specification, "Operator precedence").
var goPrecedence = map[string]int{
	"||": 1, "&&": 2, "==": 6, "!=": 6, "<": 6, ">": 6, "<=": 6, ">=": 6, "@": 9, "+": 10, "-": 10, "|": 10, "^": 10,
	"*": 11, "/": 11, "%": 11, "<<": 11, ">>": 11, "&": 11, "&^": 11,
}

// rustPrecedence holds the precedence of Rust: comparisons are weaker than the operators on bits (The Rust
// Reference, "Expression precedence").
var rustPrecedence = map[string]int{
	"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3, "|": 4, "^": 5, "&": 6,
	"<<": 8, ">>": 8, "@": 9, "+": 10, "-": 10, "*": 11, "/": 11, "%": 11,
}

// binaryPrecedence returns the precedence of an operator in the frame's language; 0: it is not one.
func (p *parser) binaryPrecedence(op string) int {
	switch p.lex.lang {
	case lang.Go:
		return goPrecedence[op]
	case lang.Rust:
		return rustPrecedence[op]
	}
	return precedence[op]
}

// alternativeOperators are the words that C++ has for operators.
var alternativeOperators = map[string]string{
	"and": "&&", "or": "||", "bitand": "&", "bitor": "|", "xor": "^", "not_eq": "!=", "and_eq": "&=", "or_eq": "|=", "xor_eq": "^=",
}

// alternative replaces a word by its operator, where no name can be.
func (p *parser) alternative() {
	if op := alternativeOperators[p.tok.text]; op != "" && p.tok.kind == tokName && p.lex.lang == lang.CPlusPlus {
		p.tok.kind, p.tok.text = tokPunct, op
	}
}

func (p *parser) binary(least int) *node {
	n := p.unary()
	for {
		if p.tok.kind == tokName && p.tok.text == "as" && p.err == nil {
			p.advance()
			n = p.node(node{op: "as", typ: p.rustType(), a: n})
			continue
		}
		p.alternative()
		if p.tok.kind != tokPunct {
			break
		}
		op := p.tok.text
		prec := p.binaryPrecedence(op)
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
	if p.tok.kind == tokName && p.lex.lang == lang.CPlusPlus && (p.tok.text == "not" || p.tok.text == "compl") {
		op := map[string]string{"not": "u!", "compl": "u~"}[p.tok.text]
		p.advance()
		return p.node(node{op: op, a: p.unary()})
	}
	if p.tok.kind == tokPunct {
		switch op := p.tok.text; op {
		case "^":
			if p.lex.lang == lang.Go {
				p.advance()
				return p.node(node{op: "u^", a: p.unary()})
			}
		case "&&": // in Rust a reference to a reference
			if p.lex.lang == lang.Rust {
				p.advance()
				return p.node(node{op: "u&", a: p.unary()})
			}
		case "*", "&", "-", "+", "!", "~", "++", "--":
			p.advance()
			if op == "&" && p.lex.lang == lang.Rust && p.tok.kind == tokName && p.tok.text == "mut" {
				p.advance()
			}
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
	if p.tok.kind == tokName && (p.tok.text == "sizeof" || isAlignof(p.tok.text)) {
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

// strings joins adjacent string literals. One without a prefix takes that of the others: C17, section
// 6.4.5.
func (p *parser) strings() *node {
	v, prefix, letters := p.tok.value, p.tok.text, p.tok.letters
	p.advance()
	for p.tok.kind == tokString && p.err == nil {
		t := elemOf(v.Type)
		switch next := p.tok.text; {
		case next == prefix, next == "":
		case prefix == "":
			prefix, t = next, elemOf(p.tok.value.Type)
		default:
			p.fail(Error("Undefined string concatenation."))
		}
		letters = append(letters[:len(letters):len(letters)], p.tok.letters...)
		v = stringValue(letters, t)
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
		n := p.node(node{op: "cast", text: word, typ: t, a: p.comma()})
		p.expect(")")
		return n
	case "nullptr":
		if !p.isVariable(word) {
			p.advance()
			return p.node(node{op: "value", value: Value{Type: typeNullptr, Bytes: make([]byte, 8)}})
		}
	}
	if (!p.lenient || typeWord(p.tok.text) || isTypeof(p.tok.text)) && p.atType() {
		return p.typeOrCast()
	}
	n := p.node(node{op: "name", text: p.tok.text})
	if p.atEntry() {
		n.op = "entry"
		p.advance()
		return n
	}
	if index, end, ok := p.elementIndex(); ok {
		n.text, p.lex.pos = "std::get<"+index+">", end
	} else if full, end, ok := p.template(); ok {
		n.text = full
		p.lex.pos = end
	}
	p.advance()
	return n
}
