package natvis

import "strings"

// A token is a piece of a type's name.
type token struct {
	text     string // as it is compared: see lexType
	from, to int    // the place in the name
	word     bool   // an identifier, a number, a quoted text or an unnamed entity
}

// anonymous is how an unnamed namespace is compared. Compilers write it in three ways.
const anonymous = "(anonymous namespace)"

// The ways in which compilers write an unnamed namespace: gcc and clang, gcc's messages, and two
// versions of Microsoft's.
var anonymousNames = []string{anonymous, "{anonymous}", "`anonymous namespace'", "`anonymous-namespace'"}

// Words of a type's name that do not distinguish types.
var dropped = map[string]bool{"class": true, "struct": true, "union": true, "enum": true, "typename": true, "__ptr64": true}

// The operators that have "<", ">", "(", "[" or "," in their names, the longest first.
var operators = []string{"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">", ","}

// lexType splits a name. It drops spaces, elaborations ("struct S" is "S") and the type of a number
// ("5ul" is "5"): compilers differ in them.
func lexType(s string) []token {
	tokens := make([]token, 0, 8+len(s)/4)
	for i := 0; i < len(s); {
		if strings.IndexByte(" \t\r\n", s[i]) >= 0 {
			i++
			continue
		}
		t := token{from: i}
		t.text, t.to, t.word = nextToken(s, i, tokens)
		i = t.to
		if t.word && dropped[t.text] {
			// "enum" may be the name of a Rust module: then "::" follows.
			if rest := strings.TrimLeft(s[i:], " "); rest != "" && isWord(rest[0]) {
				continue
			}
		}
		tokens = append(tokens, t)
	}
	return tokens
}

// nextToken returns the token at s[i] and the index after it.
func nextToken(s string, i int, before []token) (text string, to int, word bool) {
	rest := s[i:]
	if strings.IndexByte("({`", s[i]) >= 0 {
		for _, name := range anonymousNames {
			if strings.HasPrefix(rest, name) {
				return anonymous, i + len(name), true
			}
		}
	}
	last := ""
	if n := len(before); n > 0 {
		last = before[n-1].text
	}
	switch c := s[i]; {
	case isWord(c):
		to = i
		for to < len(s) && (isWord(s[to]) || s[to] == '.' && to+1 < len(s) && isWord(s[to+1])) {
			to++
		}
		text = s[i:to]
		if text == "operator" {
			return operatorName(s, to)
		}
		if c <= '9' && c >= '0' {
			text = number(text)
		}
		return text, to, true
	case c == '-' && i+1 < len(s) && '0' <= s[i+1] && s[i+1] <= '9' && (last == "<" || last == "," || last == "("):
		text, to, _ = nextToken(s, i+1, nil)
		return "-" + text, to, true
	case c == '~' && i+1 < len(s) && isWord(s[i+1]):
		text, to, _ = nextToken(s, i+1, nil)
		return "~" + text, to, true
	case c == '"' || c == '\'':
		if end := endQuote(s, i); end >= 0 {
			return s[i : end+1], end + 1, true
		}
	case c == '`':
		if n := strings.IndexByte(rest, '\''); n >= 0 {
			return rest[:n+1], i + n + 1, true
		}
	case c == '{':
		// An unnamed entity: {lambda(int)#1} of gcc, {closure_env#0} of Rust.
		if end := closing(s, i); end >= 0 {
			return squeeze(s[i : end+1]), end + 1, true
		}
	case c == '<' && (last == "" || last == "::") && startsAny(rest, "<lambda", "<unnamed", "<anonymous"):
		if end := closing(s, i); end >= 0 {
			return squeeze(s[i : end+1]), end + 1, true
		}
	case c == '(' && startsAny(rest, "(lambda at ", "(unnamed ", "(anonymous ", "(local "):
		// clang names the place in the source, which may have any bytes.
		if n := strings.IndexByte(rest, ')'); n >= 0 {
			return rest[:n+1], i + n + 1, true
		}
	}
	for _, punctuation := range []string{"::", "...", "&&", "->"} {
		if strings.HasPrefix(rest, punctuation) {
			return punctuation, i + len(punctuation), false
		}
	}
	return rest[:1], i + 1, false
}

// operatorName returns the name of an operator whose symbol starts at s[i] or later.
func operatorName(s string, i int) (string, int, bool) {
	at := i
	for at < len(s) && s[at] == ' ' {
		at++
	}
	for _, symbol := range operators {
		if strings.HasPrefix(s[at:], symbol) {
			return "operator" + symbol, at + len(symbol), true
		}
	}
	return "operator", i, true
}

// number drops the suffix of an integer's type.
func number(text string) string {
	digits := strings.TrimRight(text, "uUlL")
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return text
		}
	}
	return digits
}

// maxUnnamed is the length of the longest name of an unnamed entity: a search for its end that
// fails costs no more.
const maxUnnamed = 4096

// closing returns the index of the bracket that closes the one at s[i], or -1.
func closing(s string, i int) int {
	s = s[:min(len(s), i+maxUnnamed)]
	open, close := s[i], byte('}')
	if open == '<' {
		close = '>'
	}
	depth := 0
	for n := i; n < len(s); n++ {
		switch {
		case s[n] == open:
			depth++
		case s[n] == close && s[n-1] != '-':
			if depth--; depth == 0 {
				return n
			}
		}
	}
	return -1
}

// squeeze drops the spaces that do not separate words.
func squeeze(s string) string {
	if !strings.Contains(s, " ") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] == ' ' && (b.Len() == 0 || i+1 == len(s) || !isWord(s[i-1]) || !isWord(s[i+1])) {
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func startsAny(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// join returns the tokens as one text, with spaces only between words.
func join(tokens []token) string {
	if len(tokens) == 1 {
		return tokens[0].text
	}
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && t.word && tokens[i-1].word {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}
