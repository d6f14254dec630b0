package symbols

import (
	"strings"

	"github.com/ianlancetaylor/demangle"

	"dbg/image"
)

// Signature returns the name of the C++ function that begins at an address with its parameters, as gdb has it:
// "ns::f(int)"; "" if there is none.
func (m *Module) Signature(a image.Addr) string {
	fn := m.functionAt(a)
	if fn == nil || fn.u.lang != LangCPlusPlus {
		return ""
	}
	f := fn.public()
	if f.Lo != a {
		return ""
	}
	if mangled(f.Linkage) && len(f.Linkage) <= maxMangled {
		if s, err := demangle.ToString(f.Linkage, demangle.MaxLength(16)); err == nil {
			return s
		}
	}
	t := m.FunctionType(f)
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
	return f.Name + "(" + strings.Join(params, ", ") + ")"
}
