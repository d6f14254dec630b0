package natvis

// A Match is a view for a type, and what the wildcards of its pattern stand for.
type Match struct {
	Type    *Type
	Pattern *Pattern
	// Args are $T1, $T2…: one for each wildcard, from left to right, also inside of arguments
	// (Natvis, "Templated classes"). A wildcard that is the last argument stands for all that
	// remain: there is one Arg for each.
	Args []Arg
}

// An Arg is a template argument that a wildcard stands for.
type Arg struct {
	Text string // as the name of the type has it
	// Path leads from the class to the argument: one Step for each level of arguments.
	Path []Step
}

// A Step selects an argument of a qualified name.
type Step struct {
	Outer int // 0 is the class itself, 1 the class or namespace around it
	Index int // of the argument, from 0
}

// Match reports whether a pattern is for a type, and returns what its wildcards stand for.
func (n *TypeName) Match(concrete *TypeName) (args []Arg, ok bool) {
	m := matcher{}
	ok = m.match(n, concrete)
	return m.args, ok
}

// A matcher compares a pattern with a name.
type matcher struct {
	args []Arg
	path []Step
}

func (m *matcher) match(pattern, name *TypeName) bool {
	if pattern.Wildcard {
		m.capture(name)
		return true
	}
	if pattern.Parts == nil || name.Parts == nil {
		return pattern.Parts == nil && name.Parts == nil && pattern.compared == name.compared
	}
	if pattern.Suffix != name.Suffix || len(pattern.Parts) != len(name.Parts) {
		return false
	}
	for i := range pattern.Parts {
		p, n := &pattern.Parts[i], &name.Parts[i]
		if p.Name != n.Name || p.Template != n.Template {
			return false
		}
		if !m.matchArgs(p.Args, n.Args, len(pattern.Parts)-1-i) {
			return false
		}
	}
	return true
}

// matchArgs compares template arguments. A wildcard that comes last stands for one argument or
// more, not for none: "tuple<>" has a pattern of its own.
func (m *matcher) matchArgs(patterns, names []*TypeName, outer int) bool {
	open := len(patterns) > 0 && patterns[len(patterns)-1].Wildcard
	if len(names) < len(patterns) || len(names) > len(patterns) && !open {
		return false
	}
	for i, name := range names {
		m.path = append(m.path, Step{outer, i})
		if !m.match(patterns[min(i, len(patterns)-1)], name) {
			return false
		}
		m.path = m.path[:len(m.path)-1]
	}
	return true
}

func (m *matcher) capture(name *TypeName) {
	m.args = append(m.args, Arg{Text: name.Text, Path: append([]Step(nil), m.path...)})
}

// A specificity tells how much a pattern determines. Of two that match the same name, the one with
// more names is more specific; then the one with more wildcards, because the last stands for less.
type specificity struct{ names, wildcards int }

func (n *TypeName) specificity() (s specificity) {
	if n.Wildcard {
		return specificity{wildcards: 1}
	}
	s.names = 1
	for _, part := range n.Parts {
		for _, arg := range part.Args {
			a := arg.specificity()
			s.names += a.names
			s.wildcards += a.wildcards
		}
	}
	return s
}
