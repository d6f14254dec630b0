package types

import (
	"dbg/dwarf"
	"dbg/symbols/entry"
)

// TemplateArg is an argument of a class template.
type TemplateArg struct {
	Name  string // of the parameter, "" if it has none
	Type  *Type  // of a type argument: the type; of a value argument: the value's type
	Value int64  // of a value argument
	Const bool   // it is a value argument, and Value is known

	IsType bool // it is a type argument that belongs to no parameter pack
}

const (
	tagTemplatePack = dwarf.Tag(0x4107) // DW_TAG_GNU_template_parameter_pack
	maxInner        = 1 << 12           // template arguments, or member types, of a class
)

// inside is what a class has besides its members.
type inside struct {
	args  []TemplateArg
	types map[string]func() *Type
}

// TemplateArgs returns the arguments of an instance of a class template, those of parameter packs one by
// one. It returns nil for other types.
func (t *Type) TemplateArgs() []TemplateArg {
	if t.inside == nil {
		return nil
	}
	return t.inside().args
}

// Inner returns the member type with a name (a nested class, an enumeration or a typedef) of a class
// itself, without its bases. It returns nil if the debug information has none: compilers leave out those
// that the program does not use.
func (t *Type) Inner(name string) *Type {
	if t.inside == nil {
		return nil
	}
	f := t.inside().types[name]
	if f == nil {
		return nil
	}
	return f()
}

// readInside reads what composite does not read.
func (r *Reader) readInside(class *dwarf.Entry) *inside {
	in := &inside{types: map[string]func() *Type{}}
	var walk func(e *dwarf.Entry, depth int)
	walk = func(e *dwarf.Entry, depth int) {
		e.Walk(func(c *dwarf.Entry, _ int) bool {
			switch c.Tag {
			case dwarf.TagTemplateType, dwarf.TagTemplateValue:
				if len(in.args) < maxInner {
					a := r.templateArg(c)
					a.IsType = depth == 0 && c.Tag == dwarf.TagTemplateType
					in.args = append(in.args, a)
				}
			case tagTemplatePack:
				if depth == 0 {
					if pack, err := c.Unit.Entry(c.Offset); err == nil {
						walk(pack, depth+1)
					}
				}
			case dwarf.TagTypedef, dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagEnumerationType:
				if name := entry.Name(c); name != "" && len(in.types) < maxInner {
					at := entry.Of(c)
					in.types[name] = func() *Type { return r.At(at) }
				}
			}
			return false
		}, nil)
	}
	walk(class, 0)
	return in
}

func (r *Reader) templateArg(c *dwarf.Entry) TemplateArg {
	a := TemplateArg{Name: entry.Name(c), Type: r.Of(c)}
	if a.Type == nil {
		a.Type = &Type{Kind: Void, Name: "void"}
	}
	if v := c.Find(dwarf.AttrConstValue); v != nil && v.IsConst() {
		a.Const, a.Value = true, int64(v.Num)
		if a.Type.Strip().Signed {
			a.Value = v.Signed()
		}
	}
	return a
}
