package symbols

import (
	"strings"

	"dbg/dwarf"
)

// nameIndex finds what has a name at the top of a unit, in a namespace or in a
// class, by its last component. It is built by one pass over the units, not
// into functions, the first time that something is asked for by name that the
// ELF symbol table can't answer.
type nameIndex struct {
	types     map[string][]die
	variables map[string][]die
	functions map[string][]die
	enums     []die // all complete enumerations, for Enumerator
}

// maxSameType bounds how many types of one name are kept: the same structure is
// in every unit that uses it.
const maxSameType = 8

// named returns an index that has what is called name, if anything is. The
// index is not built for a name that the debug information does not have.
func (m *Module) named(name string) *nameIndex {
	if d := m.dwarf(); m.names == nil && d != nil && !d.MentionsName(name) {
		return &nameIndex{}
	}
	return m.nameIndex()
}

// nameIndex returns the name index; it is empty if there is no debug
// information.
func (m *Module) nameIndex() *nameIndex {
	if m.names != nil {
		return m.names
	}
	x := &nameIndex{types: map[string][]die{}, variables: map[string][]die{}, functions: map[string][]die{}}
	m.names = x
	d := m.dwarf()
	if d == nil {
		return x
	}
	for _, du := range m.allUnits() {
		if du.First < du.End {
			x.addUnit(m.unit(du))
		}
	}
	return x
}

func (x *nameIndex) addUnit(u *unit) {
	e, err := u.dw.Entry(u.dw.First)
	if err != nil {
		return
	}
	// What can be inside of a structure is of interest only where structures
	// are scopes.
	scoped := u.lang != LangC && u.lang != LangGo
	e.Walk(func(c *dwarf.Entry, depth int) bool {
		switch c.Tag {
		case dwarf.TagNamespace, dwarf.TagModule:
			return depth < maxNesting
		case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			x.addType(c)
			return scoped && depth < maxNesting
		case dwarf.TagEnumerationType:
			x.addType(c)
			if !c.Flag(dwarf.AttrDeclaration) {
				x.enums = append(x.enums, die{c.Unit, c.Offset})
			}
		case dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagUnspecifiedType, dwarf.TagTemplateAlias:
			x.addType(c)
		case dwarf.TagVariable, dwarf.TagMember:
			if c.Tag == dwarf.TagMember && !c.Flag(dwarf.AttrExternal) && !c.Flag(dwarf.AttrDeclaration) {
				break // an ordinary member, not DWARF 4's static one
			}
			x.addVariable(c)
		case dwarf.TagSubprogram:
			if c.Flag(dwarf.AttrDeclaration) {
				break
			}
			if name := withoutTemplate(nameOf(c)); name != "" {
				x.functions[name] = append(x.functions[name], die{c.Unit, c.Offset})
			}
		case dwarf.TagPointerType:
			// Go gives names to all types.
			if u.lang == LangGo {
				x.addType(c)
			}
		}
		return false
	}, nil)
}

// withoutTemplate returns a function's name without template arguments.
func withoutTemplate(name string) string {
	if strings.HasPrefix(name, "operator") || strings.HasPrefix(name, "<") {
		return name
	}
	name, _, _ = strings.Cut(name, "<")
	return name
}

// addType keeps a type that is complete; one that is only declared if there is
// no other.
func (x *nameIndex) addType(c *dwarf.Entry) {
	name := c.Bytes(dwarf.AttrName)
	if len(name) == 0 || c.Flag(dwarf.AttrDeclaration) {
		return
	}
	have := x.types[string(name)]
	if len(have) < maxSameType {
		x.types[string(name)] = append(have, die{c.Unit, c.Offset})
	}
}

// addVariable keeps a variable that is somewhere: definitions, and constants.
func (x *nameIndex) addVariable(c *dwarf.Entry) {
	if !c.Has(dwarf.AttrLocation) && inherited(c, dwarf.AttrConstValue) == nil {
		return
	}
	if name := nameOf(c); name != "" {
		x.variables[name] = append(x.variables[name], die{c.Unit, c.Offset})
	}
}
