package types

import (
	"fmt"
	"slices"
	"strings"

	"dbg/dwarf"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// DefinitionOptions tells how a definition is written: the flags of gdb's ptype.
type DefinitionOptions struct {
	// Raw writes member types of a class with the name of the class, and no arguments of templates.
	Raw bool
	// NoMethods and NoTypedefs leave out methods and typedefs.
	NoMethods, NoTypedefs bool
	// Nested is how deep types that are defined in the class are written; 0 leaves them out.
	Nested int
	// Offsets writes the place and the size of each member, and the holes between members. Hex writes
	// them in hexadecimal.
	Offsets, Hex bool
}

// Definition returns the definition of the type as gdb's ptype prints it. It resolves typedefs, and
// lists a structure's members, a class's methods and an enumeration's constants.
func (t *Type) Definition() string { return t.DefinitionWith(DefinitionOptions{}) }

// DefinitionWith is Definition with options.
func (t *Type) DefinitionWith(opt DefinitionOptions) string {
	return t.declare("", &budget{left: maxTypeWork, define: &definer{opt: opt, left: maxMembers}})
}

// HasLayout reports whether DefinitionWith writes offsets and sizes for a type itself: a structure or a
// union that is no typedef. Then gdb writes a heading.
func (t *Type) HasLayout() bool {
	for range maxTypeDepth {
		if t == nil || t.Kind != Const && t.Kind != Volatile {
			break
		}
		t = t.Elem()
	}
	return t != nil && (t.Kind == Struct || t.Kind == Union)
}

// LayoutHeading is the heading of a definition with offsets.
const LayoutHeading = "/* offset      |    size */  "

// maxMembers bounds the lines of one definition: each structure of a damaged file may contain the next
// one many times.
const maxMembers = 1 << 14

// definer writes one definition.
type definer struct {
	opt  DefinitionOptions
	left int     // lines that may still be written
	open []*Type // the structures that are being written: one that contains itself is damaged
}

// leaf writes the type around which a declaration is built.
func (d *definer) leaf(t *Type) string {
	switch {
	case t.isComposite():
		return d.body(t, 0, 1, d.opt.Nested, &layout{})
	case t.Kind == Opaque:
		return t.baseNameWithKeyword() + " {\n    <incomplete type>\n}"
	}
	return t.baseName()
}

// baseNameWithKeyword is baseName with "struct", also in C++.
func (t *Type) baseNameWithKeyword() string {
	word := map[Kind]string{Struct: "struct", Union: "union", Enum: "enum"}[t.opaque]
	if t.class && t.opaque == Struct {
		word = "class"
	}
	return strings.TrimSpace(word + " " + t.Name)
}

func (t *Type) isComposite() bool {
	return (t.Kind == Struct || t.Kind == Union) && t.fields != nil || t.Kind == Enum && t.enumerators != nil
}

// resolved returns the type without typedefs.
func (t *Type) resolved() *Type {
	for range maxTypeDepth {
		if t.Kind != Typedef || t.Elem() == nil {
			break
		}
		t = t.Elem()
	}
	return t
}

// body writes a composite type with its members. It writes out members of a type without a name,
// down to the depth show, and types that are defined in the class down to the depth nested.
func (d *definer) body(t *Type, indent, show, nested int, at *layout) string {
	if t.Lang == lang.Rust {
		return d.rustBody(t, at)
	}
	if t.Kind == Enum {
		return t.enumBody()
	}
	keyword := "struct"
	switch {
	case t.Kind == Union:
		keyword = "union"
	case t.class:
		keyword = "class"
	}
	head := keyword
	if t.Name != "" {
		head += " " + t.Name
	}
	if show < 0 || slices.Contains(d.open, t) {
		return head + " {...}"
	}
	d.open = append(d.open, t)
	defer func() { d.open = d.open[:len(d.open)-1] }()
	var w strings.Builder
	w.WriteString(head)
	out := typeWriter{definer: d, t: t, w: &w, indent: indent, show: show, nested: nested, layout: at}
	if !d.opt.Raw {
		w.WriteString(t.templateTypes())
	}
	if t.define != nil {
		t.define(&out)
	}
	out.write()
	return w.String()
}

// templateTypes returns the type arguments of a class template: " [with T = int]".
func (t *Type) templateTypes() string {
	var list []string
	for _, a := range t.TemplateArgs() {
		if a.Name != "" && a.IsType && len(list) < 64 {
			list = append(list, a.Name+" = "+a.Type.String())
		}
	}
	if len(list) == 0 || t.Lang != lang.CPlusPlus {
		return ""
	}
	return " [with " + strings.Join(list, ", ") + "]"
}

func (t *Type) enumBody() string {
	head := "enum"
	if t.enumClass {
		head = "enum class"
	}
	if t.Name != "" {
		head += " " + t.Name
	}
	scope := ""
	if t.Lang == lang.CPlusPlus {
		if scope = t.Name + "::"; !t.enumClass {
			scope = strings.TrimSuffix(t.Name, spelling.Last(t.Name))
		}
	}
	if u := t.Elem(); u != nil && t.Lang == lang.CPlusPlus {
		head += " : " + u.String()
	}
	var parts []string
	next := int64(0)
	for _, c := range t.Enumerators() {
		if c.Value != next {
			parts = append(parts, fmt.Sprintf("%s%s = %d", scope, c.Name, c.Value))
		} else {
			parts = append(parts, scope+c.Name)
		}
		next = c.Value + 1
	}
	return head + " {" + strings.Join(parts, ", ") + "}"
}

const tagUnspecifiedParameters = dwarf.Tag(0x18)

// DW_ACCESS_ codes (DWARF 5, section 7.9).
func accessOf(e *dwarf.Entry, class bool) string {
	v, ok := e.Uint(dwarf.AttrAccessibility)
	switch {
	case ok && v == 1:
		return "public"
	case ok && v == 2:
		return "protected"
	case ok && v == 3, !ok && class:
		return "private"
	}
	return "public"
}

// writeDefinition fills a writer from the entry of a structure.
func (r *Reader) writeDefinition(e *dwarf.Entry, t *Type, d *typeWriter) {
	e.Walk(func(c *dwarf.Entry, _ int) bool {
		if d.left--; d.left < 0 {
			return false
		}
		access := accessOf(c, t.class)
		switch c.Tag {
		case dwarf.TagInheritance:
			base := r.Of(c)
			if base == nil {
				break
			}
			text := access
			if v, _ := c.Uint(dwarf.AttrVirtuality); v != 0 {
				text += " virtual"
				d.virtual = true
			}
			d.bases = append(d.bases, text+" "+base.baseName())
		case dwarf.TagMember, dwarf.TagVariable:
			f := r.member(c, t)
			if c.Flag(dwarf.AttrArtificial) && strings.HasPrefix(f.Name, "_vptr") {
				d.hidden = true
				break
			}
			d.members = append(d.members, writtenMember{access: access, field: &f})
		case dwarf.TagSubprogram:
			if !c.Flag(dwarf.AttrArtificial) && !d.opt.NoMethods {
				d.methods = append(d.methods, writtenMember{access: access, text: r.method(c, t)})
			}
		case dwarf.TagTypedef:
			if name, _ := c.String(dwarf.AttrName); name != "" && t.Lang == lang.CPlusPlus && !d.opt.NoTypedefs {
				d.types = append(d.types, "typedef "+r.Of(c).Declare(name))
			}
		case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType:
			if d.nested > 0 && c.Has(dwarf.AttrName) && t.Lang == lang.CPlusPlus && len(d.inner) < maxInner {
				d.inner = append(d.inner, r.At(entry.Of(c)))
			}
		}
		return false
	}, nil)
}

// method returns the declaration of a method.
func (r *Reader) method(c *dwarf.Entry, t *Type) string {
	name, _ := c.String(dwarf.AttrName)
	var params []string
	static, constant, first := true, "", true
	c.Walk(func(p *dwarf.Entry, _ int) bool {
		switch p.Tag {
		case dwarf.TagFormalParameter:
			pt := r.Of(p)
			if first && p.Flag(dwarf.AttrArtificial) {
				static = false
				if this := pt.Strip(); this != nil && this.Elem() != nil {
					for q := this.Elem(); q != nil && (q.Kind == Const || q.Kind == Volatile); q = q.Elem() {
						constant += map[Kind]string{Const: " const", Volatile: " volatile"}[q.Kind]
					}
				}
			} else if !p.Flag(dwarf.AttrArtificial) {
				params = append(params, pt.String())
			}
			first = false
		case tagUnspecifiedParameters:
			params = append(params, "...")
		}
		return false
	}, nil)
	if len(params) == 0 {
		params = []string{"void"}
	}
	text := ""
	if v, _ := c.Uint(dwarf.AttrVirtuality); v != 0 {
		text = "virtual "
	} else if static {
		text = "static "
	}
	class := spelling.WithoutTemplate(spelling.Last(t.Name))
	conversion := strings.HasPrefix(name, "operator ") && !strings.HasPrefix(name, "operator new") &&
		!strings.HasPrefix(name, "operator delete") && !strings.HasPrefix(name, "operator\"\"")
	special := conversion || name == class || strings.HasPrefix(name, "~") || strings.HasPrefix(name, class+"<")
	if result := r.Of(c); !special && !(result == nil && name == "") {
		text += result.Declare("") + " "
	}
	return text + name + "(" + strings.Join(params, ", ") + ")" + constant
}
