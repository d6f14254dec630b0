package types

import (
	"fmt"
	"strings"

	"dbg/dwarf"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// Definition returns the definition of the type as gdb's ptype prints it. It resolves typedefs, and
// lists a structure's members, a class's methods and an enumeration's constants.
func (t *Type) Definition() string {
	inner := ""
	var quals []string
	of := t
	for range maxTypeDepth {
		if of == nil {
			break
		}
		switch of.Kind {
		case Typedef:
			of = of.Elem()
			continue
		case Const, Volatile:
			w := map[Kind]string{Const: "const", Volatile: "volatile"}[of.Kind]
			quals = append(quals, w+" ")
			of = of.Elem()
			continue
		case Pointer, Reference, RvalueReference:
			if of.Name == "" && of.elem != nil && inner == "" {
				if e := of.Elem(); e != nil && e.resolved().isComposite() {
					inner = map[Kind]string{Pointer: "*", Reference: "&", RvalueReference: "&&"}[of.Kind]
					for _, w := range quals { // of the pointer itself
						inner += " " + strings.TrimSpace(w)
					}
					quals, of = nil, e
					continue
				}
			}
		}
		break
	}
	if of != nil && of.isComposite() {
		text := strings.Join(quals, "") + of.body(0, 1)
		if inner != "" {
			text += " " + inner
		}
		return text
	}
	if of != nil && of.Kind == Opaque && inner == "" {
		return strings.Join(quals, "") + of.baseName() + " {\n    <incomplete type>\n}"
	}
	if inner != "" {
		return t.String()
	}
	return strings.Join(quals, "") + of.String()
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
// down to the depth show.
func (t *Type) body(indent, show int) string {
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
	var w strings.Builder
	w.WriteString(head)
	d := typeWriter{t: t, w: &w, indent: indent, show: show}
	if t.define != nil {
		t.define(&d)
	}
	d.write()
	return w.String()
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

// typeWriter writes the definition of a structure.
type typeWriter struct {
	t            *Type
	w            *strings.Builder
	indent, show int

	bases   []string
	members []writtenMember
	methods []writtenMember
	types   []string // typedefs
}

// writtenMember is a line of a definition.
type writtenMember struct {
	access string
	text   string
}

func (d *typeWriter) write() {
	if len(d.bases) > 0 {
		d.w.WriteString(" : " + strings.Join(d.bases, ", "))
	}
	pad := strings.Repeat(" ", d.indent)
	d.w.WriteString(" {\n")
	if len(d.members)+len(d.methods)+len(d.types) == 0 {
		d.w.WriteString(pad + "    <no data fields>\n")
	}
	// Labels are written if not all members have the access that the keyword gives.
	usual := "public"
	if d.t.class {
		usual = "private"
	}
	labels := false
	for _, list := range [][]writtenMember{d.members, d.methods} {
		for _, m := range list {
			labels = labels || m.access != usual
		}
	}
	access := ""
	line := func(m writtenMember) {
		if labels && m.access != access {
			access = m.access
			d.w.WriteString(pad + "  " + access + ":\n")
		}
		d.w.WriteString(pad + "    " + m.text + ";\n")
	}
	for _, m := range d.members {
		line(m)
	}
	if len(d.methods) > 0 && len(d.members) > 0 {
		d.w.WriteString("\n")
	}
	for _, m := range d.methods {
		line(m)
	}
	if len(d.types) > 0 {
		if len(d.members)+len(d.methods) > 0 {
			d.w.WriteString("\n")
		}
		for _, text := range d.types {
			d.w.WriteString(pad + "    " + text + ";\n")
		}
	}
	d.w.WriteString(pad + "}")
}

// field adds the line of a member.
func (d *typeWriter) field(f *Field, access string) {
	text := ""
	if f.Static {
		text = "static "
	}
	if of := f.Type; of.isComposite() && of.Name == "" && d.show > 0 {
		text += of.body(d.indent+4, d.show-1)
		if f.Name != "" {
			text += " " + f.Name
		}
	} else {
		text += of.Declare(f.Name)
	}
	if f.BitSize > 0 {
		text += fmt.Sprintf(" : %d", f.BitSize)
	}
	d.members = append(d.members, writtenMember{access, text})
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
			}
			d.bases = append(d.bases, text+" "+base.baseName())
		case dwarf.TagMember, dwarf.TagVariable:
			f := r.member(c, t)
			if !c.Flag(dwarf.AttrArtificial) || !strings.HasPrefix(f.Name, "_vptr") {
				d.field(&f, access)
			}
		case dwarf.TagSubprogram:
			if !c.Flag(dwarf.AttrArtificial) {
				d.methods = append(d.methods, writtenMember{access, r.method(c, t)})
			}
		case dwarf.TagTypedef:
			if name, _ := c.String(dwarf.AttrName); name != "" && t.Lang == lang.CPlusPlus {
				d.types = append(d.types, "typedef "+r.Of(c).Declare(name))
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
	if result := r.Of(c); name != class && !strings.HasPrefix(name, "~") && !(result == nil && name == "") && !strings.HasPrefix(name, class+"<") {
		text += result.Declare("") + " "
	}
	return text + name + "(" + strings.Join(params, ", ") + ")" + constant
}
