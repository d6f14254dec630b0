package symbols

import (
	"slices"
	"strings"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// FunctionsByName returns the functions of a name: exact, qualified or not (f
// finds ns::f and C<int>::f<int>), with parameters to choose among overloads
// ("f(int)"), or as the linker knows it. Where a function has inlined copies in
// its unit, each copy is in the list, as a breakpoint belongs there too.
//
// The ELF symbol table is asked first. Only for a function that it does not
// have (inlined everywhere, or stripped) all debug information is searched.
func (m *Module) FunctionsByName(name string) []*Function {
	return m.knownNames().functions.find(name, m.functionsByName)
}

func (m *Module) functionsByName(name string) []*Function {
	q, ok := spelling.ParseQuery(name)
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
func (m *Module) functionsNamed(q spelling.Query, add func(*Function)) {
	for _, d := range m.names.Functions(spelling.WithoutTemplate(q.Last())) {
		e, err := d.Unit.Entry(d.Off)
		if err != nil || !m.matchesEntry(q, e) {
			continue
		}
		u := m.unit(d.Unit)
		if fn := u.function(d.Off); fn != nil {
			add(fn.public())
		}
		for _, c := range u.copiesOf(d) {
			add(c)
		}
	}
}

// functionSymbols returns the symbols in code whose names match, those that are
// literally so first.
func (m *Module) functionSymbols(q spelling.Query) []*image.Symbol {
	t := m.symbols().Symbols()
	var exact, demangledMatch, goMatch []*image.Symbol
	part := q.MangledPart()
	for i := range t.Mentioning(part) {
		sym, ok := t.Symbol(i)
		s := &sym
		if !ok || s.Kind == image.TLS || s.Kind == image.Object || s.Section < 0 || !m.symbols().IsCode(s.Addr) {
			continue
		}
		name := spelling.WithoutVersion(s.Name)
		switch {
		case name == q.Text:
			exact = append(exact, s)
		case strings.HasPrefix(name, q.Text+".") && s.Kind == image.Func && !strings.Contains(name, ".cold"):
			// gcc's clones: foo.constprop.0, foo.isra.0. Not Go's main.f, which
			// is another name than main.
			if fn := m.functionAt(s.Addr); fn != nil && fn.u.lang != lang.Go && fn.entry() == uint64(s.Addr) && fn.public().Name == q.Text {
				exact = append(exact, s)
			}
		case spelling.Mangled(name):
			if own, sure := spelling.LastIdentifier(name); sure && part != "" && own != part && (len(own) != 17 || own[0] != 'h') {
				continue // nearly all that mention the name mention it in arguments; 17 characters are old Rust's hash
			}
			if q.MatchesLinkage(name) || q.Params != "" && q.Matches(spelling.Demangle(name)) && m.takes(s.Addr, q.Params) {
				demangledMatch = append(demangledMatch, s)
			}
		case q.Plain && strings.HasSuffix(name, "."+q.Text) && s.Kind == image.Func:
			goMatch = append(goMatch, s) // main for main.main
		}
	}
	if out := append(exact, demangledMatch...); len(out) > 0 {
		return out
	}
	return slices.DeleteFunc(goMatch, func(s *image.Symbol) bool {
		f := m.FunctionAt(s.Addr)
		return f == nil || f.Lang != lang.Go
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
	if e, err := fn.dieEntry(); err == nil && len(list) > 0 && entry.IsMethod(e) {
		list = list[1:]
	}
	var have []string
	for _, p := range list {
		have = append(have, p.String())
	}
	return spelling.Squeeze("("+strings.Join(have, ",")+")") == strings.Replace(params, "(void)", "()", 1)
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
	return fn.u.copiesOf(entry.Ref{Unit: du, Off: off})
}

// FunctionNames returns names of functions that begin with prefix, qualified or
// from their last component on, sorted, at most max.
func (m *Module) FunctionNames(prefix string, max int) []string {
	set := map[string]bool{}
	m.symbols().Functions(func(s image.Symbol) {
		if s.Kind != image.Func && s.Kind != image.IFunc {
			return
		}
		name := spelling.WithoutVersion(s.Name)
		if spelling.Mangled(name) {
			name = spelling.Demangle(name)
		}
		if strings.HasPrefix(name, prefix) {
			set[name] = true
			return
		}
		if parts := spelling.Components(name); len(parts) > 1 && prefix != "" && strings.HasPrefix(parts[len(parts)-1], prefix) {
			set[name] = true
		}
	})
	out := make([]string, 0, len(set))
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out[:min(len(out), max)]
}

// matchesEntry reports whether a query means the function of an entry.
func (m *Module) matchesEntry(q spelling.Query, e *dwarf.Entry) bool {
	if q.Params != "" {
		return q.MatchesLinkage(entry.Linkage(e))
	}
	return q.Matches(m.scopes.Qualified(e))
}
