package types

import (
	"strings"

	"dbg/dwarf"
	"dbg/symbols/entry"
)

// Method is a member function that a class declares.
type Method struct {
	Name    string
	Linkage string // "" if not known
	Type    *Type  // of an object's method, the first parameter is "this"
	Static  bool
	Deleted bool
	Virtual bool
	Slot    uint64 // of a virtual method: its index in the table of virtual functions
	HasSlot bool
}

const (
	attrCallingConvention = dwarf.Attr(0x36)
	attrVariableParameter = dwarf.Attr(0x4b)
	attrVtableElem        = dwarf.Attr(0x4d)
	attrObjectPointer     = dwarf.Attr(0x64)
	attrAlignment         = dwarf.Attr(0x88)
	attrDeleted           = dwarf.Attr(0x8a)
	attrDefaulted         = dwarf.Attr(0x8b)

	passByReference, passByValue = 4, 5 // DW_CC_pass_by_reference and _value: table 7.18
	maxMethods                   = 1 << 14
)

// Methods returns the member functions that a class itself declares.
func (t *Type) Methods() []Method {
	if t.methods == nil {
		return nil
	}
	return t.methods()
}

func (r *Reader) classMethods(class *dwarf.Entry) []Method {
	var out []Method
	class.Walk(func(c *dwarf.Entry, _ int) bool {
		if c.Tag != dwarf.TagSubprogram || len(out) >= maxMethods {
			return false
		}
		m := Method{Name: entry.Name(c), Linkage: entry.Linkage(c), Type: r.At(entry.Of(c)), Deleted: c.Flag(attrDeleted)}
		m.Static = !c.Has(attrObjectPointer) && !entry.IsMethod(c)
		if v, _ := c.Uint(dwarf.AttrVirtuality); v != 0 {
			m.Virtual = true
			m.Slot, m.HasSlot = slotOf(c)
		}
		out = append(out, m)
		return false
	}, nil)
	return out
}

// slotOf reads DW_AT_vtable_elem_location: DW_OP_constu N.
func slotOf(c *dwarf.Entry) (uint64, bool) {
	const opConstu = 0x10
	v := c.Find(attrVtableElem)
	if v == nil || !v.IsBlock() || len(v.Block) < 2 || v.Block[0] != opConstu {
		return 0, false
	}
	var n uint64
	for i, b := range v.Block[1:] {
		n |= uint64(b&0x7f) << (7 * min(i, 8))
	}
	return n, true
}

// PassedByReference reports whether a class of C++ is not trivial for the purposes of calls
// (Itanium C++ ABI, section 1.1): the address of a copy is passed. DW_AT_calling_convention tells
// it; older compilers leave it out, and the special member functions decide.
func (t *Type) PassedByReference() bool { return t.passedByReference(0) }

func (t *Type) passedByReference(depth int) bool {
	t = t.Strip()
	if t.nonTrivial == nil || depth > 32 {
		return false
	}
	if by, sure := t.nonTrivial(); by || sure {
		return by
	}
	for _, f := range t.Fields() {
		switch {
		case f.Static || f.Type == nil:
		case f.Base && f.Virtual:
			return true
		case isVptr(&f): // a class with virtual functions copies that pointer itself
			return true
		default:
			m := f.Type.Strip()
			for m.Kind == Array && m.Elem() != nil && depth < 32 {
				m, depth = m.Elem().Strip(), depth+1
			}
			if m.passedByReference(depth + 1) {
				return true
			}
		}
	}
	return false
}

func isVptr(f *Field) bool { return strings.HasPrefix(f.Name, "_vptr") }

// nonTrivialClass looks at what a class itself declares. sure is false if its members decide.
func (r *Reader) nonTrivialClass(class *dwarf.Entry) (by, sure bool) {
	if cc, ok := class.Uint(attrCallingConvention); ok {
		switch cc {
		case passByReference:
			return true, true
		case passByValue:
			return false, true
		}
	}
	name, _, _ := strings.Cut(entry.Name(class), "<")
	special, deleted := 0, 0
	class.Walk(func(c *dwarf.Entry, _ int) bool {
		if c.Tag != dwarf.TagSubprogram || by {
			return false
		}
		own := entry.Name(c)
		destructor := strings.HasPrefix(own, "~")
		if v, _ := c.Uint(dwarf.AttrVirtuality); v != 0 {
			by = true
			return false
		}
		if !destructor && (own != name || !r.copies(c, class)) {
			return false
		}
		if !destructor {
			special++
		}
		how, _ := c.Uint(attrDefaulted)
		switch {
		case c.Flag(attrDeleted):
			if !destructor {
				deleted++
			}
		case c.Flag(dwarf.AttrArtificial) || how == 1: // implicit, or "= default" in the class
		default:
			by = true
		}
		return false
	}, nil)
	if special > 0 && special == deleted {
		by = true // neither copied nor moved
	}
	return by, by
}

// copies reports whether a constructor is one that copies or moves: its only parameter besides
// "this" is a reference to the class.
func (r *Reader) copies(c, class *dwarf.Entry) bool {
	var list []*dwarf.Entry
	c.Walk(func(p *dwarf.Entry, _ int) bool {
		if p.Tag == dwarf.TagFormalParameter && !p.Flag(dwarf.AttrArtificial) && len(list) < 3 {
			if e, err := p.Unit.Entry(p.Offset); err == nil {
				list = append(list, e)
			}
		}
		return false
	}, nil)
	if len(list) == 0 {
		return false
	}
	t := r.Of(list[0])
	if t == nil {
		return false
	}
	if k := t.Strip().Kind; k != Reference && k != RvalueReference {
		return false
	}
	to := t.Strip().ElemAsDeclared().Strip()
	return to == r.At(entry.Of(class)) || to.Name != "" && to.Name == r.At(entry.Of(class)).Name
}

// Result tells whether a parameter of a function of Go is one of its results, by its index in
// Params.
func (t *Type) Result(i int) bool {
	t.Params()
	return i < len(t.results) && t.results[i]
}

// ParamNames returns the names of a function's parameters, "" where there is none.
func (t *Type) ParamNames() []string {
	t.Params()
	return t.paramNames
}
