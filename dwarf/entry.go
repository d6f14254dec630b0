package dwarf

import (
	"fmt"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

// Entry is a debugging information entry (DIE).
type Entry struct {
	Unit     *Unit
	Offset   uint64
	Tag      Tag // 0 for the null entry that ends a list of children
	Children bool
	Vals     []Value
	End      uint64 // offset after the attributes: of the first child, or of the next entry
}

// Value is an attribute with its value as stored in the entry.
type Value struct {
	Attr Attr
	form.Value
}

// Entry reads the entry at an offset of this unit.
func (u *Unit) Entry(off uint64) (*Entry, error) {
	e := &Entry{}
	if err := u.Read(off, e); err != nil {
		return nil, err
	}
	if e.Tag == 0 {
		return nil, fmt.Errorf("no entry at 0x%x", off)
	}
	return e, nil
}

// EntryAt reads an entry of any unit.
func (d *Data) EntryAt(off uint64) (*Entry, error) {
	u := d.UnitOf(off)
	if u == nil {
		return nil, fmt.Errorf("no unit contains offset 0x%x", off)
	}
	return u.Entry(off)
}

// Read reads the entry at an offset into e, and reuses e.Vals. A null entry has Tag 0.
func (u *Unit) Read(off uint64, e *Entry) error {
	t, err := u.abbrevTable()
	if err != nil {
		return err
	}
	if off < u.First || off >= u.End {
		return fmt.Errorf("offset 0x%x is not in the unit at 0x%x", off, u.Offset)
	}
	b, err := u.Data.upTo(u.section(), u.End-u.base)
	if err != nil {
		return u.entryError(off, err)
	}
	r := bytecursor.Cursor{Data: b, Pos: int(off - u.base), Big: u.Data.big}
	e.Unit, e.Offset, e.Tag, e.Children, e.Vals = u, off, 0, false, e.Vals[:0]
	code := r.ULEB()
	if r.Err() != nil {
		return u.entryError(off, r.Err())
	}
	if code == 0 {
		e.End = uint64(r.Pos) + u.base
		return nil
	}
	a := t.find(code)
	if a == nil {
		return u.entryError(off, fmt.Errorf("unknown abbreviation code %d", code))
	}
	e.Tag, e.Children = a.tag, a.children
	sizes := u.sizes()
	for i := range a.attrs {
		s := &a.attrs[i]
		v := Value{s.attr, form.Value{Form: s.form}}
		v.Read(&r, sizes, s.implicit)
		e.Vals = append(e.Vals, v)
	}
	if r.Err() != nil {
		return u.entryError(off, r.Err())
	}
	e.End = uint64(r.Pos) + u.base
	return nil
}

// Find returns the attribute, or nil if the entry does not have it.
func (e *Entry) Find(a Attr) *Value {
	for i := range e.Vals {
		if e.Vals[i].Attr == a {
			return &e.Vals[i]
		}
	}
	return nil
}

// Has reports whether the entry has an attribute.
func (e *Entry) Has(a Attr) bool { return e.Find(a) != nil }

// Flag reports whether the entry has a flag that is set.
func (e *Entry) Flag(a Attr) bool {
	v := e.Find(a)
	return v != nil && v.Num != 0
}

// Walk calls visit for each entry below e in preorder; e itself is not visited. visit returns
// whether to descend into the entry's children; depth is 1 for e's children. After the children of
// an entry that Walk descended into it calls leave, if that is not nil. The entry that visit
// receives is reused.
func (e *Entry) Walk(visit func(c *Entry, depth int) (into bool), leave func(end uint64, depth int)) error {
	if !e.Children {
		return nil
	}
	return e.Unit.walk(e.End, visit, leave)
}

// maxDepth limits the nesting of entries. Real programs stay below a few hundred levels.
const maxDepth = 10000

func (u *Unit) walk(off uint64, visit func(c *Entry, depth int) bool, leave func(end uint64, depth int)) error {
	var c Entry
	depth := 1
	for depth > 0 {
		if off >= u.End {
			return nil // some producers omit the last null entries
		}
		if err := u.Read(off, &c); err != nil {
			return err
		}
		off = c.End
		if c.Tag == 0 {
			depth--
			if leave != nil && depth > 0 {
				leave(off, depth)
			}
			continue
		}
		into := visit(&c, depth)
		if !c.Children {
			continue
		}
		if into {
			if depth++; depth > maxDepth {
				return u.entryError(off, errNested)
			}
			continue
		}
		next, err := c.AfterChildren()
		if err != nil {
			return err
		}
		off = next
	}
	return nil
}

// AfterChildren returns the offset after the entry and its descendants.
func (e *Entry) AfterChildren() (uint64, error) {
	if !e.Children {
		return e.End, nil
	}
	u := e.Unit
	if v := e.Find(AttrSibling); v != nil {
		// Accept forward references only, because a corrupt file could cause a loop.
		if _, off, ok := e.reference(v); ok && off > e.End && off < u.End {
			return off, nil
		}
	}
	var c Entry
	off := e.End
	for depth := 1; depth > 0; {
		if off >= u.End {
			return u.End, nil
		}
		if err := u.Read(off, &c); err != nil {
			return 0, err
		}
		off = c.End
		switch {
		case c.Tag == 0:
			depth--
		case c.Children:
			if v := c.Find(AttrSibling); v != nil {
				if _, to, ok := c.reference(v); ok && to > off && to < u.End {
					off = to
					continue
				}
			}
			depth++
		}
	}
	return off, nil
}
