package natvis

import "strings"

// display reads a display string: text with expressions in braces (Natvis, "DisplayString
// element"). "{{" and "}}" are braces of the text. ok is false after an error.
func (l *log) display(text source) (parts []Part, ok bool) {
	s := text.text
	if len(s) > maxText {
		l.error(text.offset(0), "the display string has more than %d bytes", maxText)
		return nil, false
	}
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, Part{Text: literal.String()})
			literal.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		double := i+1 < len(s) && s[i+1] == s[i]
		switch {
		case s[i] == '}' && !double:
			l.warn(text.offset(i), "} must be written }} in a display string")
			literal.WriteByte('}')
		case (s[i] == '{' || s[i] == '}') && double:
			literal.WriteByte(s[i])
			i++
		case s[i] == '{':
			end := endBrace(s, i)
			if end < 0 {
				l.error(text.offset(i), "{ has no } in the display string")
				return nil, false
			}
			e, ok := l.expr(text.slice(i+1, end))
			if !ok {
				l.error(text.offset(i), "there is no expression in the braces")
				return nil, false
			}
			flush()
			parts = append(parts, Part{Expr: &e})
			i = end
		default:
			literal.WriteByte(s[i])
		}
	}
	flush()
	return parts, true
}

// endBrace returns the index of the brace that ends the expression whose brace is at i, or -1.
// Braces in quotes do not count, unless a quote has no end.
func endBrace(s string, i int) int {
	depth := 0
	for n := i; n < len(s); n++ {
		switch s[n] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return n
			}
		case '"', '\'':
			if end := endQuote(s, n); end >= 0 {
				n = end
			}
		}
	}
	return -1
}
