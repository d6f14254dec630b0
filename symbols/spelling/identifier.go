package spelling

// LastIdentifier returns the last identifier of a mangled C++ name; for constructors and
// destructors that is the class. It does not demangle, which takes a hundred times as long. sure is
// false for names with rare parts: operators, lambdas, local classes, expressions (Itanium C++ ABI,
// section 5.1).
func LastIdentifier(mangled string) (name string, sure bool) {
	s := nameScanner{s: mangled, i: 2}
	if len(mangled) < 3 || mangled[:2] != "_Z" {
		return "", false
	}
	if s.peek() != 'N' {
		if s.peek() == 'S' && s.at(1) == 't' {
			s.i += 2
		}
		if s.peek() == 'L' {
			s.i++
		}
		return s.identifier()
	}
	s.i++
	for c := s.peek(); c == 'r' || c == 'V' || c == 'K' || c == 'R' || c == 'O'; c = s.peek() {
		s.i++
	}
	for {
		switch c := s.peek(); {
		case c == 'E':
			return name, name != ""
		case c >= '0' && c <= '9':
			if name, sure = s.identifier(); !sure {
				return "", false
			}
		case c == 'S':
			name = ""
			if !s.substitution() {
				return "", false
			}
		case c == 'I':
			if !s.arguments() {
				return "", false
			}
		case c == 'B':
			s.i++
			if _, ok := s.identifier(); !ok {
				return "", false
			}
		case c == 'L':
			s.i++
		case (c == 'C' || c == 'D') && s.at(1) >= '0' && s.at(1) <= '9' && name != "":
			s.i += 2
		default:
			return "", false
		}
	}
}

// nameScanner goes over a mangled name.
type nameScanner struct {
	s string
	i int
}

func (s *nameScanner) peek() byte { return s.at(0) }

func (s *nameScanner) at(n int) byte {
	if s.i+n < len(s.s) {
		return s.s[s.i+n]
	}
	return 0
}

// identifier reads a <source-name>: its length, then its text.
func (s *nameScanner) identifier() (string, bool) {
	n := 0
	start := s.i
	for c := s.peek(); c >= '0' && c <= '9' && n < 1<<20; c = s.peek() {
		n = n*10 + int(c-'0')
		s.i++
	}
	if s.i == start || n == 0 || n > len(s.s)-s.i {
		return "", false
	}
	name := s.s[s.i : s.i+n]
	s.i += n
	return name, true
}

// substitution goes over S_, S1_, St and so on.
func (s *nameScanner) substitution() bool {
	s.i++
	if c := s.peek(); c >= 'a' && c <= 'z' {
		s.i++
		return true
	}
	return s.sequence()
}

// sequence goes over a number in base 36 with its underscore, or the underscore alone.
func (s *nameScanner) sequence() bool {
	for c := s.peek(); c >= '0' && c <= '9' || c >= 'A' && c <= 'Z'; c = s.peek() {
		s.i++
	}
	s.i++
	return s.i <= len(s.s) && s.s[s.i-1] == '_'
}

// arguments goes over <template-args>.
func (s *nameScanner) arguments() bool {
	depth := 0
	for s.i < len(s.s) {
		switch c := s.peek(); {
		case c >= '0' && c <= '9':
			if _, ok := s.identifier(); !ok {
				return false
			}
		case c == 'I' || c == 'N' || c == 'J' || c == 'F':
			depth++
			s.i++
		case c == 'E':
			s.i++
			if depth--; depth == 0 {
				return true
			}
		case c == 'S':
			if !s.substitution() {
				return false
			}
		case c == 'T':
			s.i++
			if c := s.peek(); c != '_' && (c < '0' || c > '9') || !s.sequence() {
				return false
			}
		case c == 'A':
			for s.i++; s.peek() >= '0' && s.peek() <= '9'; s.i++ {
			}
			if s.peek() != '_' {
				return false
			}
			s.i++
		case c == 'L': // a literal of a basic type
			if c := s.at(1); c < 'a' || c > 'z' {
				return false
			}
			for s.i += 2; s.i < len(s.s) && s.peek() != 'E'; s.i++ {
			}
			s.i++
		case c == 'D':
			switch s.at(1) {
			case 'p', 'n', 'a', 'c', 'i', 's', 'u', 'h', 'f', 'e', 'd', 'o':
				s.i += 2
			default:
				return false
			}
		case c == 'P' || c == 'R' || c == 'O' || c == 'K' || c == 'V' || c == 'M' || c >= 'a' && c <= 'z' && c != 'u':
			s.i++
		default:
			return false
		}
	}
	return false
}
