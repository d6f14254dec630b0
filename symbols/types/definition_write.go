package types

import (
	"fmt"
	"strings"
)

// typeWriter writes the definition of a structure.
type typeWriter struct {
	*definer
	t                    *Type
	w                    *strings.Builder
	indent, show, nested int
	layout               *layout

	bases   []string
	members []writtenMember
	methods []writtenMember
	types   []string // typedefs
	inner   []*Type  // types that are defined in the class

	hidden  bool // it has a pointer to a virtual table, which is not written
	virtual bool // it has a virtual base, whose place is not known
}

// writtenMember is a line of a definition: a member, or a method's text.
type writtenMember struct {
	access string
	text   string
	field  *Field
}

// section is the last of the sections of a definition that was written.
func (d *typeWriter) write() {
	if len(d.bases) > 0 {
		d.w.WriteString(" : " + strings.Join(d.bases, ", "))
	}
	d.w.WriteString(" {\n")
	if len(d.members)+len(d.methods)+len(d.types)+len(d.inner) == 0 {
		d.line("<no data fields>")
	}
	access := ""
	labels := d.labels()
	label := func(m writtenMember) {
		if labels && m.access != access {
			access = m.access
			d.w.WriteString(d.margin() + strings.Repeat(" ", d.indent) + "  " + access + ":\n")
		}
	}
	for _, m := range d.members {
		label(m)
		d.field(m.field)
	}
	d.blank(len(d.methods) > 0 && len(d.members) > 0)
	for _, m := range d.methods {
		label(m)
		d.line(m.text + ";")
	}
	d.blank(len(d.inner) > 0 && len(d.members)+len(d.methods) > 0)
	for _, t := range d.inner {
		plain := &definer{opt: d.opt, left: d.left, open: d.open}
		plain.opt.Offsets = false
		d.line(plain.body(t, d.indent+4, 1, d.nested-1, &layout{}) + ";")
		d.left = plain.left
	}
	d.blank(len(d.types) > 0 && len(d.members)+len(d.methods)+len(d.inner) > 0)
	for _, text := range d.types {
		d.line(text + ";")
	}
	d.end()
}

// labels reports whether "public:" and its like are written: not all members have the access that the
// keyword gives them.
func (d *typeWriter) labels() bool {
	usual := "public"
	if d.t.class {
		usual = "private"
	} else if d.hidden {
		return true // gdb takes the pointer to the virtual table for private
	}
	for _, list := range [][]writtenMember{d.members, d.methods} {
		for _, m := range list {
			if m.access != usual {
				return true
			}
		}
	}
	return false
}

// margin returns the empty column of a line that tells no offset.
func (d *typeWriter) margin() string {
	if d.opt.Offsets {
		return strings.Repeat(" ", layoutWidth)
	}
	return ""
}

func (d *typeWriter) line(text string) {
	d.w.WriteString(d.margin() + strings.Repeat(" ", d.indent+4) + text + "\n")
}

func (d *typeWriter) blank(yes bool) {
	if yes {
		d.w.WriteString("\n")
	}
}

// end writes the end of the structure.
func (d *typeWriter) end() {
	if d.opt.Offsets {
		if d.t.Kind != Union && !d.virtual {
			d.w.WriteString(d.layout.gap(d.t.Size*8, "padding"))
		}
		fmt.Fprintf(d.w, "\n%*s/* total size (bytes): %4d */\n", layoutWidth+d.indent+4, "", d.t.Size)
		if d.indent == 0 {
			d.w.WriteString("  ")
		}
	}
	d.w.WriteString(d.margin() + strings.Repeat(" ", d.indent) + "}")
}

// field writes the line of a member.
func (d *typeWriter) field(f *Field) {
	start := d.margin()
	if d.opt.Offsets && !f.Static {
		start = d.layout.column(f, d.t.Kind == Union, d.opt.Hex)
	}
	text := ""
	if f.Static {
		text = "static "
	}
	within := d.t.Name
	if d.opt.Raw {
		within = ""
	}
	switch of := f.Type; {
	case d.opt.Offsets && !f.Static && of.HasLayout() && of.unqualified().isComposite():
		text += d.opened(f, d.show)
	case of.isComposite() && of.Name == "":
		text += d.opened(f, d.show-1)
	default:
		text += of.declare(f.Name, &budget{left: maxTypeWork, within: within})
	}
	if f.BitSize > 0 {
		text += fmt.Sprintf(" : %d", f.BitSize)
	}
	d.w.WriteString(start + strings.Repeat(" ", d.indent+4) + text + ";\n")
}

// opened writes a member whose type is written out.
func (d *typeWriter) opened(f *Field, show int) string {
	of, quals := f.Type, ""
	for range maxTypeDepth {
		word := map[Kind]string{Const: "const ", Volatile: "volatile "}[of.Kind]
		if word == "" || of.Elem() == nil {
			break
		}
		quals, of = quals+word, of.Elem()
	}
	if d.indent > maxIndent {
		show = -1
	}
	text := quals + d.body(of, d.indent+4, show, 0, &layout{start: d.layout.start + f.Offset*8})
	if f.Name != "" {
		text += " " + f.Name
	}
	return text
}

// maxIndent bounds how deep structures are written in structures, in columns.
const maxIndent = 4 * 32

// unqualified returns the type without const and volatile.
func (t *Type) unqualified() *Type {
	for range maxTypeDepth {
		if t.Kind != Const && t.Kind != Volatile || t.Elem() == nil {
			break
		}
		t = t.Elem()
	}
	return t
}
