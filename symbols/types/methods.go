package types

import (
	"strings"

	"dbg/dwarf"
	"dbg/symbols/entry"
	"dbg/symbols/spelling"
)

// VirtualMethod returns the method of the class itself, with its parameters, at an index of its
// table of virtual functions; "" if there is none.
func (t *Type) VirtualMethod(index uint64) string {
	if t.virtual == nil {
		return ""
	}
	return t.virtual(index)
}

func (r *Reader) virtualMethod(class *dwarf.Entry, t *Type, index uint64) string {
	const opConstu = 0x10
	name := ""
	class.Walk(func(c *dwarf.Entry, _ int) bool {
		v := c.Find(attrVtableElem)
		if name != "" || c.Tag != dwarf.TagSubprogram || v == nil || !v.IsBlock() || len(v.Block) < 2 || v.Block[0] != opConstu {
			return false
		}
		var n uint64
		for i, b := range v.Block[1:] {
			n |= uint64(b&0x7f) << (7 * min(i, 8))
		}
		if n == index {
			if l := entry.Linkage(c); spelling.Mangled(l) && len(l) <= spelling.MaxMangled {
				if s, ok := spelling.Signature(l); ok {
					name = s
					return false
				}
			}
			name = t.Name + "::" + entry.Name(c)
		}
		return false
	}, nil)
	return name
}

// Signature returns the name of a function of this type with its parameters, in C++: "f(int, const
// char*)".
func (t *Type) Signature(name string) string {
	var params []string
	constant := ""
	for i, p := range t.Params() {
		if i > 64 {
			break
		}
		if i == 0 && t.ParamNames()[0] == "this" { // the object: "f() const"
			if to := p.Strip().Elem(); to != nil && to.Kind == Const {
				constant = " const"
			}
			continue
		}
		params = append(params, strings.ReplaceAll(p.String(), " *", "*"))
	}
	if t.Variadic() {
		params = append(params, "...")
	}
	return name + "(" + strings.Join(params, ", ") + ")" + constant
}
