package eval

import (
	"strings"
	"unicode/utf8"

	"dbg/symbols/lang"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber // see value
	tokString // see value
	tokDollar // text is the name without "$"
	tokPunct
)

// token is a token of an expression.
type token struct {
	kind  tokenKind
	text  string
	value Value
	pos   int

	letters []letter // of a string
}

// lexer splits an expression into tokens.
type lexer struct {
	text  string
	pos   int
	tuple bool // the next token is the number of a member: Rust's t.0

	lang lang.Lang // whose literals are read; those of C if it is not known
	// anyLanguage accepts the literals of every language.
	anyLanguage bool
}

// puncts lists the operators, longest first.
var puncts = []string{
	"<<=", ">>=", "...", "..=", "->*", "&^=",
	".*", "&^", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "..",
	"+", "-", "*", "/", "%", "<", ">", "=", "!", "~", "&", "|", "^", "?", ":", ",", ".", "(", ")", "[", "]", "{", "}", "@",
}

func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNamePart(c byte) bool { return isNameStart(c) || isDigit(c) || c == '$' }

func (l *lexer) peek(off int) byte {
	if l.pos+off < len(l.text) {
		return l.text[l.pos+off]
	}
	return 0
}

// next returns the next token.
func (l *lexer) next() (token, error) {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n\v\f", l.text[l.pos]) >= 0 {
		l.pos++
	}
	start := l.pos
	if start >= len(l.text) {
		return token{kind: tokEnd, pos: start}, nil
	}
	t, err := l.word()
	t.pos = start
	return t, err
}

func (l *lexer) word() (token, error) {
	c := l.peek(0)
	switch {
	case c == '$':
		l.pos++
		return token{kind: tokDollar, text: l.take(func(c byte) bool { return isNamePart(c) })}, nil
	case l.tuple && isDigit(c):
		l.tuple = false
		return token{kind: tokName, text: l.take(isDigit)}, nil
	case c == '.' && isDigit(l.peek(1)) && l.pos > 0 && (isNamePart(l.text[l.pos-1]) || strings.IndexByte(")]", l.text[l.pos-1]) >= 0):
		l.tuple = true
		l.pos++
		return token{kind: tokPunct, text: "."}, nil
	case isDigit(c) || c == '.' && isDigit(l.peek(1)):
		return l.number()
	case c == '\'' || c == '"':
		return l.quoted("")
	case c == '`':
		return l.backquoted()
	case isNameStart(c):
		if p := l.literalPrefix(); p != "" {
			l.pos += len(p)
			return l.quoted(p)
		}
		return token{kind: tokName, text: l.qualified()}, nil
	}
	if strings.HasPrefix(l.text[l.pos:], "::") && isNameStart(l.peek(2)) {
		l.pos += 2 // the global scope, which Env.Variable expects in the name
		return token{kind: tokName, text: "::" + l.qualified()}, nil
	}
	for _, p := range puncts {
		if !l.has(p) {
			continue
		}
		if strings.HasPrefix(l.text[l.pos:], p) {
			l.pos += len(p)
			return token{kind: tokPunct, text: p}, nil
		}
	}
	return token{}, errorf("Invalid character %q in expression.", rune(c))
}

// has reports whether the language has an operator: &^ is one of Go, .* and ->* are of C++.
func (l *lexer) has(op string) bool {
	switch op {
	case "&^", "&^=":
		return l.lang == lang.Go
	case ".*", "->*":
		return l.lang != lang.Go && l.lang != lang.Rust
	}
	return true
}

// take reads bytes as long as part returns true.
func (l *lexer) take(part func(byte) bool) string {
	start := l.pos
	for l.pos < len(l.text) && part(l.text[l.pos]) {
		l.pos++
	}
	return l.text[start:l.pos]
}

// qualified reads a name with its scopes: a, a::b.
func (l *lexer) qualified() string {
	name := l.take(isNamePart)
	for strings.HasPrefix(l.text[l.pos:], "::") {
		switch {
		case isNameStart(l.peek(2)):
			l.pos += 2
			name += "::" + l.take(isNamePart)
		case l.peek(2) == '~' && isNameStart(l.peek(3)):
			l.pos += 3
			name += "::~" + l.take(isNamePart)
		default:
			return name
		}
	}
	return name
}
