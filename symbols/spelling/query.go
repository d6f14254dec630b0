package spelling

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Query is the name of a function, variable or type as a user gives it: "f", "ns::f",
// "C<int>::f(int)".
type Query struct {
	Text   string   // as given, without spaces around it
	Parts  []string // the components of the qualified name; at least one
	Params string   // "(int)" without spaces; "" if none are given
	Plain  bool     // the name is an identifier and nothing else
}

// ParseQuery splits a name into its parts; false if it has no last component.
func ParseQuery(name string) (Query, bool) {
	name = strings.TrimSpace(name)
	q := Query{Text: name}
	base, params := SplitParams(name)
	q.Params = Squeeze(params)
	q.Parts = Components(strings.TrimPrefix(base, "::"))
	q.Plain = len(q.Parts) == 1 && params == "" && !strings.ContainsAny(name, "<.: ")
	return q, len(q.Parts) > 0 && q.Last() != ""
}

// Last returns the last component.
func (q Query) Last() string { return q.Parts[len(q.Parts)-1] }

// MangledPart returns a string that is in every symbol that can match: mangled names contain
// their identifiers literally. It is "" where they do not: for operators, and for the abbreviated
// names of namespace std.
func (q Query) MangledPart() string {
	s := strings.TrimPrefix(q.Last(), "~")
	s, _, _ = strings.Cut(s, "<")
	if strings.HasPrefix(s, "operator") || strings.ContainsAny(s, "({ $.'") {
		return ""
	}
	switch s {
	case "allocator", "basic_string", "string", "basic_istream", "basic_ostream", "basic_iostream":
		return ""
	}
	return s
}

// MatchesLinkage reports whether a mangled name is one that the query means.
func (q Query) MatchesLinkage(name string) bool {
	base := Demangle(name)
	if base == name || !q.Matches(base) {
		return false
	}
	if q.Params == "" {
		return true
	}
	full, err := demangle.ToString(name, demangle.NoClones, demangle.MaxLength(16))
	if err != nil {
		return false
	}
	_, params := SplitParams(full)
	return Squeeze(params) == q.Params || q.Params == "(void)" && Squeeze(params) == "()"
}

// Matches reports whether a readable qualified name is one that the query means. It compares the
// components from the last one on. Template arguments count only where the query has them;
// parameters do not count.
func (q Query) Matches(name string) bool {
	parts := Components(name)
	if len(parts) < len(q.Parts) {
		return false
	}
	parts = parts[len(parts)-len(q.Parts):]
	for i, want := range q.Parts {
		have := parts[i]
		if Squeeze(have) == Squeeze(want) {
			continue
		}
		if i+1 < len(q.Parts) { // a function that contains a local class
			have, _ = SplitParams(have)
			if want, _ = SplitParams(want); Squeeze(have) == Squeeze(want) {
				continue
			}
		}
		if !strings.Contains(want, "<") {
			have = WithoutTemplate(have)
		}
		if have != want {
			return false
		}
	}
	return true
}
