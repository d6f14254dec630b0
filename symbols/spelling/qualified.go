package spelling

import "strings"

// Components splits a qualified name at the "::" that are not within brackets. It returns at
// least one component.
func Components(name string) []string {
	var parts []string
	depth, start := 0, 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case strings.HasPrefix(name[i:], "operator") && (i == 0 || name[i-1] == ':') && depth == 0:
			// operator<, operator->, operator(): the rest is the name.
			return append(parts, name[start:])
		case c == '<' || c == '(' || c == '[' || c == '{':
			depth++
		case c == '>' || c == ')' || c == ']' || c == '}':
			if c == '>' && i > 0 && name[i-1] == '-' {
				break
			}
			depth--
		case c == ':' && depth == 0 && strings.HasPrefix(name[i:], "::"):
			parts = append(parts, name[start:i])
			i++
			start = i + 1
		}
	}
	return append(parts, name[start:])
}

// Last returns the last component of a qualified name.
func Last(name string) string {
	parts := Components(name)
	return parts[len(parts)-1]
}

// SplitParams splits "f(int) const" into "f" and "(int) const". The parentheses of "operator()"
// and "(anonymous namespace)" belong to the name, and so do the parameters of a function that
// contains a local class: "f(int)::Local::g()".
func SplitParams(name string) (base, params string) {
	depth := 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '<':
			if !strings.HasSuffix(name[:i], "operator") && !strings.HasSuffix(name[:i], "operator<") {
				depth++
			}
		case '>':
			if depth > 0 && name[i-1] != '-' {
				depth--
			}
		case '(':
			switch {
			case depth > 0:
			case strings.HasPrefix(name[i:], "(anonymous namespace)"):
				i += len("(anonymous namespace)") - 1
			case strings.HasSuffix(name[:i], "operator") && strings.HasPrefix(name[i:], "()"):
				i++
			default:
				end := closing(name, i)
				if rest := strings.TrimPrefix(name[end:], " const"); !strings.HasPrefix(rest, "::") {
					return strings.TrimSpace(name[:i]), name[i:]
				}
				i = end - 1
			}
		}
	}
	return name, ""
}

// closing returns the index after the parenthesis that closes the one at i.
func closing(name string, i int) int {
	depth := 0
	for ; i < len(name); i++ {
		switch name[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(name)
}

// Squeeze removes spaces: people write them in different places.
func Squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

// WithoutTemplate returns a function's name without its template arguments.
func WithoutTemplate(name string) string { return name[:PlainLength(name)] }

// PlainLength returns how many bytes of a function's name come before its template arguments.
func PlainLength[T string | []byte](name T) int {
	if len(name) > 0 && name[0] == '<' || len(name) >= 8 && string(name[:8]) == "operator" {
		return len(name)
	}
	for i := range len(name) {
		if name[i] == '<' {
			return i
		}
	}
	return len(name)
}
