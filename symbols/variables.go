package symbols

import (
	"slices"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/spelling"
)

// variable is a Variable as the debug information has it.
type variable struct {
	m  *Module
	e  *dwarf.Entry
	fn *function // whose frame base it may need; nil for a global

	entered *entered // see AtEntry; nil until it is asked
}

// Locals returns the parameters and variables that are visible at an address,
// of the innermost call there.
func (m *Module) Locals(a image.Addr) []*Variable {
	fn := m.functionAt(a)
	if fn == nil {
		return nil
	}
	return m.localsOf(fn.body().at(uint64(a)).function(), a)
}

// LocalsOf is Locals for one link of the chain that CallsAt returns for a.
// Parameters come first, then the variables of each block from the outermost
// in: the last of a name hides the others. Variables of a block are listed also
// before the line that declares them, as the debug information does not say
// where in the block they begin.
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
		vars = append(vars, gone...) // first: what is there hides what is not
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

// abstract returns what a block is an instance of: an abstract function or a block in one; nil if it is of none.
func (b *block) abstract() *dwarf.Entry {
	e, err := b.fn.u.dw.Entry(b.off)
	if err != nil {
		return nil
	}
	return e.Ref(dwarf.AttrAbstractOrigin)
}

// inheritVariables adds the variables that an abstract function or block has and its
// instance lacks: nothing is left of them, and they are shown as optimised out. Those of blocks in it
// that have instances of their own are theirs. gcc moves what the abstract function has at its top into a block of an
// inlined call, so seen is of the whole call.
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

// instances collects what the variables of a block, and the blocks in it with theirs, are instances of.
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

// newVariable makes a Variable of an entry, nil of one without a name.
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

// Implied returns the variable at an offset of the debug information, that an implicit pointer in v points to (DWARF 5, section
// 2.6.1.1.4): it is of the same function. nil if there is none there.
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

// Global returns the variables of a name that are not local to a function:
// globals, statics of a file, static members; qualified or not. The definition
// comes before others of the same name.
func (m *Module) Global(name string) []*Variable {
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
