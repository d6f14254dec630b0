package spelling

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// MaxMangled bounds the length of the names that are demangled: the work grows faster than the
// name.
const MaxMangled = 16 << 10

// Mangled reports whether a symbol's name looks like a mangled name of C++ or Rust.
func Mangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}

// Demangle returns a linkage name as its language writes it, without parameters; the name itself
// if it is not mangled or cannot be read.
func Demangle(name string) string {
	if !Mangled(name) || len(name) > MaxMangled {
		return name
	}
	s, err := demangle.ToString(name, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoClones, demangle.MaxLength(16))
	if err != nil {
		return name
	}
	return s
}

// DemangleWithParams returns a linkage name as its language writes it, with parameters and with
// the result if the name has it; "" if it cannot be read.
func DemangleWithParams(name string) string {
	s, _ := demangle.ToString(name, demangle.MaxLength(16))
	return s
}

// WithoutVersion returns a symbol's name without the version that .symtab adds to it
// ("memcpy@@GLIBC_2.14").
func WithoutVersion(name string) string {
	if i := strings.IndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// Signature demangles a function's name with its parameters but without the type of its result:
// only the names of template instances contain the result (Itanium C++ ABI, section 5.1.5.3). It
// returns false if the name cannot be read. The caller checks the length against MaxMangled.
func Signature(linkage string) (string, bool) {
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
