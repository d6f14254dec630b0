package symbols

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"dbg/dwarf"
	"dbg/image"
)

// Signature returns what debug information calls the function of C or C++ that begins at an address, one of C++ with its parameters,
// as gdb has it: "ns::f(int)", "__GI___libc_free" of what the linker calls "free", too; where there is none, what a mangled symbol says: "operator
// new(unsigned long)". It is "" if there is neither.
func (m *Module) Signature(a image.Addr) string {
	fn := m.functionAt(a)
	if fn == nil {
		s, ok := m.symbolWith(codeSymbol, a)
		if name := symbolName(s.Name); ok && s.Addr == a && mangled(name) && len(name) <= maxMangled {
			full, _ := demangle.ToString(name, demangle.MaxLength(16))
			return full
		}
		return ""
	}
	if fn.u.lang != LangCPlusPlus && fn.u.lang != LangC {
		return ""
	}
	f := fn.public()
	if f.Lo != a {
		return ""
	}
	if fn.u.lang == LangC {
		return f.Name
	}
	if mangled(f.Linkage) && len(f.Linkage) <= maxMangled {
		if s, ok := signatureOf(f.Linkage); ok {
			return s
		}
	}
	return withParameters(f.Name, m.FunctionType(f))
}

// signatureOf demangles a function's name without the type of its result, which only the names of instances of
// templates have (Itanium C++ ABI, section 5.1.5.3).
func signatureOf(linkage string) (string, bool) {
	ast, err := demangle.ToAST(linkage)
	if err != nil {
		s, err := demangle.ToString(linkage, demangle.MaxLength(16)) // not C++
		return s, err == nil
	}
	if typed, ok := ast.(*demangle.Typed); ok {
		ast = &demangle.Typed{Name: typed.Name, Type: dropResult(typed.Type)}
	}
	return demangle.ASTToString(ast, demangle.MaxLength(16)), true
}

func dropResult(t demangle.AST) demangle.AST {
	switch t := t.(type) {
	case *demangle.FunctionType:
		return &demangle.FunctionType{Args: t.Args, ForLocalName: t.ForLocalName}
	case *demangle.MethodWithQualifiers:
		return &demangle.MethodWithQualifiers{Method: dropResult(t.Method), Qualifiers: t.Qualifiers, RefQualifier: t.RefQualifier}
	}
	return t
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
			if l := linkageOf(c); mangled(l) && len(l) <= maxMangled {
				if s, ok := signatureOf(l); ok {
					name = s
					return false
				}
			}
			name = t.Name + "::" + nameOf(c)
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
