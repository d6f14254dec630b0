package eval

import (
	"slices"
	"strings"

	"dbg/symbols/types"
)

// atType reports whether the current token starts the name of a type. A variable, a function, or a
// member of the current method's object hides a type with the same name. A member function does
// not: it is found without its class, and a class name would denote its constructor.
func (p *parser) atType() bool {
	if p.tok.kind == tokDollar {
		return p.templateArg() != nil
	}
	if p.tok.kind != tokName {
		return false
	}
	switch w := p.tok.text; {
	case typeWord(w), isTypeof(w):
		return true
	case w == "struct" || w == "union" || w == "enum" || w == "class" || w == "const" || w == "volatile":
		return true
	}
	if full, _, ok := p.template(); ok {
		return p.findType(full) != nil
	}
	name := p.tok.text
	if v, err := p.env.Variable(name); err == nil {
		return p.isMemberFunction(v, name) && p.env.Type(name) != nil
	}
	return p.findType(name) != nil && !p.isOwnMember(name)
}

// elementIndex recognises std::get<1>, which no program has as a function that could be called. end is the
// position after it.
func (p *parser) elementIndex() (index string, end int, ok bool) {
	rest := p.lex.text[min(p.lex.pos, len(p.lex.text)):]
	if p.tok.text != "std::get" || !strings.HasPrefix(rest, "<") {
		return "", 0, false
	}
	index, _, ok = strings.Cut(rest[1:], ">")
	ok = ok && index != "" && len(index) < 5 && strings.Trim(index, "0123456789") == ""
	return index, p.lex.pos + len(index) + 2, ok
}

// templateArg returns the type of a template argument in an expression of a view: $T1.
func (p *parser) templateArg() *types.Type {
	if _, ok := p.env.(Scope); !ok || p.tok.kind != tokDollar {
		return nil
	}
	return p.env.Type("$" + p.tok.text)
}

// isMemberFunction reports whether v, found by an unqualified name, is a function of a class.
func (p *parser) isMemberFunction(v Value, name string) bool {
	class, ok := scopeOf(v.function)
	if !ok || v.function == name {
		return false
	}
	return lastName(class) == lastName(name) || p.env.Type(class) != nil
}

// isOwnMember reports whether a name is a data member of the current method's object.
func (p *parser) isOwnMember(name string) bool {
	v, err := p.env.Variable("this")
	return err == nil && hasField(elemOf(v.Type), name, 0)
}

// hasField searches a class, its bases and its anonymous members for a name.
func hasField(t *types.Type, name string, depth int) bool {
	if !isStruct(t) || depth > 32 {
		return false
	}
	for _, f := range t.Strip().Fields() {
		if f.Name == name && !f.Base || (f.Base || f.Name == "") && hasField(f.Type, name, depth+1) {
			return true
		}
	}
	return false
}

// scopeOf returns the part of a name before the last "::" outside template arguments.
func scopeOf(name string) (scope string, ok bool) {
	level, at := 0, -1
	for i := 0; i+1 < len(name); i++ {
		switch name[i] {
		case '<', '(':
			level++
		case '>', ')':
			level--
		case ':':
			if level == 0 && name[i+1] == ':' {
				at = i
				i++
			}
		}
	}
	if at < 0 {
		return "", false
	}
	return name[:at], true
}

// lastName returns the last part of a name, without template arguments.
func lastName(name string) string {
	if scope, ok := scopeOf(name); ok {
		name = name[len(scope)+2:]
	}
	name, _, _ = strings.Cut(name, "<")
	return name
}

// template reports whether the current name continues with template arguments, "vector<int>::size",
// and is known with them. end is the position after it.
func (p *parser) template() (full string, end int, ok bool) {
	text := p.lex.text
	pos := p.lex.pos
	if pos >= len(text) || text[pos] != '<' || len(text)-pos > 4096 {
		return "", 0, false
	}
	level := 0
	for i := pos; i < len(text); i++ {
		switch text[i] {
		case '<':
			level++
		case '>':
			level--
		}
		if level > 0 {
			continue
		}
		l := lexer{text: text, pos: i + 1}
		name := p.tok.text + text[pos:i+1]
		if strings.HasPrefix(text[l.pos:], "::") && isNameStart(l.peek(2)) {
			l.pos += 2
			if rest := l.qualified(); p.known(name+"::"+rest) || hasMember(p.findType(name), rest) {
				return name + "::" + rest, l.pos, true
			}
		}
		return name, i + 1, p.known(name)
	}
	return "", 0, false
}

// hasMember reports whether a class has a data member or a method with a name.
func hasMember(t *types.Type, name string) bool {
	if !isStruct(t) {
		return false
	}
	if _, ok, err := memberPath(t, name, 0); ok && err == nil {
		return true
	}
	return slices.ContainsFunc(t.Strip().Methods(), func(m types.Method) bool { return m.Name == name })
}

func (p *parser) known(name string) bool {
	if p.findType(name) != nil {
		return true
	}
	_, err := p.env.Variable(name)
	return err == nil
}

// typeName parses a type: specifiers and an abstract declarator.
func (p *parser) typeName() *types.Type {
	t := p.specifiers()
	if p.err != nil {
		return typeInt
	}
	return p.declarator(t)
}

// specifiers parses "const unsigned long", "struct foo", "ns::foo<int>".
func (p *parser) specifiers() *types.Type {
	var words []string
	t := p.templateArg()
	if t != nil {
		p.advance()
	}
	for p.tok.kind == tokName && p.err == nil {
		w := p.tok.text
		switch {
		case w == "const" || w == "volatile":
			p.advance()
			continue
		case t == nil && len(words) == 0 && isTypeof(w):
			t = p.typeOperator()
			continue
		case t == nil && typeWord(w) && len(words) < 8:
			words = append(words, w)
			p.advance()
			continue
		case t == nil && len(words) == 0 && (w == "struct" || w == "union" || w == "enum" || w == "class"):
			p.advance()
			if p.tok.kind != tokName {
				p.syntax()
				return typeInt
			}
			name := p.nameOrTemplate()
			if t = p.findType(w + " " + name); t == nil && w == "class" {
				t = p.findType(name)
			}
			if t == nil {
				p.fail(errorf("No %s type named %s.", w, name))
			}
			continue
		case t == nil && len(words) == 0:
			name := p.nameOrTemplate()
			if t = p.findType(name); t == nil {
				p.fail(&NotFoundError{name})
			}
			continue
		}
		break
	}
	switch {
	case p.err != nil:
		return typeInt
	case t != nil:
		return t
	case len(words) == 0:
		p.syntax()
		return typeInt
	}
	t, name := wordsType(words)
	if t == nil {
		p.syntax()
		return typeInt
	}
	if t.Kind == types.Void {
		return t
	}
	// The program's own type has the right language and size.
	if own := p.env.Type(name); own != nil {
		return own
	}
	return t
}

func (p *parser) nameOrTemplate() string {
	name := p.tok.text
	if full, end, ok := p.template(); ok {
		name, p.lex.pos = full, end
	}
	p.advance()
	return name
}

// declarator parses the part after the specifiers: "*", "*[3]", "(*)(int)", "&".
func (p *parser) declarator(t *types.Type) *types.Type {
	defer p.leave()
	if !p.enter() {
		return t
	}
	for p.err == nil {
		switch {
		case p.accept("*"):
			t = pointerTo(t, p.env.Arch().PtrSize)
		case p.tok.kind == tokName && !isQualifier(p.tok.text):
			class := p.classScope()
			if class == nil {
				return p.suffix(t)
			}
			t = memberPointerTo(class, t)
		case p.accept("&"):
			t = types.New(types.Reference, "", int64(p.env.Arch().PtrSize), false, t)
		case p.accept("&&"):
			t = types.New(types.RvalueReference, "", int64(p.env.Arch().PtrSize), false, t)
		case p.tok.kind == tokName:
			p.advance()
		default:
			if inner, ok := p.inner(); ok {
				t = p.suffix(t)
				// The declarator inside the parentheses applies to the type outside.
				after, tok := p.lex, p.tok
				p.lex, p.tok = inner.lex, inner.tok
				t = p.declarator(t)
				if p.err == nil {
					p.lex, p.tok = after, tok
				}
				return t
			}
			return p.suffix(t)
		}
		p.nodes++
		if p.nodes > maxNodes || p.depth+p.nodes > maxNesting*4 {
			p.fail(errorf("type is nested too deeply"))
		}
	}
	return t
}

func isQualifier(word string) bool {
	return word == "const" || word == "volatile" || word == "restrict" || word == "__restrict"
}

type place struct {
	lex lexer
	tok token
}

// inner skips a parenthesised declarator, "(*)", and returns where it starts.
func (p *parser) inner() (place, bool) {
	if !p.is("(") {
		return place{}, false
	}
	lex, tok := p.lex, p.tok
	p.advance()
	member := p.tok.kind == tokName && strings.HasPrefix(strings.TrimLeft(p.lex.text[min(p.lex.pos, len(p.lex.text)):], " "), "::*")
	if !p.is("*") && !p.is("&") && !member {
		p.lex, p.tok = lex, tok
		return place{}, false
	}
	start := place{p.lex, p.tok}
	for level := 1; p.err == nil; p.advance() {
		switch {
		case p.tok.kind == tokEnd:
			p.syntax()
		case p.is("("):
			level++
		case p.is(")"):
			level--
		}
		if level == 0 {
			p.advance()
			break
		}
	}
	return start, true
}

// suffix parses array bounds and parameter lists.
func (p *parser) suffix(t *types.Type) *types.Type {
	switch {
	case p.err != nil:
		return t
	case p.is("("):
		p.advance()
		var params []*types.Type // nil, unless there is a prototype
		for !p.is(")") && p.err == nil {
			pt := p.typeName()
			if params == nil {
				params = []*types.Type{}
			}
			if kindOf(pt) != types.Void {
				params = append(params, pt)
			}
			if !p.accept(",") {
				break
			}
		}
		p.expect(")")
		if kindOf(t) == types.Void {
			t = nil
		}
		return types.NewFunc(t, params)
	case p.is("["):
		defer p.leave()
		if !p.enter() {
			return t
		}
		p.advance()
		if p.tok.kind != tokNumber {
			p.syntax()
			return t
		}
		n, err := numberOf(p.tok.value)
		if err != nil || n.isFloat {
			p.syntax()
			return t
		}
		p.advance()
		p.expect("]")
		a, ok := arrayOf(p.suffix(t), int64(n.i))
		if !ok {
			p.fail(errorf("array type is too large"))
			return t
		}
		return a
	}
	return t
}
