package symbols

import (
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"dbg/dwarf"
	"dbg/image"
)

// FunctionsByName returns the functions of a name: exact, qualified or not (f
// finds ns::f and C<int>::f<int>), with parameters to choose among overloads
// ("f(int)"), or as the linker knows it. Where a function has inlined copies in
// its unit, each copy is in the list, as a breakpoint belongs there too.
//
// The ELF symbol table is asked first. Only for a function that it does not
// have (inlined everywhere, or stripped) all debug information is searched.
func (m *Module) FunctionsByName(name string) []*Function {
	q, ok := parseQuery(name)
	if !ok {
		return nil
	}
	var out []*Function
	seen := map[image.Addr]bool{}
	add := func(f *Function) {
		if f != nil && !seen[f.Lo] {
			seen[f.Lo] = true
			out = append(out, f)
		}
	}
	for _, s := range m.functionSymbols(q) {
		m.functionsOf(s, add)
	}
	if len(out) > 0 {
		return out
	}
	m.functionsNamed(q, add)
	if len(out) == 0 {
		m.goFunctionsNamed(q, add)
	}
	return out
}

// functionsOf calls add for a symbol's function and for its inlined copies.
func (m *Module) functionsOf(s *image.Symbol, add func(*Function)) {
	f := m.FunctionAt(s.Addr)
	if f == nil || f.Lo != s.Addr {
		// A label in a function; or the cold part of one.
		if f != nil && !f.FromSymbolTable {
			return
		}
		f = m.elfFunction(s)
	}
	add(f)
	if f.impl != nil {
		for _, c := range f.impl.copies() {
			add(c)
		}
	}
}

// functionsNamed calls add for the functions that only the debug information knows, and for their inlined copies.
func (m *Module) functionsNamed(q query, add func(*Function)) {
	for _, d := range m.named(withoutTemplate(q.last()), nameFunction).functions[withoutTemplate(q.last())] {
		e, err := d.unit.Entry(d.off)
		if err != nil || !q.matchesEntry(m, e) {
			continue
		}
		u := m.unit(d.unit)
		if fn := u.function(d.off); fn != nil {
			add(fn.public())
		}
		for _, c := range u.copiesOf(d) {
			add(c)
		}
	}
}

// functionSymbols returns the symbols in code whose names match, those that are
// literally so first.
func (m *Module) functionSymbols(q query) []*image.Symbol {
	t := m.symbols().table
	var exact, demangledMatch, goMatch []*image.Symbol
	part := q.mangledPart()
	for i := range t.Mentioning(part) {
		sym, ok := t.Symbol(i)
		s := &sym
		if !ok || s.Kind == image.TLS || s.Kind == image.Object || s.Section < 0 || !m.isCode(s.Addr) {
			continue
		}
		name := symbolName(s.Name)
		switch {
		case name == q.text:
			exact = append(exact, s)
		case strings.HasPrefix(name, q.text+".") && s.Kind == image.Func && !strings.Contains(name, ".cold"):
			// gcc's clones: foo.constprop.0, foo.isra.0. Not Go's main.f, which
			// is another name than main.
			if fn := m.functionAt(s.Addr); fn != nil && fn.u.lang != LangGo && fn.entry() == uint64(s.Addr) && fn.public().Name == q.text {
				exact = append(exact, s)
			}
		case mangled(name):
			if own, sure := ownName(name); sure && part != "" && own != part && (len(own) != 17 || own[0] != 'h') {
				continue // nearly all that mention the name mention it in arguments; 17 characters are old Rust's hash
			}
			if q.matches(name) || q.params != "" && q.matchesName(demangled(name)) && m.takes(s.Addr, q.params) {
				demangledMatch = append(demangledMatch, s)
			}
		case q.plain && strings.HasSuffix(name, "."+q.text) && s.Kind == image.Func:
			goMatch = append(goMatch, s) // main for main.main
		}
	}
	if out := append(exact, demangledMatch...); len(out) > 0 {
		return out
	}
	return slices.DeleteFunc(goMatch, func(s *image.Symbol) bool {
		f := m.FunctionAt(s.Addr)
		return f == nil || f.Lang != LangGo
	})
}

// takes reports whether the debug information gives the function that begins at an address these parameters: the mangled name may say
// them in a way that is not understood.
func (m *Module) takes(a image.Addr, params string) bool {
	fn := m.functionAt(a)
	if fn == nil || fn.entry() != uint64(a) {
		return false
	}
	t := m.FunctionType(fn.public())
	if t == nil {
		return false
	}
	list := t.Params()
	if len(list) > 0 && fn.isMethod() {
		list = list[1:]
	}
	var have []string
	for _, p := range list {
		have = append(have, p.String())
	}
	return squeeze("("+strings.Join(have, ",")+")") == strings.Replace(params, "(void)", "()", 1)
}

// isMethod reports whether a function's first parameter is one that nobody has written.
func (fn *function) isMethod() bool {
	e, err := fn.u.dw.Entry(fn.off)
	if err != nil {
		return false
	}
	hidden := false
	e.Walk(func(c *dwarf.Entry, _ int) bool {
		if c.Tag == dwarf.TagFormalParameter && !hidden {
			o := inherited(c, dwarf.AttrArtificial)
			hidden = o != nil && o.Flag(dwarf.AttrArtificial)
		}
		return false
	}, nil)
	return hidden
}

// copies returns the inlined copies of a function in its own unit. A function
// that has been inlined says so: it is a concrete instance of an abstract one.
func (fn *function) copies() []*Function {
	e, err := fn.u.dw.Entry(fn.off)
	if err != nil || fn.inline != nil {
		return nil
	}
	du, off, ok := e.RefOffset(dwarf.AttrAbstractOrigin)
	if !ok {
		return nil
	}
	return fn.u.copiesOf(die{du, off})
}

// query is a function's name as a user gives it.
type query struct {
	text   string
	parts  []string // components of the qualified name
	params string   // "(int)" without spaces, "" if not given
	plain  bool     // an identifier and nothing else
}

func parseQuery(name string) (query, bool) {
	name = strings.TrimSpace(name)
	q := query{text: name}
	base, params := splitParams(name)
	q.params = squeeze(params)
	q.parts = components(strings.TrimPrefix(base, "::"))
	q.plain = len(q.parts) == 1 && params == "" && !strings.ContainsAny(name, "<.: ")
	return q, len(q.parts) > 0 && q.last() != ""
}

// last returns the last component.
func (q query) last() string { return q.parts[len(q.parts)-1] }

// mangledPart returns a string that is in every symbol that can match: mangled
// names have the identifiers literally. It is empty where that is not so, as
// for operators and for the abbreviated names of namespace std.
func (q query) mangledPart() string {
	s := strings.TrimPrefix(q.last(), "~")
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

// matches reports whether a mangled name is one of the query's.
func (q query) matches(name string) bool {
	base := demangled(name)
	if base == name || !q.matchesName(base) {
		return false
	}
	if q.params == "" {
		return true
	}
	full, err := demangle.ToString(name, demangle.NoClones, demangle.MaxLength(16))
	if err != nil {
		return false
	}
	_, params := splitParams(full)
	return squeeze(params) == q.params || q.params == "(void)" && squeeze(params) == "()"
}

func (q query) matchesEntry(m *Module, e *dwarf.Entry) bool {
	if q.params != "" {
		return q.matches(linkageOf(e))
	}
	return q.matchesName(m.qualifiedName(e))
}

// matchesName compares the components of a name from the last on. Template
// arguments count only where the query has them.
func (q query) matchesName(name string) bool {
	parts := components(name)
	if len(parts) < len(q.parts) {
		return false
	}
	parts = parts[len(parts)-len(q.parts):]
	for i, want := range q.parts {
		have := parts[i]
		if squeeze(have) == squeeze(want) {
			continue
		}
		if i+1 < len(q.parts) { // a function that a class is local to
			have, _ = splitParams(have)
			if want, _ = splitParams(want); squeeze(have) == squeeze(want) {
				continue
			}
		}
		if !strings.Contains(want, "<") {
			have = withoutTemplate(have)
		}
		if have != want {
			return false
		}
	}
	return true
}

// components splits a qualified name at the "::" that are not within brackets.
func components(name string) []string {
	var parts []string
	depth, start := 0, 0
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case strings.HasPrefix(name[i:], "operator") && (i == 0 || name[i-1] == ':') && depth == 0:
			// operator<, operator->, operator(): what follows is the name.
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

// splitParams splits "f(int) const" into "f" and "(int) const". The
// parentheses of "operator()" and "(anonymous namespace)" belong to the name, and so do those of a function that a class is local
// to: "f(int)::Local::g()".
func splitParams(name string) (base, params string) {
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

// closing is the end of what the parenthesis at i begins.
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

// squeeze removes the spaces that people put in different places.
func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

// FunctionNames returns names of functions that begin with prefix, qualified or
// from their last component on, sorted, at most max.
func (m *Module) FunctionNames(prefix string, max int) []string {
	x := m.sortedSymbols()
	set := map[string]bool{}
	for _, i := range x.code.num {
		s, _ := x.table.Symbol(int(i))
		if s.Kind != image.Func && s.Kind != image.IFunc {
			continue
		}
		name := symbolName(s.Name)
		if mangled(name) {
			name = demangled(name)
		}
		if strings.HasPrefix(name, prefix) {
			set[name] = true
			continue
		}
		if parts := components(name); len(parts) > 1 && prefix != "" && strings.HasPrefix(parts[len(parts)-1], prefix) {
			set[name] = true
		}
	}
	out := make([]string, 0, len(set))
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out[:min(len(out), max)]
}
