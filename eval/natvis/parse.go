package natvis

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
)

// Parse reads a file. name is its name in problems; nothing is opened. The file is never nil: it
// has what could be read. The problems are in the order of the file.
func Parse(name string, data []byte) (*File, []Problem) {
	data = decode(data)
	p := &parser{log: newLog(name, nil), file: &File{Name: name}}
	if len(data) > maxFile {
		p.error(0, "the file has more than %d bytes", maxFile)
		return p.file, p.problems
	}
	p.log = newLog(name, data)
	x := &xmlReader{log: p.log, data: data}
	root := x.root()
	switch {
	case root == nil:
		return p.file, p.problems
	case root.name != "AutoVisualizer":
		p.error(root.offset, "the root of a .natvis file is <AutoVisualizer>, not <%s>", root.name)
		return p.file, p.problems
	}
	p.unused(root)
	for e := x.child(); e != nil; e = x.child() {
		if len(p.file.Types) >= maxTypes {
			p.error(e.offset, "the file has more than %d types", maxTypes)
			break
		}
		p.topLevel(e)
	}
	return p.file, p.sorted()
}

// decode returns the text of a file as UTF-8: a byte order mark tells that it is UTF-16.
func decode(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		return rest
	}
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	data = data[2:min(len(data), maxFile+2)]
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// A parser makes the model from elements.
type parser struct {
	*log
	file *File
}

// topLevel reads a child of AutoVisualizer (Natvis, "AutoVisualizer element").
func (p *parser) topLevel(e *element) {
	switch e.name {
	case "Type":
		if t := p.typeElement(e); t != nil {
			p.file.Types = append(p.file.Types, t)
		}
	case "Intrinsic":
		if f := p.intrinsic(e); f != nil {
			p.file.Intrinsics = append(p.file.Intrinsics, f)
		}
	case "Version":
		p.version(&p.file.Version, e)
	case "HResult", "UIVisualizer", "CustomVisualizer", "LocalizedStrings":
		p.unsupported(e)
	default:
		p.unknown(e, "AutoVisualizer")
	}
}

// typeElement reads a Type (Natvis, "Type element"), or returns nil.
func (p *parser) typeElement(e *element) *Type {
	if e.broken {
		return nil
	}
	t := &Type{File: p.file, Pos: p.pos(e.offset), Views: p.views(e)}
	pattern, ok := p.pattern(e, Pattern{Priority: Medium, Inheritable: true})
	if !ok {
		return nil
	}
	t.Patterns = []Pattern{pattern}
	if p.bool(e, "Optional", false) {
		p.warn(e.offset, "the attribute Optional has no meaning for a Type")
	}
	p.unused(e)
	for _, c := range e.children {
		if c.broken {
			continue
		}
		switch c.name {
		case "AlternativeType":
			if alternative, ok := p.pattern(c, pattern); ok {
				t.Patterns = append(t.Patterns, alternative)
			}
			p.leaf(c)
		case "Version":
			p.version(&t.Version, c)
		case "Intrinsic":
			if f := p.intrinsic(c); f != nil {
				t.Intrinsics = append(t.Intrinsics, f)
			}
		case "MostDerivedType":
			m := MostDerived{Common: p.common(c), IgnoreVTable: p.bool(c, "IgnoreVTable", false)}
			if p.value(&m.Value, c) {
				t.MostDerived = append(t.MostDerived, m)
			}
		case "SmartPointer":
			if p.once(c, t.Smart != nil) {
				t.Smart = p.smartPointer(c)
			}
		case "DisplayString":
			t.Displays = p.displayString(t.Displays, c)
		case "StringView":
			t.Strings = p.stringView(t.Strings, c)
		case "Expand":
			if p.once(c, t.Expand != nil) {
				t.Expand = p.expand(c)
			}
		case "CustomVisualizer", "UIVisualizer":
			p.unsupported(c)
		default:
			p.unknown(c, e.name)
		}
	}
	p.noText(e)
	if t.Version == nil {
		t.Version = p.file.Version
	}
	return t
}

// pattern reads the name of a Type or an AlternativeType, and what a view of this name has.
func (p *parser) pattern(e *element, inherited Pattern) (Pattern, bool) {
	name, ok := p.required(e, "Name")
	if !ok {
		return Pattern{}, false
	}
	if len(name.text) > maxText {
		p.error(name.offset(0), "the name of the type has more than %d bytes", maxText)
		return Pattern{}, false
	}
	result := Pattern{Name: ParseTypeName(name.text), Pos: p.pos(name.offset(0))}
	result.Priority = Priority(p.enum(e, "Priority", priorityNames, int(inherited.Priority)))
	result.Inheritable = p.bool(e, "Inheritable", inherited.Inheritable)
	if strayWildcard(name.text, result.Name) {
		p.warn(name.offset(0), "* is a wildcard only as a whole template argument: this view serves no class")
	}
	return result, true
}

// version reads a Version (Natvis, "Version element").
func (p *parser) version(v **Version, e *element) {
	if e.broken || !p.once(e, *v != nil) {
		return
	}
	name, ok := p.required(e, "Name")
	if !ok {
		return
	}
	*v = &Version{Module: name.text, Min: p.text(e, "Min"), Max: p.text(e, "Max"), Pos: p.pos(e.offset)}
	p.warn(e.offset, "Version is not supported: the view is used for every version of %s", name.text)
	p.leaf(e)
}

// intrinsic reads an Intrinsic (natvis.xsd, "IntrinsicType"), or returns nil.
func (p *parser) intrinsic(e *element) *Intrinsic {
	if e.broken {
		return nil
	}
	f := &Intrinsic{Common: p.common(e)}
	name, ok := p.identifier(e, "Name")
	if !ok {
		return nil
	}
	f.Name = name
	f.ReturnType = p.text(e, "ReturnType")
	f.Category = p.text(e, "Category")
	f.SideEffect = p.bool(e, "SideEffect", false)
	f.Varargs = p.bool(e, "Varargs", false)
	for _, ids := range []string{"SourceId", "LanguageId", "Id"} {
		p.attr(e, ids)
	}
	expression := p.attr(e, "Expression")
	p.unused(e)
	for _, c := range e.children {
		if c.broken {
			return nil // the parameters count
		}
		if c.name != "Parameter" {
			p.unknown(c, e.name)
			continue
		}
		typ, ok := p.required(c, "Type")
		if !ok {
			return nil
		}
		param := Parameter{Type: typ.text, Pos: p.pos(c.offset)}
		if p.has(c, "Name") {
			if param.Name, ok = p.identifier(c, "Name"); !ok {
				return nil
			}
		}
		f.Params = append(f.Params, param)
		p.leaf(c)
	}
	p.noText(e)
	if expression == nil {
		p.warn(e.offset, "an Intrinsic without Expression is not supported: Visual Studio's extensions implement it")
		return nil
	}
	if f.Expression, ok = p.expr(expression.value); !ok {
		p.error(expression.offset, "the Expression of the Intrinsic %s is empty", f.Name)
		return nil
	}
	return f
}

// smartPointer reads a SmartPointer (natvis.xsd, "SmartPointerType"), or returns nil.
func (p *parser) smartPointer(e *element) *SmartPointer {
	s := &SmartPointer{Common: p.common(e)}
	if _, ok := p.required(e, "Usage"); !ok {
		return nil
	}
	s.Usage = Usage(p.enum(e, "Usage", usageNames, int(Minimal)))
	s.DefaultExpansion = p.bool(e, "DefaultExpansion", true)
	if !p.value(&s.Value, e) {
		return nil
	}
	return s
}

// displayString adds a DisplayString (Natvis, "DisplayString element").
func (p *parser) displayString(list []Display, e *element) []Display {
	d := Display{Common: p.common(e)}
	for _, name := range []string{"LegacyAddin", "Export", "Encoding"} {
		if a := p.attr(e, name); a != nil && name == "LegacyAddin" {
			p.warn(a.offset, "LegacyAddin is not supported: the display string is used")
		}
	}
	p.unused(e)
	p.noChildren(e)
	parts, ok := p.display(e.text.unindent())
	if !ok {
		return list
	}
	d.Parts = parts
	return append(list, d)
}

// stringView adds a StringView (Natvis, "StringView element").
func (p *parser) stringView(list []StringView, e *element) []StringView {
	s := StringView{Common: p.common(e)}
	if !p.value(&s.Value, e) {
		return list
	}
	return append(list, s)
}

// strayWildcard reports whether a name has a "*" that is not a wildcard and not a pointer in a
// template argument or in a function's type.
func strayWildcard(text string, name *TypeName) bool {
	if name.Parts == nil {
		return slices.ContainsFunc(lexType(text), func(t token) bool { return t.text == "*" })
	}
	return strings.Contains(name.Suffix, "*")
}
