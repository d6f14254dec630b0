package symbols

import (
	"slices"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/spelling"
)

// variable holds the debug information of a Variable.
type variable struct {
	m  *Module
	e  *dwarf.Entry
	fn *function // the function for its frame base; nil for a global

	entered *entered // the result of AtEntry; nil before the first call
}

// Locals returns the parameters and variables that are visible at an address, in the innermost
// call there.
func (m *Module) Locals(a image.Addr) []*Variable {
	fn := m.functionAt(a)
	if fn == nil {
		return nil
	}
	return m.localsOf(fn.body().at(uint64(a)).function(), a)
}

// LocalsOf is Locals for one call in the chain that CallsAt returns for a. Parameters come first,
// then the variables of each block, starting with the outermost block: the last variable with a
// name hides the others. Variables of a block are also listed before the line that declares them,
// as the debug information does not contain where in the block they begin.
func (m *Module) LocalsOf(c *Call, a image.Addr) []*Variable {
	if c == nil || c.Function == nil || c.Function.impl == nil {
		return nil
	}
	return m.localsOf(c.Function.impl, a)
}

func (m *Module) localsOf(fn *function, a image.Addr) []*Variable {
	b := fn.inline
	if b == nil {
		b = fn.body()
	}
	proper := b.fn
	root := b
	var seen map[entry.Ref]bool
	var params, goneParams, vars []*Variable
	for depth := 0; b != nil; depth++ {
		var gone []*Variable
		if abstract := b.abstract(); abstract != nil {
			if seen == nil {
				seen = map[entry.Ref]bool{}
				root.instances(seen)
			}
			m.inheritVariables(abstract, proper, seen, depth, &goneParams, &gone)
		}
		vars = append(vars, gone...) // first, so that existing variables hide them
		for _, off := range b.vars {
			e, err := b.fn.u.dw.Entry(off)
			if err != nil {
				continue
			}
			add(m.newVariable(e, proper, depth), &params, &vars)
		}
		var next *block
		for _, k := range b.kids {
			if !k.inlined && k.has(uint64(a)) {
				next = k
				break
			}
		}
		b = next
	}
	return slices.Concat(params, goneParams, vars)
}

func add(v *Variable, params, vars *[]*Variable) {
	switch {
	case v == nil:
	case v.Param:
		*params = append(*params, v)
	default:
		*vars = append(*vars, v)
	}
}

// abstract returns the abstract function or block of which a block is an instance, or nil.
func (b *block) abstract() *dwarf.Entry {
	e, err := b.fn.u.dw.Entry(b.off)
	if err != nil {
		return nil
	}
	return e.Ref(dwarf.AttrAbstractOrigin)
}

// inheritVariables adds the variables of an abstract function or block that are missing in its
// instance: the optimiser removed them, and they are shown as optimised out. Variables of nested
// blocks that have instances belong to those instances. gcc moves variables from the top level of
// the abstract function into a block of an inlined call, so seen covers the whole call.
func (m *Module) inheritVariables(abstract *dwarf.Entry, fn *function, seen map[entry.Ref]bool, at int, params, vars *[]*Variable) {
	abstract.Walk(func(c *dwarf.Entry, depth int) bool {
		if seen[entry.Ref{Unit: c.Unit, Off: c.Offset}] {
			return false
		}
		if c.Tag == dwarf.TagFormalParameter || c.Tag == dwarf.TagVariable {
			if e, err := c.Unit.Entry(c.Offset); err == nil {
				add(m.newVariable(e, fn, at), params, vars)
			}
		}
		// The blocks in an abstract function have no addresses.
		return c.Tag == dwarf.TagLexicalBlock && depth < entry.MaxNesting
	}, nil)
}

// instances collects the abstract entries of the variables of a block, and of its nested blocks
// and their variables.
func (b *block) instances(seen map[entry.Ref]bool) {
	origin := func(off uint64) {
		if e, err := b.fn.u.dw.Entry(off); err == nil {
			if u, off, ok := e.RefOffset(dwarf.AttrAbstractOrigin); ok {
				seen[entry.Ref{Unit: u, Off: off}] = true
			}
		}
	}
	for _, off := range b.vars {
		origin(off)
	}
	for _, k := range b.kids {
		if !k.inlined {
			origin(k.off)
			k.instances(seen)
		}
	}
}

// newVariable makes a Variable from an entry. It returns nil for an entry without a name.
func (m *Module) newVariable(e *dwarf.Entry, fn *function, depth int) *Variable {
	name := entry.Name(e)
	if name == "" {
		return nil
	}
	_, line := entry.Declaration(e)
	v := &Variable{Name: name, Param: e.Tag == dwarf.TagFormalParameter, Line: line, Depth: depth, impl: &variable{m: m, e: e, fn: fn}}
	if o := entry.Inherited(e, dwarf.AttrArtificial); o != nil {
		v.Artificial = o.Flag(dwarf.AttrArtificial)
	}
	v.Type = m.types.Of(entry.Inherited(e, dwarf.AttrType))
	if fn != nil && e.Flag(dwarf.AttrDeclaration) && !e.Has(dwarf.AttrLocation) {
		// extern int x; in a function.
		if g := m.Global(name); len(g) > 0 {
			v.impl, v.Type = g[0].impl, g[0].Type
		}
	}
	return v
}

// File returns the source file of the unit that defines the variable, as the compiler was given it.
func (v *Variable) File() string {
	if v.impl == nil {
		return ""
	}
	return v.impl.e.Unit.Root().Name
}

// Implied returns the variable at an offset in the debug information to which an implicit pointer
// in v points (DWARF 5, section 2.6.1.1.4). It is a variable of the same function, or nil if
// there is none.
func (v *Variable) Implied(die uint64) *Variable {
	const tagProcedure = 0x36
	i := v.impl
	if i == nil {
		return nil
	}
	e, err := i.e.Unit.Data.EntryAt(die)
	if err != nil || e.Tag != dwarf.TagVariable && e.Tag != dwarf.TagFormalParameter && e.Tag != tagProcedure {
		return nil
	}
	return &Variable{Name: entry.Name(e), Type: i.m.types.Of(entry.Inherited(e, dwarf.AttrType)), impl: &variable{m: i.m, e: e, fn: i.fn}}
}

// Locate returns where the variable is when the PC is a.
func (v *Variable) Locate(a image.Addr) entry.Location {
	i := v.impl
	if i == nil {
		return entry.Location{}
	}
	u := i.e.Unit
	loc := entry.Location{Fill: entry.Fill(u)}
	if o := entry.Inherited(i.e, dwarf.AttrLocation); o != nil {
		u = o.Unit
		loc.Fill = entry.Fill(u)
		loc.Expr, loc.Err = u.Location(o.Find(dwarf.AttrLocation), uint64(a))
		if len(loc.Expr) == 0 {
			loc.Expr = nil // an empty expression is DWARF's "optimised out"
		}
	} else if o := entry.Inherited(i.e, dwarf.AttrConstValue); o != nil {
		size := int64(8)
		if v.Type != nil && v.Type.Size >= 0 {
			size = v.Type.Size
		}
		loc.Const = entry.Constant(o, size, i.m.file.BigEndian())
	}
	if i.fn != nil {
		loc.FrameBase = i.fn.frameBase(a)
	}
	return loc
}

// Global returns the variables with a name, qualified or not, that are not local to a function:
// globals, statics of a file, static members. External variables come before static ones.
func (m *Module) Global(name string) []*Variable {
	return m.knownNames().globals.find(name, m.global)
}

func (m *Module) global(name string) []*Variable {
	q, ok := spelling.ParseQuery(name)
	if !ok || q.Params != "" {
		return nil
	}
	var out, static []*Variable
	seen := map[entry.Ref]bool{}
	for _, d := range m.names.Variables(q.Last()) {
		e, err := d.Unit.Entry(d.Off)
		if err != nil || seen[d] || !q.Matches(m.scopes.Qualified(e)) {
			continue
		}
		seen[d] = true
		v := m.newVariable(e, nil, 0)
		if v == nil {
			continue
		}
		v.Name = m.scopes.Qualified(e)
		if o := entry.Inherited(e, dwarf.AttrExternal); o != nil && o.Flag(dwarf.AttrExternal) {
			out = append(out, v)
		} else {
			static = append(static, v)
		}
	}
	return append(out, static...)
}
