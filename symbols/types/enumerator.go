package types

import (
	"dbg/dwarf"
	"dbg/symbols/spelling"
)

// Enumerator returns the constant of an enumeration with a name, and the enumeration: "RED",
// "ns::RED", and for any enumeration, scoped or not, "ns::Color::RED". ok is false if there is
// none.
func (r *Reader) Enumerator(name string) (t *Type, value int64, ok bool) {
	q, valid := spelling.ParseQuery(name)
	if !valid || q.Params != "" {
		return nil, 0, false
	}
	for _, d := range r.finder.EnumerationsWith(q.Last()) {
		e, err := d.Unit.Entry(d.Off)
		if err != nil {
			continue
		}
		found := false
		e.Walk(func(c *dwarf.Entry, _ int) bool {
			found = found || c.Tag == dwarf.TagEnumerator && string(c.Bytes(dwarf.AttrName)) == q.Last()
			return false
		}, nil)
		if !found || !r.scopeMatches(e, q) {
			continue
		}
		t := r.At(d)
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

// scopeMatches reports whether a query's scope can be that of an enumeration's constants: the
// enumeration itself, or, unless that is scoped, the scope around it.
func (r *Reader) scopeMatches(e *dwarf.Entry, q spelling.Query) bool {
	name := q.Last()
	if p := r.scopes.Prefix(e); p != "" {
		name = p + "::" + name
	}
	if !e.Flag(dwarf.AttrEnumClass) && q.Matches(name) {
		return true
	}
	if of := r.scopes.Qualified(e); of != "" && len(q.Parts) > 1 {
		return q.Matches(of + "::" + q.Last())
	}
	return false
}
