package session

// HasSideEffects reports whether an expression assigns: =, op=, ++ or -- outside quotes. It returns
// true in ambiguous cases: "a - --b".
func HasSideEffects(text string) bool {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case (c == '+' || c == '-') && next == c:
			return true
		case (c == '=' || c == '!') && next == '=':
			i++
		case (c == '<' || c == '>') && next == '=':
			i++
		case (c == '<' || c == '>') && next == c:
			i++ // a shift; the "=" of "<<=" comes next
		case c == '=':
			return true
		}
	}
	return false
}
