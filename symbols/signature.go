package symbols

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"dbg/image"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
	"dbg/symbols/symtab"
	"dbg/symbols/types"
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

func withParameters(name string, t *types.Type) string {
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
