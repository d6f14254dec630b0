package symbols

import (
	"dbg/image"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
	"dbg/symbols/symtab"
)

// Signature returns the name that debug information gives the function of C or C++ that begins at an
// address, in C++ with its parameters, as gdb writes it: "ns::f(int)", and "__GI___libc_free" for the
// symbol "free". Without debug information it demangles the symbol: "operator new(unsigned long)". It is
// "" if there is neither.
func (m *Module) Signature(a image.Addr) string {
	fn := m.functionAt(a)
	if fn == nil {
		s, ok := m.symbols().At(symtab.Code, a)
		if name := spelling.WithoutVersion(s.Name); ok && s.Addr == a && spelling.Mangled(name) && len(name) <= spelling.MaxMangled {
			return spelling.DemangleWithParams(name)
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
	t := m.FunctionType(f)
	if t == nil {
		return ""
	}
	return t.Signature(f.Name)
}
