package symbols

import "dbg/dwarf"

// Enumerator finds a constant of an enumeration by its name: "RED", "ns::RED" and,
// for a scoped enumeration or not, "ns::Color::RED".
func (m *Module) Enumerator(name string) (t *Type, value int64, ok bool) {
	q, valid := parseQuery(name)
	if !valid || q.params != "" {
		return nil, 0, false
	}
	for _, d := range m.named(q.last(), nameEnumerator).enums {
		e, err := d.unit.Entry(d.off)
		if err != nil {
			continue
		}
		found := false
		e.Walk(func(c *dwarf.Entry, _ int) bool {
			found = found || c.Tag == dwarf.TagEnumerator && string(c.Bytes(dwarf.AttrName)) == q.last()
			return false
		}, nil)
		if !found || !m.scopes(e, q) {
			continue
		}
		t := m.typeAt(d)
		if t == nil {
			continue
		}
		for _, c := range t.Enumerators() {
			if c.Name == q.last() {
				return t, c.Value, true
			}
		}
	}
	return nil, 0, false
}

// scopes reports whether a query's scope can be that of an enumeration's constants:
// the enumeration, or, unless it is scoped, what that is in.
func (m *Module) scopes(e *dwarf.Entry, q query) bool {
	name := q.last()
	if p := m.unit(e.Unit).prefix(e.Offset); p != "" {
		name = p + "::" + name
	}
	if !e.Flag(dwarf.AttrEnumClass) && q.matchesName(name) {
		return true
	}
	if of := m.qualifiedName(e); of != "" && len(q.parts) > 1 {
		return q.matchesName(of + "::" + q.last())
	}
	return false
}
