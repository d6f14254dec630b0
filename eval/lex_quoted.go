package eval

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"dbg/symbols/lang"
	"dbg/symbols/types"
)

// letter is a character of a literal. raw means that it was written as a number, which is one element.
type letter struct {
	c   rune
	raw bool
}

// literalPrefixes start a literal directly before its quote.
var literalPrefixes = []string{"u8R", "LR", "uR", "UR", "br", "u8", "L", "u", "U", "R", "r", "b"}

// literalPrefix returns the prefix of a literal that starts here, or "".
func (l *lexer) literalPrefix() string {
	for _, p := range literalPrefixes {
		if !strings.HasPrefix(l.text[l.pos:], p) {
			continue
		}
		q := l.peek(len(p))
		switch {
		case q == '"', q == '\'' && p[len(p)-1] != 'R' && p[len(p)-1] != 'r':
			return p
		case q == '#' && (p == "r" || p == "br"): // r#"…"#; r#name is a name
			if rest := strings.TrimLeft(l.text[l.pos+len(p):], "#"); strings.HasPrefix(rest, `"`) {
				return p
			}
		}
	}
	return ""
}

// charType returns the type of a literal's elements for its prefix.
func (l *lexer) charType(prefix string, quote byte) *types.Type {
	switch strings.TrimSuffix(prefix, "R") {
	case "L":
		return typeWchar
	case "u":
		return typeChar16
	case "U":
		return typeChar32
	case "u8":
		return typeChar8
	case "b", "br":
		return rustPrimitives["u8"]
	}
	if quote == '\'' {
		switch l.lang {
		case lang.Rust:
			return rustPrimitives["char"]
		case lang.Go:
			return typeRune
		}
	}
	return typeChar
}

var (
	typeChar8 = types.New(types.Char, "char8_t", 1, false, nil)
	typeRune  = types.New(types.Int, "int32", 4, true, nil)
)

// quoted reads a character, a string, or a quoted name: 'file.c'::x.
func (l *lexer) quoted(prefix string) (token, error) {
	if strings.HasSuffix(prefix, "R") || prefix == "r" || prefix == "br" {
		return l.raw(prefix)
	}
	quote := l.text[l.pos]
	l.pos++
	body := l.pos
	t := l.charType(prefix, quote)
	var letters []letter
	plain := true
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
		c, skip, err := l.char()
		if err != nil {
			return token{}, err
		}
		if skip {
			continue
		}
		if c.raw && t.Size < 4 && uint32(c.c)>>(8*t.Size) != 0 {
			return token{}, errorf("Escape sequence out of range for %s.", t.Name)
		}
		plain = plain && !c.raw
		letters = append(letters, c)
	}
	text := l.text[body:l.pos]
	l.pos++
	if quote == '"' {
		return l.stringToken(prefix, t, letters)
	}
	if data := encodeLetters(letters, t); int64(len(data)) == t.Size {
		return token{kind: tokNumber, text: text, value: Value{Type: t, Bytes: data}}, l.noSuffix()
	}
	if prefix != "" || !plain || len(letters) == 0 {
		return token{}, Error("Invalid character constant.")
	}
	for strings.HasPrefix(l.text[l.pos:], "::") && isNameStart(l.peek(2)) {
		l.pos += 2
		text += "::" + l.qualified()
	}
	return token{kind: tokName, text: text}, nil
}

// stringToken makes a string of its characters.
func (l *lexer) stringToken(prefix string, t *types.Type, letters []letter) (token, error) {
	v := stringValue(letters, t)
	return token{kind: tokString, text: strings.TrimSuffix(prefix, "R"), value: v, letters: letters}, l.noSuffix()
}

func stringValue(letters []letter, t *types.Type) Value {
	data := encodeLetters(letters, t)
	if t.Lang != lang.Rust { // a byte string of Rust has no terminating zero
		data = append(data, make([]byte, t.Size)...)
	}
	a, ok := arrayOf(t, int64(len(data))/t.Size)
	if !ok {
		a = types.NewArray(t, 0)
		a.Size = 0
	}
	return Value{Type: a, Bytes: data}
}

// noSuffix refuses the name of a user-defined literal directly after a quote.
func (l *lexer) noSuffix() error {
	if isNameStart(l.peek(0)) && l.lang != lang.Rust && l.lang != lang.Go {
		end := *l
		name := end.qualified()
		word := alternativeOperators[name] != "" || name == "as"
		if l.anyLanguage || word || end.literalPrefix() != "" || l.literalPrefix() != "" {
			return nil
		}
		return errorf("The user-defined literal with the suffix %s is not supported.", name)
	}
	return nil
}

// raw reads R"delimiter(text)delimiter" of C++ and r#"text"# of Rust.
func (l *lexer) raw(prefix string) (token, error) {
	rest := l.text[l.pos:]
	open, end := `"`, `"`
	if strings.HasSuffix(prefix, "R") {
		delimiter, _, ok := strings.Cut(rest[1:], "(")
		if !ok || len(delimiter) > 16 || strings.ContainsAny(delimiter, " )\\\t\v\f\n\"") {
			return token{}, Error("Invalid raw string.")
		}
		open, end = `"`+delimiter+"(", ")"+delimiter+`"`
	} else {
		hashes := rest[:len(rest)-len(strings.TrimLeft(rest, "#"))]
		open, end = hashes+`"`, `"`+hashes
	}
	body, _, ok := strings.Cut(rest[min(len(open), len(rest)):], end)
	if !ok {
		return token{}, Error("Unterminated string in expression.")
	}
	l.pos += len(open) + len(body) + len(end)
	return l.stringToken(prefix, l.charType(prefix, '"'), lettersOf(body))
}

// backquoted reads a raw string of Go.
func (l *lexer) backquoted() (token, error) {
	body, _, ok := strings.Cut(l.text[l.pos+1:], "`")
	if !ok {
		return token{}, Error("Unterminated string in expression.")
	}
	l.pos += len(body) + 2
	return l.stringToken("", typeChar, lettersOf(strings.ReplaceAll(body, "\r", "")))
}

// lettersOf returns the characters of a text as they are. Bytes that are not UTF-8 stay.
func lettersOf(text string) []letter {
	var out []letter
	for len(text) > 0 {
		c, n := utf8.DecodeRuneInString(text)
		raw := c == utf8.RuneError && n == 1
		if raw {
			c = rune(text[0])
		}
		out, text = append(out, letter{c, raw}), text[n:]
	}
	return out
}

func encodeLetters(letters []letter, t *types.Type) []byte {
	var b []byte
	for _, c := range letters {
		b = appendChar(b, c.c, c.raw, t.Size)
	}
	return b
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

// char reads one character of a literal. skip means that there is none: a line that continues.
func (l *lexer) char() (c letter, skip bool, err error) {
	if l.text[l.pos] != '\\' {
		r, n := utf8.DecodeRuneInString(l.text[l.pos:])
		if c = (letter{r, false}); r == utf8.RuneError && n == 1 {
			c = letter{rune(l.text[l.pos]), true}
		}
		l.pos += n
		return c, false, nil
	}
	l.pos++
	if l.pos >= len(l.text) {
		return c, false, Error("Unmatched single quote.")
	}
	e := l.peek(0)
	if e >= '0' && e <= '7' {
		n := rune(0)
		for i := 0; i < 3 && l.peek(0) >= '0' && l.peek(0) <= '7'; i++ {
			n = n*8 + rune(l.peek(0)-'0')
			l.pos++
		}
		return letter{n, true}, false, nil
	}
	l.pos++
	switch e {
	case 'x', 'u', 'U':
		return l.hexEscape(e)
	case 'e':
		return letter{27, false}, false, nil
	case '\n':
		if l.lang == lang.Rust {
			l.take(func(c byte) bool { return strings.IndexByte(" \t\r\n", c) >= 0 })
		}
		return c, true, nil
	}
	if i := strings.IndexByte("abfnrtv", e); i >= 0 {
		return letter{rune("\a\b\f\n\r\t\v"[i]), false}, false, nil
	}
	if e >= utf8.RuneSelf {
		l.pos--
		return l.char()
	}
	return letter{rune(e), false}, false, nil
}

// hexEscape reads the digits after \x, \u and \U. In Rust and Go, \x has two digits; in Rust, \u has
// braces.
func (l *lexer) hexEscape(e byte) (c letter, skip bool, err error) {
	most := map[byte]int{'x': 16, 'u': 4, 'U': 8}[e]
	if e == 'x' && (l.lang == lang.Rust || l.lang == lang.Go) {
		most = 2
	}
	braces := e == 'u' && l.peek(0) == '{'
	if braces {
		l.pos++
		most = 6
	}
	start := l.pos
	for l.pos-start < most && isHex(l.peek(0)) {
		l.pos++
	}
	digits := l.text[start:l.pos]
	if digits == "" || e != 'x' && !braces && len(digits) != most {
		return c, false, errorf("\\%c escape without a following hex digit", e)
	}
	if braces {
		if l.peek(0) != '}' {
			return c, false, Error("\\u{ escape without a closing brace")
		}
		l.pos++
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || e != 'x' && (n > utf8.MaxRune || n >= 0xd800 && n < 0xe000) {
		return c, false, errorf("Invalid escape \\%c%s.", e, digits)
	}
	return letter{rune(uint32(n)), e == 'x'}, false, nil
}

func isHex(c byte) bool {
	return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f'
}
