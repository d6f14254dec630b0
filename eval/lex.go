package eval

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"dbg/symbols/types"
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
}

// lexer splits an expression into tokens.
type lexer struct {
	text  string
	pos   int
	tuple bool // the next token is the number of a member: Rust's t.0
}

// puncts lists the operators, longest first.
var puncts = []string{
	"<<=", ">>=", "...", "..=",
	"->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "..",
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
		if strings.HasPrefix(l.text[l.pos:], p) {
			l.pos += len(p)
			return token{kind: tokPunct, text: p}, nil
		}
	}
	return token{}, errorf("Invalid character %q in expression.", rune(c))
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

// literalPrefix returns L, u, U or u8 if it is directly before a quote.
func (l *lexer) literalPrefix() string {
	for _, p := range []string{"u8", "L", "u", "U"} {
		if strings.HasPrefix(l.text[l.pos:], p) {
			if q := l.peek(len(p)); q == '\'' || q == '"' {
				return p
			}
		}
	}
	return ""
}

// number reads a number with its suffix.
func (l *lexer) number() (token, error) {
	start := l.pos
	hex := l.peek(0) == '0' && (l.peek(1) == 'x' || l.peek(1) == 'X')
	isFloat := false
	for l.pos < len(l.text) {
		c := l.text[l.pos]
		lower := c | 0x20
		switch {
		case c == '.' && l.peek(1) == '.': // a range of Rust: 1..3
			return l.finishNumber(start, isFloat)
		case c == '.':
			isFloat = true
		case (c == '+' || c == '-') && isFloat && l.pos > start:
			if p := l.text[l.pos-1] | 0x20; p != 'e' && p != 'p' || hex && p == 'e' {
				return l.finishNumber(start, isFloat)
			}
		case lower == 'e' && !hex || lower == 'p' && hex:
			isFloat = true
		case isNamePart(c) && c != '$':
		default:
			return l.finishNumber(start, isFloat)
		}
		l.pos++
	}
	return l.finishNumber(start, isFloat)
}

func (l *lexer) finishNumber(start int, isFloat bool) (token, error) {
	text := l.text[start:l.pos]
	if len(text) > 400 {
		return token{}, Error("Numeric constant too large.")
	}
	v, err := parseNumber(text, isFloat)
	return token{kind: tokNumber, text: text, value: v}, err
}

// parseNumber parses a constant and gives it its type in C, with the sizes of LP64.
func parseNumber(text string, isFloat bool) (Value, error) {
	invalid := errorf("Invalid number %q.", text)
	if isFloat {
		t, digits := typeDouble, text
		if !strings.HasPrefix(strings.ToLower(text), "0x") || strings.ContainsAny(text, "pP") {
			switch text[len(text)-1] | 0x20 {
			case 'f':
				t, digits = typeFloat, text[:len(text)-1]
			case 'l':
				t, digits = typeLongDouble, text[:len(text)-1]
			}
		}
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil && !math.IsInf(f, 0) || strings.Contains(text, "_") {
			return Value{}, invalid
		}
		return newValue(t, number{f: f, isFloat: true})
	}
	digits := strings.ToLower(text)
	unsigned, long := false, false
	for n := len(digits) - 1; n > 0 && (digits[n] == 'u' || digits[n] == 'l'); n-- {
		unsigned = unsigned || digits[n] == 'u'
		long = long || digits[n] == 'l'
		digits = digits[:n]
	}
	base := 10
	if len(digits) > 1 && digits[0] == '0' {
		switch digits[1] {
		case 'x':
			base, digits = 16, digits[2:]
		case 'b':
			base, digits = 2, digits[2:]
		case 'o':
			base, digits = 8, digits[2:]
		default:
			base, digits = 8, digits[1:]
		}
	}
	u, err := strconv.ParseUint(digits, base, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return Value{}, Error("Numeric constant too large.")
	case err != nil:
		return Value{}, invalid
	}
	t := typeUlong
	switch {
	case !long && !unsigned && u <= math.MaxInt32:
		t = typeInt
	case !long && u <= math.MaxUint32 && (unsigned || base != 10):
		t = typeUint
	case !unsigned && u <= math.MaxInt64:
		t = typeLong
	}
	return intValue(t, u), nil
}

// charType returns the type of a literal's elements for its prefix.
func charType(prefix string) *types.Type {
	switch prefix {
	case "L":
		return typeWchar
	case "u":
		return typeChar16
	case "U":
		return typeChar32
	}
	return typeChar
}

// quoted reads a character, a string, or a quoted name: 'file.c'::x.
func (l *lexer) quoted(prefix string) (token, error) {
	quote := l.text[l.pos]
	l.pos++
	body := l.pos
	t := charType(prefix)
	var data []byte
	count, plain := 0, true
	for {
		if l.pos >= len(l.text) {
			if quote == '\'' {
				return token{}, Error("Unmatched single quote.")
			}
			return token{}, Error("Unterminated string in expression.")
		}
		if l.text[l.pos] == quote {
			break
		}
		c, raw, err := l.char()
		if err != nil {
			return token{}, err
		}
		plain = plain && !raw
		count++
		data = appendChar(data, c, raw, t.Size)
	}
	text := l.text[body:l.pos]
	l.pos++
	if quote == '"' {
		data = append(data, make([]byte, t.Size)...)
		a, _ := arrayOf(t, int64(len(data))/t.Size)
		return token{kind: tokString, text: prefix, value: Value{Type: a, Bytes: data}}, nil
	}
	if int64(len(data)) == t.Size {
		return token{kind: tokNumber, text: text, value: Value{Type: t, Bytes: data}}, nil
	}
	if prefix != "" || !plain || count == 0 {
		return token{}, Error("Invalid character constant.")
	}
	for strings.HasPrefix(l.text[l.pos:], "::") && isNameStart(l.peek(2)) {
		l.pos += 2
		text += "::" + l.qualified()
	}
	return token{kind: tokName, text: text}, nil
}

// appendChar appends a character: as UTF-8, or as one element if it is wide or was written as a
// number (raw).
func appendChar(b []byte, c rune, raw bool, size int64) []byte {
	switch {
	case size == 1 && raw:
		return append(b, byte(c))
	case size == 1:
		return utf8.AppendRune(b, c)
	case size == 2 && c > 0xffff && !raw:
		c -= 0x10000
		hi, lo := 0xd800+c>>10, 0xdc00+c&0x3ff
		return append(b, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
	case size == 2:
		return append(b, byte(c), byte(c>>8))
	}
	return append(b, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
}

// char reads one character of a literal. raw means that it was a numeric escape.
func (l *lexer) char() (c rune, raw bool, err error) {
	if l.text[l.pos] != '\\' {
		c, n := utf8.DecodeRuneInString(l.text[l.pos:])
		if c == utf8.RuneError && n == 1 {
			c, raw = rune(l.text[l.pos]), true
		}
		l.pos += n
		return c, raw, nil
	}
	l.pos++
	e := l.peek(0)
	if l.pos >= len(l.text) {
		return 0, false, Error("Unmatched single quote.")
	}
	if e >= '0' && e <= '7' {
		n := rune(0)
		for i := 0; i < 3 && l.peek(0) >= '0' && l.peek(0) <= '7'; i++ {
			n = n*8 + rune(l.peek(0)-'0')
			l.pos++
		}
		return n, true, nil
	}
	l.pos++
	switch e {
	case 'x', 'u', 'U':
		max := map[byte]int{'x': 8, 'u': 4, 'U': 8}[e]
		start := l.pos
		for l.pos-start < max && isHex(l.peek(0)) {
			l.pos++
		}
		n, err := strconv.ParseUint(l.text[start:l.pos], 16, 31)
		if err != nil {
			return 0, false, errorf("\\%c escape without a following hex digit", e)
		}
		return rune(n), e == 'x', nil
	case 'e':
		return 27, false, nil
	}
	if i := strings.IndexByte("abfnrtv", e); i >= 0 {
		return rune("\a\b\f\n\r\t\v"[i]), false, nil
	}
	if e >= utf8.RuneSelf {
		l.pos--
		return l.char()
	}
	return rune(e), false, nil
}

func isHex(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
}
