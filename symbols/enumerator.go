package symbols

import (
	"dbg/dwarf"
	"dbg/symbols/spelling"
)

// Enumerator finds a constant of an enumeration by its name: "RED", "ns::RED" and,
// for a scoped enumeration or not, "ns::Color::RED".
func (m *Module) Enumerator(name string) (t *Type, value int64, ok bool) {
	q, valid := spelling.ParseQuery(name)
	if !valid || q.Params != "" {
		return nil, 0, false
	}
	for _, d := range m.named(q.Last(), nameEnumerator).enums {
		e, err := d.Unit.Entry(d.Off)
		if err != nil {
			continue
		}
		found := false
		e.Walk(func(c *dwarf.Entry, _ int) bool {
			found = found || c.Tag == dwarf.TagEnumerator && string(c.Bytes(dwarf.AttrName)) == q.Last()
			return false
		}, nil)
		if !found || !m.scopeMatches(e, q) {
			continue
		}
		t := m.typeAt(d)
		if t == nil {
			continue
		}
		for _, c := range t.Enumerators() {
			if c.Name == q.Last() {
				return t, c.Value, true
			}
		}
	}
	return nil, 0, false
}

// scopeMatches reports whether a query's scope can be that of an enumeration's constants:
// the enumeration, or, unless it is scoped, what that is in.
func (m *Module) scopeMatches(e *dwarf.Entry, q spelling.Query) bool {
	name := q.Last()
	if p := m.scopes.Prefix(e); p != "" {
		name = p + "::" + name
	}
	if !e.Flag(dwarf.AttrEnumClass) && q.Matches(name) {
		return true
	}
	if of := m.scopes.Qualified(e); of != "" && len(q.Parts) > 1 {
		return q.Matches(of + "::" + q.Last())
	}
	return false
}
