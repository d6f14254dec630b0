package dwarf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

// Has is a set of attributes of an entry, of those that searches need.
type Has uint16

// The attributes in Has.
const (
	HasName Has = 1 << iota
	HasLinkageName
	HasDeclaration
	HasSpecification
	HasAbstractOrigin
	HasCode // DW_AT_low_pc or DW_AT_ranges
	HasLocation
	HasConstValue
	HasExternal
	HasInline
)

func hasOf(a Attr) Has {
	switch a {
	case AttrName:
		return HasName
	case AttrLinkageName, AttrMIPSLinkageName:
		return HasLinkageName
	case AttrDeclaration:
		return HasDeclaration
	case AttrSpecification:
		return HasSpecification
	case AttrAbstractOrigin:
		return HasAbstractOrigin
	case AttrLowPC, AttrRanges:
		return HasCode
	case AttrLocation:
		return HasLocation
	case AttrConstValue:
		return HasConstValue
	case AttrExternal:
		return HasExternal
	case AttrInline:
		return HasInline
	}
	return 0
}

// layout is an abbreviation compiled for a unit's sizes. It tells how to skip the attributes of an
// entry.
type layout struct {
	tag       Tag
	has       Has
	children  bool
	known     bool  // the code is declared
	fixed     int32 // size of all attributes in bytes, or -1 if it varies
	siblingAt int32 // offset of DW_AT_sibling, or -1 if it varies or there is none
	nameAt    int32 // offset of DW_AT_name, likewise
	sibling   form.Form
	name      form.Form
	steps     []step
	attrs     []attrSpec
}

// step skips n bytes and then an attribute with the given form, if form is not 0.
type step struct {
	n    int32
	form form.Form
}

// layouts returns the unit's compiled abbreviations, indexed by code. Codes that are not dense are
// missing.
func (u *Unit) layouts() ([]layout, error) {
	t, err := u.abbrevTable()
	if err != nil {
		return nil, err
	}
	key := u.sizes()
	t.mu.Lock()
	defer t.mu.Unlock()
	if list, ok := t.layouts[key]; ok {
		return list, nil
	}
	list := make([]layout, len(t.dense)+1)
	for i := range t.dense {
		list[i+1] = compile(&t.dense[i], key)
	}
	if t.layouts == nil {
		t.layouts = map[form.Sizes][]layout{}
	}
	t.layouts[key] = list
	return list, nil
}

func compile(a *abbrev, sizes form.Sizes) layout {
	s := layout{tag: a.tag, children: a.children, known: true, siblingAt: -1, nameAt: -1, attrs: a.attrs}
	at, varies := 0, false // offset of the attribute, or of the bytes after the last step
	for _, spec := range a.attrs {
		s.has |= hasOf(spec.attr)
		if !varies {
			switch spec.attr {
			case AttrSibling:
				s.siblingAt, s.sibling = int32(at), spec.form
			case AttrName:
				s.nameAt, s.name = int32(at), spec.form
			}
		}
		if n := sizes.Of(spec.form); n >= 0 {
			at += n
			continue
		}
		s.steps = append(s.steps, step{int32(at), spec.form})
		at, varies = 0, true
	}
	s.fixed = -1
	if !varies {
		s.fixed = int32(at)
	} else if at > 0 {
		s.steps = append(s.steps, step{n: int32(at)})
	}
	return s
}

// DeclaresList reports whether an abbreviation of the unit has one of the tags, and the attribute a
// as a reference to a list. Other units may share the abbreviations.
func (u *Unit) DeclaresList(a Attr, tags ...Tag) bool {
	t, err := u.abbrevTable()
	if err != nil {
		return false
	}
	declares := func(b *abbrev) bool {
		return slices.Contains(tags, b.tag) && slices.ContainsFunc(b.attrs, func(s attrSpec) bool {
			return s.attr == a && (s.form == form.Indirect || u.IsList(&Value{Value: form.Value{Form: s.form}}))
		})
	}
	for i := range t.dense {
		if declares(&t.dense[i]) {
			return true
		}
	}
	for _, b := range t.sparse {
		if declares(b) {
			return true
		}
	}
	return false
}

// Cursor iterates over the entries of a unit in file order. It decodes only the attributes that the
// caller asks for, and allocates nothing. It is a plain value: a copy is independent.
type Cursor struct {
	u       *Unit
	layouts []layout
	b       []byte // the section up to the unit's end
	pos     int    // offset of the next entry in b
	depth   int    // of the next entry
	start   int
	attrs   int // offset of the entry's attributes in b
	s       *layout
	d       int
	err     error
}

// Cursor returns a cursor before the entry at off. It iterates over that entry, its descendants,
// its following siblings and theirs.
func (u *Unit) Cursor(off uint64) (Cursor, error) {
	layouts, err := u.layouts()
	if err != nil {
		return Cursor{}, err
	}
	if off < u.First || off >= u.End {
		return Cursor{}, fmt.Errorf("offset 0x%x is not in the unit at 0x%x", off, u.Offset)
	}
	b, err := u.Data.upTo(u.section(), u.End-u.base)
	if err != nil {
		return Cursor{}, u.entryError(off, err)
	}
	return Cursor{u: u, layouts: layouts, b: b, pos: int(off - u.base)}, nil
}

// Err returns the error that ended the iteration early, or nil.
func (c *Cursor) Err() error { return c.err }

// Unit returns the unit of the entries.
func (c *Cursor) Unit() *Unit { return c.u }

// Offset returns the offset of the entry.
func (c *Cursor) Offset() uint64 { return uint64(c.start) + c.u.base }

// End returns the end offset of the entry's own attributes. The first child begins there, if there
// is one.
func (c *Cursor) End() uint64 { return uint64(c.pos) + c.u.base }

// Tag returns the entry's tag.
func (c *Cursor) Tag() Tag { return c.s.tag }

// Has returns the set of attributes that the entry has.
func (c *Cursor) Has() Has { return c.s.has }

// Children reports whether the entry may have children.
func (c *Cursor) Children() bool { return c.s.children }

// Depth returns the entry's depth below the entry at which the cursor was created, which has depth
// 0.
func (c *Cursor) Depth() int { return c.d }

// Next moves to the next entry in file order. It returns false after the last one.
func (c *Cursor) Next() bool {
	for {
		if c.pos >= len(c.b) {
			return false // some producers omit the last null entries
		}
		c.start = c.pos
		code := uint64(c.b[c.pos])
		c.pos++
		if code >= 0x80 {
			if code = c.longCode(); c.err != nil {
				return false
			}
		}
		if code == 0 {
			if c.depth--; c.depth < 0 {
				c.pos = len(c.b)
				return false
			}
			continue
		}
		if code >= uint64(len(c.layouts)) || !c.layouts[code].known {
			return c.sparse(code)
		}
		s := &c.layouts[code]
		c.s, c.attrs, c.d = s, c.pos, c.depth
		if n := int(s.fixed); n >= 0 && n <= len(c.b)-c.pos {
			c.pos += n
		} else if !c.skipAttrs(s) {
			return false
		}
		if s.children {
			if c.depth++; c.depth > maxDepth {
				return c.fail(errNested)
			}
		}
		return true
	}
}

// fail ends the iteration with an error for the entry. It returns false, for use in Next.
func (c *Cursor) fail(err error) bool {
	c.err = c.u.entryError(c.Offset(), err)
	c.pos = len(c.b)
	return false
}

// cutShort is fail for an incomplete attribute at pos.
//
//go:noinline
func (c *Cursor) cutShort(pos int) bool {
	pos = min(pos, len(c.b))
	return c.fail(&bytecursor.Error{Kind: bytecursor.ErrCutShort, Item: "an attribute", Offset: pos})
}

var errNested = errors.New("entries are nested too deeply")

// longCode reads an abbreviation code of several bytes.
func (c *Cursor) longCode() uint64 {
	r := bytecursor.Cursor{Data: c.b, Pos: c.pos - 1}
	v := r.ULEB()
	if c.pos = r.Pos; r.Err() != nil {
		c.fail(r.Err())
		return 0
	}
	return v
}

// sparse continues Next for a code that is not dense.
func (c *Cursor) sparse(code uint64) bool {
	t, err := c.u.abbrevTable()
	if err != nil {
		c.err = err
		return false
	}
	a := t.find(code)
	if a == nil {
		return c.fail(fmt.Errorf("unknown abbreviation code %d", code))
	}
	s := compile(a, c.u.sizes())
	c.s, c.attrs, c.d = &s, c.pos, c.depth
	if !c.skipAttrs(&s) {
		return false
	}
	if s.children {
		if c.depth++; c.depth > maxDepth {
			return c.fail(errNested)
		}
	}
	return true
}

// skipAttrs skips the attributes of an entry whose size varies.
func (c *Cursor) skipAttrs(s *layout) bool {
	if s.fixed >= 0 {
		if int(s.fixed) > len(c.b)-c.pos {
			return c.cutShort(c.pos)
		}
		c.pos += int(s.fixed)
		return true
	}
	pos := c.pos
	for i := range s.steps {
		st := &s.steps[i]
		pos += int(st.n)
		if pos > len(c.b) {
			return c.cutShort(pos)
		}
		switch st.form {
		case 0:
		case form.Udata, form.Sdata, form.RefUdata, form.Strx, form.Addrx, form.Loclistx, form.Rnglistx, form.GNUAddrIndex, form.GNUStrIndex:
			from := pos
			for pos < len(c.b) && c.b[pos] >= 0x80 {
				pos++
			}
			if pos++; pos-from > bytecursor.SureLEB {
				if pos = c.skipForm(from, st.form); pos < 0 {
					return false
				}
			}
		case form.Block1:
			if pos < len(c.b) {
				pos += 1 + int(c.b[pos])
			} else {
				pos++
			}
		case form.Exprloc, form.Block:
			if pos < len(c.b) && c.b[pos] < 0x80 {
				pos += 1 + int(c.b[pos])
			} else if pos = c.skipForm(pos, st.form); pos < 0 {
				return false
			}
		case form.String:
			n := bytes.IndexByte(c.b[pos:], 0)
			if n < 0 {
				return c.cutShort(pos)
			}
			pos += n + 1
		default:
			if pos = c.skipForm(pos, st.form); pos < 0 {
				return false
			}
		}
	}
	if pos > len(c.b) {
		return c.cutShort(pos)
	}
	c.pos = pos
	return true
}

// skipForm returns the end of the attribute at pos. If the attribute is unreadable, it ends the
// iteration and returns -1.
func (c *Cursor) skipForm(pos int, f form.Form) int {
	r := bytecursor.Cursor{Data: c.b, Pos: pos, Big: c.u.Data.big}
	v := form.Value{Form: f}
	if v.Read(&r, c.u.sizes(), 0); r.Err() != nil {
		c.fail(r.Err())
		return -1
	}
	return r.Pos
}

// Skip makes the following call of Next skip the entry's descendants.
func (c *Cursor) Skip() {
	if c.s == nil || !c.s.children || c.depth != c.d+1 {
		return
	}
	depth := c.d
	for {
		if to := c.siblingOffset(); to > 0 {
			c.pos, c.depth = to, c.d
			if c.depth <= depth {
				return
			}
		}
		if !c.Next() {
			return
		}
		if c.d <= depth { // the entry after the descendants
			c.pos, c.depth = c.start, c.d
			return
		}
	}
}

// siblingOffset returns the offset in b of the next sibling according to DW_AT_sibling. It returns 0
// if the attribute is missing or does not refer to a later entry.
func (c *Cursor) siblingOffset() int {
	s := c.s
	if s.siblingAt < 0 || !s.children {
		return 0
	}
	b := c.b[c.attrs+int(s.siblingAt):]
	var v uint64
	switch s.sibling {
	case form.Ref4:
		if len(b) < 4 {
			return 0
		}
		if c.u.Data.big {
			v = uint64(binary.BigEndian.Uint32(b))
		} else {
			v = uint64(binary.LittleEndian.Uint32(b))
		}
	default:
		r := bytecursor.Cursor{Data: b, Big: c.u.Data.big}
		val := form.Value{Form: s.sibling}
		if val.Read(&r, c.u.sizes(), 0); r.Err() != nil {
			return 0
		}
		switch s.sibling {
		case form.Ref1, form.Ref2, form.Ref8, form.RefUdata:
			v = val.Num
		default:
			return 0
		}
	}
	to := v + c.u.Offset - c.u.base
	if v > uint64(len(c.b)) || to <= uint64(c.pos) || to >= uint64(len(c.b)) {
		return 0
	}
	return int(to)
}

// Value decodes an attribute of the entry into v. It returns false if the entry does not have it.
func (c *Cursor) Value(a Attr, v *Value) bool {
	r := bytecursor.Cursor{Data: c.b, Pos: c.attrs, Big: c.u.Data.big}
	sizes := c.u.sizes()
	for i := range c.s.attrs {
		spec := &c.s.attrs[i]
		*v = Value{spec.attr, form.Value{Form: spec.form}}
		v.Read(&r, sizes, spec.implicit)
		if r.Err() != nil {
			return false
		}
		if spec.attr == a {
			return true
		}
	}
	return false
}

// Name returns the entry's own DW_AT_name, or nil. The slice aliases the section.
func (c *Cursor) Name() []byte {
	if c.s.has&HasName == 0 {
		return nil
	}
	d := c.u.Data
	if c.s.nameAt >= 0 {
		b := c.b[c.attrs+int(c.s.nameAt):]
		switch {
		case c.s.name == form.String:
			if n := bytes.IndexByte(b, 0); n >= 0 {
				return b[:n]
			}
			return nil
		case c.s.name == form.Strp && !c.u.Is64 && !d.big && len(b) >= 4:
			return d.bytesAt(secStr, uint64(binary.LittleEndian.Uint32(b)))
		}
	}
	var v Value
	if !c.Value(AttrName, &v) {
		return nil
	}
	return c.u.text(&v)
}

// InUnit returns the offset that an attribute refers to, if it refers to an entry of the same unit.
func (c *Cursor) InUnit(a Attr) (uint64, bool) {
	var v Value
	if !c.Value(a, &v) {
		return 0, false
	}
	switch v.Form {
	case form.Ref1, form.Ref2, form.Ref4, form.Ref8, form.RefUdata:
		off := c.u.Offset + v.Num
		return off, v.Num < c.u.End-c.u.Offset && off >= c.u.First
	}
	return 0, false
}

// At returns a cursor positioned at the entry at off in the same unit. It returns false if there is
// no entry.
func (c *Cursor) At(off uint64) (Cursor, bool) {
	to := Cursor{u: c.u, layouts: c.layouts, b: c.b, pos: int(off - c.u.base)}
	return to, off >= c.u.First && off < c.u.End && to.Next()
}

// Entry decodes the whole entry into e, and reuses e.Vals.
func (c *Cursor) Entry(e *Entry) error { return c.u.Read(c.Offset(), e) }
