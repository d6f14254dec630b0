package types

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// rustBody writes a type of Rust as Rust declares it, as gdb does. Fields are in the order of the
// declaration or, with offsets, in the order of memory: rustc changes it.
func (d *definer) rustBody(t *Type, at *layout) string {
	switch vs := t.Variants(); {
	case t.Kind == Enum:
		return d.rustEnum(t)
	case vs != nil && len(vs.All) > 0:
		return d.rustVariants(t, vs)
	case strings.HasPrefix(t.Name, "("):
		if !d.opt.Offsets {
			return t.Name
		}
	}
	keyword := "struct "
	if t.Kind == Union {
		keyword = "union "
	}
	fields := t.Fields()
	if len(fields) == 0 {
		return keyword + t.Name
	}
	var w strings.Builder
	w.WriteString(keyword + t.Name)
	d.rustFields(&w, t, at, 0)
	return w.String()
}

// rustFields writes the members of a structure, or of the data of a variant, between brackets. indent is
// that of the line with the opening bracket.
func (d *definer) rustFields(w *strings.Builder, t *Type, at *layout, indent int) {
	fields := slices.Clone(t.Fields())
	open, end := " {\n", "}"
	tuple := rustTuple(fields)
	if tuple {
		open, end = " (\n", ")"
	}
	if d.opt.Offsets {
		slices.SortStableFunc(fields, func(a, b Field) int { return cmp.Compare(a.Offset, b.Offset) })
	}
	w.WriteString(open)
	for i := range fields {
		if d.left--; d.left < 0 {
			break
		}
		f := &fields[i]
		start := "  "
		if d.opt.Offsets {
			start = at.column(f, t.Kind == Union, d.opt.Hex) + strings.Repeat(" ", indent+4)
		}
		name := f.Name + ": "
		if tuple {
			name = ""
		}
		w.WriteString(start + name + rustName(f.Type, 0) + ",\n")
	}
	if d.opt.Offsets {
		d.rustEnd(w, t, at, indent)
	}
	w.WriteString(end)
}

// rustEnd writes the padding and the size of a type with offsets.
func (d *definer) rustEnd(w *strings.Builder, t *Type, at *layout, indent int) {
	if t.Kind != Union {
		w.WriteString(at.gap(t.Size*8, "padding"))
	}
	margin := layoutWidth + indent
	fmt.Fprintf(w, "\n%*s/* total size (bytes): %4d */\n", margin+4, "", t.Size)
	if indent == 0 {
		margin += 2
	}
	w.WriteString(strings.Repeat(" ", margin))
}

// rustTuple reports whether the members are those of a tuple: __0, __1, …
func rustTuple(fields []Field) bool {
	for i := range fields {
		if fields[i].Name != fmt.Sprintf("__%d", i) {
			return false
		}
	}
	return len(fields) > 0
}

// rustEnum writes an enumeration without data. A value that does not follow from the one before is
// written, too.
func (d *definer) rustEnum(t *Type) string {
	var w strings.Builder
	w.WriteString("enum " + t.Name + " {\n")
	next := int64(0)
	for _, c := range t.Enumerators() {
		if d.left--; d.left < 0 {
			break
		}
		w.WriteString("  " + c.Name)
		if c.Value != next {
			fmt.Fprintf(&w, " = %d", c.Value)
		}
		w.WriteString(",\n")
		next = c.Value + 1
	}
	return w.String() + "}"
}

// rustVariants writes an enumeration with data: one line for each variant.
func (d *definer) rustVariants(t *Type, vs *Variants) string {
	var w strings.Builder
	w.WriteString("enum " + t.Name + " {\n")
	for i := range vs.All {
		for _, f := range vs.All[i].Fields {
			if d.left--; d.left < 0 {
				break
			}
			if !d.opt.Offsets {
				w.WriteString("  " + f.Name + rustData(f.Type) + ",\n")
				continue
			}
			w.WriteString((&layout{}).column(&f, false, d.opt.Hex) + "    " + f.Name)
			if of := f.Type.Strip(); len(of.Fields()) > 0 {
				d.rustFields(&w, of, &layout{start: f.Offset * 8}, 4)
			}
			w.WriteString(",\n")
		}
	}
	if d.opt.Offsets {
		d.rustEnd(&w, t, &layout{}, 0)
	}
	return w.String() + "}"
}

// rustData writes the data of a variant: "(u32)", "{x: u8, y: u64}".
func rustData(t *Type) string {
	fields := t.Strip().Fields()
	if len(fields) == 0 || len(fields) > 1000 {
		return ""
	}
	tuple := rustTuple(fields)
	var parts []string
	for i := range fields {
		part := rustName(fields[i].Type, 0)
		if !tuple {
			part = fields[i].Name + ": " + part
		}
		parts = append(parts, part)
	}
	if tuple {
		return "(" + strings.Join(parts, ", ") + ")"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// rustName returns the name of a type. rustc leaves some pointers without a name.
func rustName(t *Type, depth int) string {
	if t != nil && t.Kind == Pointer && t.Name == "" && depth < maxTypeDepth && t.ElemAsDeclared() != nil {
		return "*mut " + rustName(t.ElemAsDeclared(), depth+1)
	}
	return t.String()
}
