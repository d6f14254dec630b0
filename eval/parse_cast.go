package eval

import (
	"strings"

	"dbg/symbols/types"
)

// typeNullptr is the type of C++'s null pointer.
var typeNullptr = types.New(types.Pointer, "", 8, false, typeVoid)

// isAlignof reports whether a word is the operator that gives a type's alignment.
func isAlignof(word string) bool {
	switch word {
	case "alignof", "_Alignof", "__alignof__", "__alignof":
		return true
	}
	return false
}

// isTypeof reports whether a word stands for the type of an expression in parentheses.
func isTypeof(word string) bool {
	switch word {
	case "decltype", "typeof", "__typeof__", "__typeof", "__decltype":
		return true
	}
	return false
}

func (p *parser) isVariable(name string) bool {
	if p.lenient {
		return false
	}
	_, err := p.env.Variable(name)
	return err == nil
}

// typeOperator parses decltype(x) and typeof(x). The current token is the word.
func (p *parser) typeOperator() *types.Type {
	defer p.leave()
	if !p.enter() {
		return typeInt
	}
	cxx := strings.Contains(p.tok.text, "decltype")
	p.advance()
	p.expect("(")
	n := p.comma()
	p.expect(")")
	if p.err != nil || p.lenient {
		return typeInt
	}
	if n.op == "type" {
		return n.typ
	}
	v, err := (&evaluator{env: p.env, dry: 1}).eval(n)
	if err != nil {
		p.fail(err)
		return typeInt
	}
	t := v.Type
	if t == nil {
		t = typeVoid
	}
	if isReference(t) && (!cxx || n.op != "name" && n.op != ".") {
		t = elemOf(t)
	}
	return t
}

// typeOrCast parses T(x), or a type: T may be the start of one, int (*)(int).
func (p *parser) typeOrCast() *node {
	t := p.specifiers()
	if p.err == nil && p.is("(") {
		lex, tok := p.lex, p.tok
		p.advance()
		if !p.is(")") {
			x := p.assignment()
			if p.err == nil && p.accept(")") && x.op != "type" {
				return p.node(node{op: "cast", typ: t, a: x})
			}
		}
		p.lex, p.tok, p.err = lex, tok, nil
	}
	if p.err == nil {
		t = p.declarator(t)
	}
	return p.node(node{op: "type", typ: t})
}

// atEntry reports whether the name is followed by "@entry", and reads that.
func (p *parser) atEntry() bool {
	rest := p.lex.text[min(p.lex.pos, len(p.lex.text)):]
	after, ok := strings.CutPrefix(rest, "@entry")
	if !ok || after != "" && isNamePart(after[0]) {
		return false
	}
	p.lex.pos += len("@entry")
	return true
}
