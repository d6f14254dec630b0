package symbols

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
	"dbg/symbols/symtab"
)

// Signature returns what debug information calls the function of C or C++ that begins at an address, one of C++ with its parameters,
// as gdb has it: "ns::f(int)", "__GI___libc_free" of what the linker calls "free", too; where there is none, what a mangled symbol says: "operator
// new(unsigned long)". It is "" if there is neither.
func (m *Module) Signature(a image.Addr) string {
	fn := m.functionAt(a)
	if fn == nil {
		s, ok := m.symbols().At(symtab.Code, a)
		if name := spelling.WithoutVersion(s.Name); ok && s.Addr == a && spelling.Mangled(name) && len(name) <= spelling.MaxMangled {
			full, _ := demangle.ToString(name, demangle.MaxLength(16))
			return full
		}
		return ""
	}
	if fn.u.lang != lang.CPlusPlus && fn.u.lang != lang.C {
		return ""
	}
	f := fn.public()
	if f.Lo != a {
		return ""
	}
	if fn.u.lang == lang.C {
		return f.Name
	}
	if spelling.Mangled(f.Linkage) && len(f.Linkage) <= spelling.MaxMangled {
		if s, ok := spelling.Signature(f.Linkage); ok {
			return s
		}
	}
	return withParameters(f.Name, m.FunctionType(f))
}

// VirtualMethod returns the method, with its parameters, that a class itself has in an element of its table of
// virtual functions; "" if it has none there.
func (t *Type) VirtualMethod(index uint64) string {
	if t.virtual == nil {
		return ""
	}
	return t.virtual(index)
}

func (m *Module) virtualMethod(class *dwarf.Entry, t *Type, index uint64) string {
	const attrVtableElem, opConstu = dwarf.Attr(0x4d), 0x10
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

func withParameters(name string, t *Type) string {
	if t == nil {
		return ""
	}
	var params []string
	for i, p := range t.Params() {
		if i > 64 {
			break
		}
		params = append(params, strings.ReplaceAll(p.String(), " *", "*"))
	}
	if t.Variadic() {
		params = append(params, "...")
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	return name + "(" + strings.Join(params, ", ") + ")"
}
