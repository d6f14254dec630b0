package natvis

// expand reads an Expand (Natvis, "Expand element").
func (p *parser) expand(e *element) *Expand {
	result := &Expand{HideRawView: p.bool(e, "HideRawView", false), Pos: p.pos(e.offset)}
	p.unused(e)
	p.noText(e)
	for _, c := range e.children {
		if c.broken {
			continue
		}
		if item, ok := p.item(c); ok {
			result.Items = append(result.Items, item)
		}
	}
	return result
}

// item reads a child of Expand. ok is false, with a problem, if it is dropped.
func (p *parser) item(e *element) (item Item, ok bool) {
	switch e.name {
	case "Item":
		i := &ItemValue{Common: p.common(e)}
		name, ok := p.required(e, "Name")
		i.Name = name.text
		return i, p.value(&i.Value, e) && ok
	case "ExpandedItem":
		i := &ExpandedItem{Common: p.common(e)}
		return i, p.value(&i.Value, e)
	case "Synthetic":
		return p.synthetic(e)
	case "ArrayItems":
		return p.arrayItems(e)
	case "IndexListItems":
		return p.indexListItems(e)
	case "LinkedListItems":
		return p.linkedListItems(e)
	case "TreeItems":
		return p.treeItems(e)
	case "CustomListItems":
		return p.customListItems(e)
	}
	p.unknown(e, "Expand")
	return nil, false
}

// synthetic reads a Synthetic (Natvis, "Synthetic item expansion").
func (p *parser) synthetic(e *element) (Item, bool) {
	s := &Synthetic{Common: p.common(e)}
	name, ok := p.required(e, "Name")
	s.Name = name.text
	if a := p.attr(e, "Expression"); a != nil {
		if x, ok := p.expr(a.value); ok {
			s.Expression = &x
		}
	}
	p.unused(e)
	p.noText(e)
	for _, c := range e.children {
		if c.broken {
			continue
		}
		switch c.name {
		case "DisplayString":
			s.Displays = p.displayString(s.Displays, c)
		case "StringView":
			s.Strings = p.stringView(s.Strings, c)
		case "Expand":
			if p.once(c, s.Expand != nil) {
				s.Expand = p.expand(c)
			}
		case "CustomVisualizer":
			p.unsupported(c)
		default:
			p.unknown(c, e.name)
		}
	}
	return s, ok
}

// A part is one kind of child of an element of Expand.
type part struct {
	name     string
	required bool
	read     func(c *element) bool
}

// parts reads the children of an element. It reports false if one is broken or missing.
func (p *parser) parts(e *element, parts ...part) bool {
	p.unused(e)
	p.noText(e)
	found := make([]bool, len(parts))
	ok := true
children:
	for _, c := range e.children {
		if c.broken {
			ok = false
			continue
		}
		for i, part := range parts {
			if part.name == c.name {
				found[i] = true
				ok = part.read(c) && ok
				continue children
			}
		}
		p.unknown(c, e.name)
	}
	for i, part := range parts {
		if part.required && !found[i] {
			p.error(e.offset, "<%s> has no <%s>", e.name, part.name)
			ok = false
		}
	}
	return ok
}

// exprPart is a child that is one expression.
func (p *parser) exprPart(name string, v *Expr) part {
	return part{name, true, func(c *element) bool {
		if v.Text != "" {
			p.once(c, true)
			return true
		}
		return p.value(v, c)
	}}
}

// optionalPart is a child that is one expression and may be missing.
func (p *parser) optionalPart(name string, v **Expr) part {
	return part{name, false, func(c *element) bool {
		if !p.once(c, *v != nil) {
			return true
		}
		*v = new(Expr)
		return p.value(*v, c)
	}}
}

// choicePart is a child of which several may be there, with conditions.
func (p *parser) choicePart(name string, required bool, list *[]Choice) part {
	return part{name, required, func(c *element) bool {
		choice := Choice{Common: p.common(c)}
		if !p.value(&choice.Value, c) {
			return false
		}
		*list = append(*list, choice)
		return true
	}}
}

// nodePart is a ValueNode. Without an expression it is the node itself (natvis.xsd,
// "ListItemsNodeType").
func (p *parser) nodePart(node *ValueNode) part {
	return part{"ValueNode", true, func(c *element) bool {
		if node.Pos != (Pos{}) {
			p.once(c, true)
			return true
		}
		var ok bool
		*node, ok = p.valueNode(c)
		return ok
	}}
}

func (p *parser) valueNode(c *element) (node ValueNode, ok bool) {
	node = ValueNode{Common: p.common(c)}
	ok = true
	if a := p.attr(c, "Name"); a != nil {
		node.Name, ok = p.display(a.value)
	}
	p.leafAttributes(c)
	var some bool
	if node.Value, some = p.expr(c.text); !some {
		node.Value = Expr{Text: "this", Pos: node.Pos}
	}
	return node, ok
}

// arrayItems reads ArrayItems (Natvis, "ArrayItems expansion").
func (p *parser) arrayItems(e *element) (Item, bool) {
	a := &ArrayItems{Common: p.common(e)}
	direction := part{"Direction", false, func(c *element) bool {
		p.leafAttributes(c)
		switch c.text.trim().text {
		case "Forward":
			a.Backward = false
		case "Backward":
			a.Backward = true
		default:
			p.error(c.offset, "Direction is Forward or Backward, not %q", c.text.trim().text)
			return false
		}
		return true
	}}
	ok := p.parts(e, direction, p.optionalPart("Rank", &a.Rank), p.choicePart("Size", true, &a.Sizes),
		p.optionalPart("LowerBound", &a.LowerBound), p.choicePart("ValuePointer", true, &a.ValuePointers))
	return a, ok
}

// indexListItems reads IndexListItems (Natvis, "IndexListItems expansion").
func (p *parser) indexListItems(e *element) (Item, bool) {
	l := &IndexListItems{Common: p.common(e)}
	node := part{"ValueNode", true, func(c *element) bool {
		node := ValueNode{Common: p.common(c)}
		ok := true
		if a := p.attr(c, "Name"); a != nil {
			node.Name, ok = p.display(a.value)
		}
		if !p.value(&node.Value, c) || !ok {
			return false
		}
		l.ValueNodes = append(l.ValueNodes, node)
		return true
	}}
	return l, p.parts(e, p.choicePart("Size", true, &l.Sizes), node)
}

// linkedListItems reads LinkedListItems (Natvis, "LinkedListItems expansion").
func (p *parser) linkedListItems(e *element) (Item, bool) {
	l := &LinkedListItems{Common: p.common(e)}
	return l, p.parts(e, p.choicePart("Size", false, &l.Sizes), p.exprPart("HeadPointer", &l.Head),
		p.exprPart("NextPointer", &l.Next), p.nodePart(&l.Value))
}

// treeItems reads TreeItems (Natvis, "TreeItems expansion").
func (p *parser) treeItems(e *element) (Item, bool) {
	t := &TreeItems{Common: p.common(e)}
	return t, p.parts(e, p.choicePart("Size", false, &t.Sizes), p.exprPart("HeadPointer", &t.Head),
		p.exprPart("LeftPointer", &t.Left), p.exprPart("RightPointer", &t.Right), p.nodePart(&t.Value))
}
