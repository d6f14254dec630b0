package natvis

import (
	"slices"
	"strings"
)

// attr returns an attribute, or nil if there is none.
func (p *parser) attr(e *element, name string) *attribute {
	for i := range e.attrs {
		if e.attrs[i].name == name {
			e.attrs[i].used = true
			return &e.attrs[i]
		}
	}
	return nil
}

func (p *parser) has(e *element, name string) bool { return p.attr(e, name) != nil }

// text returns the value of an attribute, or "".
func (p *parser) text(e *element, name string) string {
	if a := p.attr(e, name); a != nil {
		return a.value.trim().text
	}
	return ""
}

// required returns the value of an attribute. ok is false, and a problem is reported, if it is
// empty or missing.
func (p *parser) required(e *element, name string) (value source, ok bool) {
	a := p.attr(e, name)
	if a == nil {
		p.error(e.offset, "<%s> has no attribute %s", e.name, name)
		return source{}, false
	}
	if value = a.value.trim(); value.text == "" {
		p.error(a.offset, "the attribute %s of <%s> is empty", name, e.name)
		return source{}, false
	}
	return value, true
}

// identifier returns the value of an attribute that is a name of C++ (natvis.xsd, "CppIdType").
func (p *parser) identifier(e *element, name string) (string, bool) {
	value, ok := p.required(e, name)
	if !ok {
		return "", false
	}
	for i := range len(value.text) {
		if c := value.text[i]; !isWord(c) || i == 0 && '0' <= c && c <= '9' {
			p.error(value.offset(0), "%q is not a name", value.text)
			return "", false
		}
	}
	return value.text, true
}

// bool returns an attribute of the type xs:boolean.
func (p *parser) bool(e *element, name string, missing bool) bool {
	a := p.attr(e, name)
	if a == nil {
		return missing
	}
	switch strings.TrimSpace(a.value.text) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	}
	p.warn(a.value.offset(0), "%s is true or false, not %q", name, a.value.text)
	return missing
}

// enum returns the index of an attribute's value in names.
func (p *parser) enum(e *element, name string, names []string, missing int) int {
	a := p.attr(e, name)
	if a == nil {
		return missing
	}
	if i := slices.Index(names, a.value.trim().text); i >= 0 {
		return i
	}
	p.warn(a.value.offset(0), "%s is one of %s, not %q", name, strings.Join(names, ", "), a.value.text)
	return missing
}

// common reads the attributes that most elements have.
func (p *parser) common(e *element) Common {
	c := Common{Pos: p.pos(e.offset), Views: p.views(e)}
	c.Condition = p.condition(e)
	c.Optional = p.bool(e, "Optional", false)
	name, low, high := p.text(e, "ModuleName"), p.text(e, "ModuleVersionMin"), p.text(e, "ModuleVersionMax")
	if name != "" {
		c.Module = &Version{Module: name, Min: low, Max: high, Pos: c.Pos}
		p.warn(e.offset, "ModuleName is not supported: the element is used for every version of %s", name)
	}
	return c
}

// condition reads the attribute Condition (Natvis, "Condition attribute").
func (p *parser) condition(e *element) *Expr {
	a := p.attr(e, "Condition")
	if a == nil {
		return nil
	}
	c, ok := p.plainExpr(a.value)
	if !ok {
		p.error(a.offset, "the condition of <%s> is empty", e.name)
		return &Expr{Text: "false", Pos: p.pos(a.offset)} // what it guards is not shown
	}
	return &c
}

// views reads IncludeView and ExcludeView: names with semicolons between them.
func (p *parser) views(e *element) Views {
	split := func(name string) (names []string) {
		for _, s := range strings.Split(p.text(e, name), ";") {
			if s = strings.TrimSpace(s); s != "" {
				names = append(names, s)
			}
		}
		return names
	}
	return Views{Include: split("IncludeView"), Exclude: split("ExcludeView")}
}

// value reads the content of an element that is one expression. It reports false, with a problem,
// if it is not.
func (p *parser) value(v *Expr, e *element) bool {
	p.leafAttributes(e)
	x, ok := p.expr(e.text)
	if !ok {
		p.error(e.offset, "<%s> has no expression", e.name)
		return false
	}
	*v = x
	return true
}

// leaf reports what is inside of an element that has attributes only.
func (p *parser) leaf(e *element) {
	p.leafAttributes(e)
	p.noText(e)
}

func (p *parser) leafAttributes(e *element) {
	p.unused(e)
	p.noChildren(e)
}

// unused reports attributes that were not asked for.
func (p *parser) unused(e *element) {
	for _, a := range e.attrs {
		if !a.used && !strings.HasPrefix(a.name, "xml") && !strings.HasPrefix(a.name, "xsi:") {
			p.warn(a.offset, "unknown attribute %s of <%s>", a.name, e.name)
		}
	}
}

func (p *parser) noChildren(e *element) {
	for _, c := range e.children {
		p.unknown(c, e.name)
	}
}

func (p *parser) noText(e *element) {
	if t := e.text.trim(); t.text != "" {
		p.warn(t.offset(0), "text in <%s> is ignored", e.name)
	}
}

func (p *parser) unknown(e *element, parent string) {
	p.warn(e.offset, "unknown element <%s> in <%s>", e.name, parent)
}

func (p *parser) unsupported(e *element) {
	p.warn(e.offset, "<%s> is not supported", e.name)
}

// once reports whether an element is the first of its kind, and a problem if it is not.
func (p *parser) once(e *element, again bool) bool {
	if again {
		p.warn(e.offset, "<%s> is repeated: the first is used", e.name)
	}
	return !again
}
