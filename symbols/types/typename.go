package types

import (
	"fmt"
	"strings"

	"dbg/symbols/lang"
)

// String returns the type as gdb writes it: "struct foo *", "int (*)(int)",
// "char [3][4]". nil is void.
func (t *Type) String() string {
	return t.declare("", &budget{left: maxTypeWork})
}

// Declare returns the declaration of a name of this type, as in C: "int x[3]".
func (t *Type) Declare(name string) string { return t.declare(name, &budget{left: maxTypeWork}) }

// budget bounds the work for one type: function types of a corrupt file may
// lead to each other.
type budget struct {
	left   int
	define *definer // if it is set, typedefs are resolved and the last type is written out
	within string   // the class whose member types are written without its name
}

const maxTypeWork = 1000

// plain returns a budget for the types of parameters, which are not written out.
func (b *budget) plain() *budget {
	if b.define == nil {
		return b
	}
	b.left--
	return &budget{left: b.left / 2}
}

// declare writes the type around a declarator, from the inside out, as C's
// grammar has it.
func (t *Type) declare(inner string, p *budget) string {
	if t == nil {
		return join("void", inner)
	}
	if p.left--; p.left < 0 {
		return join("...", inner)
	}
	if p.define != nil {
		if t = t.resolved(); t.Kind == Typedef { // of nothing
			return join("void", inner)
		}
	}
	switch t.Kind {
	case Pointer, Reference, RvalueReference:
		if t.elem == nil || t.Name != "" {
			break // Go and Rust name their pointers
		}
		mark := map[Kind]string{Pointer: "*", Reference: "&", RvalueReference: "&&"}[t.Kind]
		elem := t.ElemAsDeclared() // whose name is the definition's
		if p.define != nil {
			if elem = t.Elem(); elem != nil {
				elem = elem.resolved()
			}
		}
		return elem.declare(parenthesize(elem, mark+inner), p)
	case MemberPointer:
		class := "?"
		if t.container != nil {
			class = t.container().declare("", p.plain())
		}
		return t.Elem().declare(parenthesize(t.Elem(), class+"::*"+inner), p)
	case Array:
		if t.Name != "" {
			break
		}
		if t.vector {
			return join(fmt.Sprintf("%s __attribute__ ((vector_size(%d)))", t.Elem().declare("", p), t.Count), inner)
		}
		if t.Lang == lang.Rust && t.Count >= 0 {
			return join(fmt.Sprintf("[%s; %d]", t.Elem().declare("", p), t.Count), inner)
		}
		// The outermost dimension comes first, after a space.
		dims := ""
		e := t
		for ; e != nil && e.Kind == Array && e.Name == "" && !e.vector && p.left > 0; p.left-- {
			if e.Count >= 0 {
				dims += fmt.Sprintf("[%d]", e.Count)
			} else {
				dims += "[]"
			}
			e = e.Elem()
		}
		return e.declare(inner+dims, p)
	case Func:
		return t.Elem().declare(inner+t.parameterList(p), p)
	case Const, Volatile, Restrict, Atomic:
		return t.qualified(inner, p)
	}
	if p.define != nil {
		return join(p.define.leaf(t), inner)
	}
	if p.within != "" && t.Kind == Typedef {
		if short, ok := strings.CutPrefix(t.Name, p.within+"::"); ok && !strings.Contains(short, "::") {
			return join(short, inner)
		}
	}
	return join(t.baseName(), inner)
}

// qualified writes qualifiers: before the type they qualify, but after the star of a pointer.
func (t *Type) qualified(inner string, p *budget) string {
	words := map[Kind]string{Const: "const", Volatile: "volatile", Restrict: "restrict", Atomic: "_Atomic"}
	var have [4]string
	e := t
	for ; e != nil && p.left > 0; p.left-- {
		w := words[e.Kind]
		if w == "" {
			break
		}
		if e.Lang == lang.CPlusPlus && w == "restrict" {
			w = "__restrict__"
		}
		have[map[Kind]int{Const: 0, Volatile: 1, Restrict: 2, Atomic: 3}[e.Kind]] = w
		e = e.Elem()
		if e != nil && p.define != nil {
			e = e.resolved()
		}
	}
	var list []string
	for _, w := range have {
		if w != "" {
			list = append(list, w)
		}
	}
	q := strings.Join(list, " ")
	if e != nil && e.Name == "" && (e.Kind == Pointer || e.Kind == MemberPointer) && e.elem != nil {
		if inner != "" && !strings.HasPrefix(inner, "[") {
			q += " "
		}
		return e.declare(" "+q+inner, p)
	}
	if e != nil && e.Kind == Array && e.Name == "" {
		return e.declare(inner, p) // its elements are const, too
	}
	return q + " " + e.declare(inner, p)
}

// parenthesize puts a pointer declarator in parentheses where it would
// otherwise bind to an array's or a function's suffix.
func parenthesize(of *Type, inner string) string {
	for range maxTypeDepth {
		if of == nil || of.Kind != Const && of.Kind != Volatile {
			break
		}
		of = of.Elem()
	}
	if of != nil && (of.Kind == Array && of.Name == "" && !of.vector && of.Lang != lang.Rust || of.Kind == Func && of.Name == "") {
		return "(" + inner + ")"
	}
	return inner
}

func (t *Type) parameterList(p *budget) string {
	var list []string
	for i, param := range t.Params() {
		if i > 64 {
			list = append(list, "...")
			break
		}
		list = append(list, param.declare("", p.plain()))
	}
	if t.variadic && (len(list) > 0 || t.prototyped || t.Lang == lang.CPlusPlus) {
		list = append(list, "...")
	}
	if len(list) == 0 && (t.prototyped || t.Lang == lang.CPlusPlus) {
		list = append(list, "void")
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// baseName returns the name of a type that is not made of others. C writes struct, union and enum
// before the name; other languages do not.
func (t *Type) baseName() string {
	kind := t.Kind
	if kind == Opaque {
		kind = t.opaque
	}
	word := map[Kind]string{Struct: "struct", Union: "union", Enum: "enum"}[kind]
	switch {
	case t.class && t.Name == "":
		return "class {...}"
	case word != "" && t.Name == "":
		return word + " {...}"
	case word != "" && (t.Lang == lang.C || t.Lang == lang.Unknown || t.Lang == lang.Asm):
		return word + " " + t.Name
	case t.Name != "":
		if short, ok := shortNames[t.Name]; ok {
			return short
		}
		return t.Name
	case t.Kind == Void:
		return "void"
	}
	return "<unnamed type>"
}

// shortNames are gdb's names for the types that gcc names in full.
var shortNames = map[string]string{
	"long int": "long", "short int": "short", "long long int": "long long", "long unsigned int": "unsigned long",
	"short unsigned int": "unsigned short", "long long unsigned int": "unsigned long long",
}

// join puts a declarator after a type: "int *", "int [3]", "int x".
func join(base, inner string) string {
	if inner == "" {
		return base
	}
	return base + " " + strings.TrimPrefix(inner, " ")
}
