package natvis

import "strconv"

// The items that a view shows at once (natvis.xsd, "MaxItemsPerViewType").
const (
	defaultItemsPerView = 5000
	mostItemsPerView    = 50_000
)

// customListItems reads CustomListItems (Natvis, "CustomListItems expansion"). One error in the
// program drops all of it: a part of a program does something else.
func (p *parser) customListItems(e *element) (Item, bool) {
	l := &CustomListItems{Common: p.common(e), MaxItemsPerView: defaultItemsPerView}
	if a := p.attr(e, "MaxItemsPerView"); a != nil {
		n, err := strconv.Atoi(a.value.trim().text)
		if err != nil || n < 1 || n > mostItemsPerView {
			p.warn(a.value.offset(0), "MaxItemsPerView is a number from 1 to %d", mostItemsPerView)
		} else {
			l.MaxItemsPerView = n
		}
	}
	p.unused(e)
	p.noText(e)
	ok := true
	var code []*element
	for _, c := range e.children {
		switch {
		case c.broken:
			ok = false
		case c.name == "Variable":
			var v Variable
			if v, ok = p.variable(c, ok); v.Name != "" {
				l.Variables = append(l.Variables, v)
			}
		case c.name == "Size":
			ok = p.choicePart("Size", false, &l.Sizes).read(c) && ok
		case c.name == "Skip":
			if !p.once(c, l.Skip != nil) {
				continue
			}
			s := &Skip{Pos: p.pos(c.offset)}
			var named, read bool
			s.Value, named = p.identifier(c, "Value")
			p.unused(c)
			p.noText(c)
			s.Body, read = p.statements(c.children, "Skip", true)
			l.Skip, ok = s, ok && named && read
		default:
			code = append(code, c)
		}
	}
	body, read := p.statements(code, e.name, false)
	l.Body = body
	return l, ok && read
}

// variable reads a Variable (natvis.xsd, "VariableType").
func (p *parser) variable(e *element, ok bool) (Variable, bool) {
	name, named := p.identifier(e, "Name")
	value, valued := p.required(e, "InitialValue")
	p.leaf(e)
	if !named || !valued {
		return Variable{}, false
	}
	v := Variable{Name: name, Pos: p.pos(e.offset)}
	v.InitialValue, valued = p.plainExpr(value)
	return v, ok && valued
}

// statements reads statements. skipping is true in Skip, where Item is not allowed. ok is false,
// with a problem, if one is broken.
func (p *parser) statements(list []*element, parent string, skipping bool) (code []Statement, ok bool) {
	ok = true
	var branches *If // the If that an Elseif or Else may continue
	for _, e := range list {
		if e.broken {
			ok = false
			continue
		}
		if e.name == "Elseif" || e.name == "Else" {
			if branches == nil {
				p.error(e.offset, "<%s> has no <If> before it", e.name)
				ok = false
				continue
			}
			ok = p.branch(branches, e, skipping) && ok
			if e.name == "Else" {
				branches = nil
			}
			continue
		}
		branches = nil
		pos := p.pos(e.offset)
		switch e.name {
		case "If":
			branches = &If{Pos: pos}
			ok = p.branch(branches, e, skipping) && ok
			code = append(code, branches)
		case "Loop":
			s := &Loop{Condition: p.condition(e), Pos: pos}
			p.unused(e)
			p.noText(e)
			var read bool
			s.Body, read = p.statements(e.children, e.name, skipping)
			ok = ok && read
			code = append(code, s)
		case "Exec":
			s := &Exec{Condition: p.condition(e), Pos: pos}
			p.leafAttributes(e)
			var some bool
			if s.Value, some = p.plainExpr(e.text); some {
				code = append(code, s)
			}
		case "Break":
			s := &Break{Condition: p.condition(e), Pos: pos}
			p.leaf(e)
			code = append(code, s)
		case "Item":
			if skipping {
				p.error(e.offset, "<Item> is not allowed in <Skip>")
				ok = false
				continue
			}
			s := &ListItem{Condition: p.condition(e), Pos: pos}
			named := true
			if a := p.attr(e, "Name"); a != nil {
				s.Name, named = p.display(a.value)
			}
			ok = p.value(&s.Value, e) && named && ok
			code = append(code, s)
		default:
			p.error(e.offset, "unknown element <%s> in <%s>", e.name, parent)
			ok = false
		}
	}
	return code, ok
}

// branch adds an If, Elseif or Else.
func (p *parser) branch(s *If, e *element, skipping bool) bool {
	b := Branch{Condition: p.condition(e), Pos: p.pos(e.offset)}
	ok := true
	if b.Condition == nil && e.name == "Elseif" {
		p.error(e.offset, "<Elseif> has no Condition")
		ok = false
	} else if b.Condition != nil && e.name == "Else" {
		p.error(e.offset, "<Else> has a Condition")
		ok = false
	}
	p.unused(e)
	p.noText(e)
	var read bool
	b.Body, read = p.statements(e.children, e.name, skipping)
	s.Branches = append(s.Branches, b)
	return ok && read
}
