package natvis

import "strings"

// brackets finds the brackets of an expression: close[i] is the index of the bracket that closes
// the one at i, or of the quote that ends the literal at i. A "<" without a ">" is less-than: it is
// not in close. It takes time linear in the text.
func brackets(s string) (close map[int]int) {
	close = map[int]int{}
	var open []int
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\'':
			if end := endQuote(s, i); end >= 0 {
				close[i] = end
				i = end
			}
		case '(', '[', '{':
			open = append(open, i)
		case '<':
			if i+1 < len(s) && (s[i+1] == '<' || s[i+1] == '=') {
				i++ // << <=
				continue
			}
			open = append(open, i)
		case '>':
			if i > 0 && s[i-1] == '-' {
				continue // ->
			}
			if n := len(open) - 1; n >= 0 && s[open[n]] == '<' {
				close[open[n]] = i
				open = open[:n]
			}
		case ')', ']', '}':
			n := len(open) - 1
			for n >= 0 && s[open[n]] == '<' {
				n--
			}
			if n >= 0 && s[open[n]] == opening(c) {
				close[open[n]] = i
				open = open[:n]
			}
		}
	}
	return close
}

func opening(c byte) byte {
	switch c {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}

// maxCharLiteral is the length of the longest character literal, '\U0010ffff', less one. A quote
// that ends later is a digit separator (1'000) or a lifetime of Rust (&'a str).
const maxCharLiteral = 11

// endQuote returns the index of the quote that ends the literal at i, or -1.
func endQuote(s string, i int) int {
	end := len(s)
	if s[i] == '\'' {
		if inNumber(s, i) {
			return -1
		}
		end = min(end, i+1+maxCharLiteral)
	}
	for n := i + 1; n < end; n++ {
		switch s[n] {
		case '\\':
			n++
		case s[i]:
			return n
		case '\n':
			return -1
		}
	}
	return -1
}

// inNumber reports whether the quote at s[i] is between the digits of a number.
func inNumber(s string, i int) bool {
	from := i
	for from > 0 && i-from < 64 && isWord(s[from-1]) {
		from--
	}
	return from < i && '0' <= s[from] && s[from] <= '9'
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// expr returns an expression whose specifier is split off. ok is false if there is no expression.
func (l *log) expr(text source) (e Expr, ok bool) {
	text, spec := l.splitSpec(text.trim())
	e, ok = l.plainExpr(text)
	e.Spec = spec
	return e, ok
}

// plainExpr returns an expression that has no specifier.
func (l *log) plainExpr(text source) (Expr, bool) {
	text = text.trim()
	at := text.offset(0)
	if len(text.text) > maxText {
		l.error(at, "the expression has more than %d bytes", maxText)
		return Expr{}, false
	}
	return Expr{Text: text.text, Pos: l.pos(at)}, text.text != ""
}

// splitSpec separates the format specifiers from an expression. They follow a comma that is not in
// brackets. Several may follow each other after commas, after blanks or directly: ",[n]su",
// ",s na", ",view(x)na".
func (l *log) splitSpec(text source) (source, Spec) {
	s := text.text
	if strings.IndexByte(s, ',') < 0 || len(s) > maxText {
		return text, Spec{}
	}
	close := brackets(s)
	var commas []int
	for i := 0; i < len(s); i++ {
		if end, ok := close[i]; ok {
			i = end
		} else if s[i] == ',' {
			commas = append(commas, i)
		}
	}
	// From the last comma to the first: what is not a specifier belongs to the expression.
	var spec Spec
	end := len(s)
	for n := len(commas) - 1; n >= 0; n-- {
		if !l.specs(&spec, text.slice(commas[n]+1, end), close, commas[n]+1) {
			break
		}
		end = commas[n]
	}
	if end == len(s) && len(commas) > 0 {
		last := text.slice(commas[len(commas)-1]+1, end).trim()
		if last.text != "" && strings.IndexFunc(last.text, func(r rune) bool { return r > 0x7f || !isWord(byte(r)) }) < 0 {
			l.warn(last.offset(0), "unknown format specifier %q", last.text)
			end = commas[len(commas)-1]
		}
	}
	return text.slice(0, end).trim(), spec
}

// specs reads the specifiers of one text between commas. It reports false, and changes nothing, if
// something else is there. close has the brackets of the whole expression, where text is at base.
func (l *log) specs(spec *Spec, text source, close map[int]int, base int) bool {
	found := *spec
	s := text.text
	any := false
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
			continue
		case c == '[':
			end, ok := close[base+i]
			if !ok {
				return false
			}
			size, ok := l.plainExpr(text.slice(i+1, end-base))
			if !ok {
				return false
			}
			found.Size = &size
			i = end - base + 1
		case c == '!':
			found.Flags |= Raw
			i++
		case isWord(c):
			n := i
			for n < len(s) && isWord(s[n]) {
				n++
			}
			word := s[i:n]
			end, bracket := close[base+n]
			if !bracket || s[n] != '(' || word != "view" && word != "expand" {
				if !found.word(word) {
					return false
				}
				i = n
				break
			}
			inside := text.slice(n+1, end-base).trim()
			if inside.text == "" {
				return false
			}
			if word == "view" {
				found.View = inside.text
			} else {
				index, _ := l.plainExpr(inside)
				found.Index = &index
			}
			i = end - base + 1
		default:
			return false
		}
		any = true
	}
	if any {
		*spec = found
	}
	return any
}

// word sets what one word stands for: a format, flags, or a format with flags at either end ("nasu").
func (s *Spec) word(word string) bool {
	if f, ok := formats[word]; ok {
		s.Format = f
		return true
	}
	for again := true; again && word != ""; {
		again = false
		for _, f := range flags {
			rest, ok := strings.CutPrefix(word, f.name)
			if !ok {
				rest, ok = strings.CutSuffix(word, f.name)
			}
			if !ok {
				continue
			}
			s.Flags |= f.flag
			if format, ok := formats[rest]; ok {
				s.Format = format
				return true
			}
			word, again = rest, true
			break
		}
	}
	return word == ""
}
