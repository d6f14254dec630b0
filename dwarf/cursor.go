package dwarf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"dbg/internal/bytecursor"
)

// Has is a set of attributes that an entry has: those that a search asks about.
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

// shape is an abbreviation made ready for a unit's sizes: how to go over the entries that have it.
type shape struct {
	tag       Tag
	has       Has
	children  bool
	known     bool  // the code is declared
	fixed     int32 // bytes of all attributes, -1 where that varies
	siblingAt int32 // where DW_AT_sibling is, -1 if that is not known or there is none
	nameAt    int32 // where DW_AT_name is, likewise
	sibling   Form
	name      Form
	steps     []step
	attrs     []attrSpec
}

// step goes over n bytes and then over an attribute of a form, if there is one.
type step struct {
	n    int32
	form Form
}

// shapeKey is what the size of an attribute depends on besides its form.
type shapeKey struct {
	addrSize int
	is64     bool
	v2       bool
}

// shapes returns the unit's abbreviations, compiled; nil if there are none or they are not numbered
// as every producer does.
func (u *Unit) shapes() ([]shape, error) {
	t, err := u.abbrevTable()
	if err != nil {
		return nil, err
	}
	key := shapeKey{u.AddrSize, u.Is64, u.Version == 2}
	t.mu.Lock()
	defer t.mu.Unlock()
	if list, ok := t.shapes[key]; ok {
		return list, nil
	}
	list := make([]shape, len(t.dense)+1)
	for i := range t.dense {
		list[i+1] = key.compile(&t.dense[i])
	}
	if t.shapes == nil {
		t.shapes = map[shapeKey][]shape{}
	}
	t.shapes[key] = list
	return list, nil
}

func (k shapeKey) compile(a *abbrev) shape {
	s := shape{tag: a.tag, children: a.children, known: true, siblingAt: -1, nameAt: -1, attrs: a.attrs}
	at, varies := 0, false // the place of the attribute, or of the rest after the last step
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
		if n := k.size(spec.form); n >= 0 {
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

// DeclaresList reports whether an abbreviation of the unit gives entries of one of the tags an attribute that
// is the place of a list. Other units may share the abbreviations.
func (u *Unit) DeclaresList(a Attr, tags ...Tag) bool {
	t, err := u.abbrevTable()
	if err != nil {
		return false
	}
	declares := func(b *abbrev) bool {
		return slices.Contains(tags, b.tag) && slices.ContainsFunc(b.attrs, func(s attrSpec) bool {
			return s.attr == a && (s.form == formIndirect || u.IsList(&Value{Form: s.form}))
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

// size is how many bytes an attribute of a form takes, -1 where that varies.
func (k shapeKey) size(f Form) int {
	offset := 4
	if k.is64 {
		offset = 8
	}
	switch f {
	case formFlagPresent, formImplicitConst:
		return 0
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		return 1
	case formData2, formRef2, formStrx2, formAddrx2:
		return 2
	case formStrx3, formAddrx3:
		return 3
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		return 4
	case formData8, formRef8, formRefSig8, formRefSup8:
		return 8
	case formData16:
		return 16
	case formAddr:
		return k.addrSize
	case formStrp, formLineStrp, formStrpSup, formSecOffset, formGNUStrpAlt, formGNURefAlt:
		return offset
	case formRefAddr:
		if k.v2 {
			return k.addrSize
		}
		return offset
	}
	return -1
}

// Cursor goes over the entries of a unit in the order in which they are in the file, and decodes nothing of
// them but what is asked for. It allocates nothing. It is a plain value: a copy goes its own way.
type Cursor struct {
	u      *Unit
	shapes []shape
	b      []byte // the section up to the unit's end
	pos    int    // of the next entry
	depth  int    // of the next entry
	start  int
	attrs  int // where the entry's attributes begin
	s      *shape
	d      int
	err    error
}

// Cursor returns a cursor before the entry at off; entries that are not below it or below what follows
// it in its family end the walk.
func (u *Unit) Cursor(off uint64) (Cursor, error) {
	shapes, err := u.shapes()
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
	return Cursor{u: u, shapes: shapes, b: b, pos: int(off - u.base)}, nil
}

// Err is what ended the walk early, nil if nothing did.
func (c *Cursor) Err() error { return c.err }

// Unit is the unit.
func (c *Cursor) Unit() *Unit { return c.u }

// Offset is where the entry is.
func (c *Cursor) Offset() uint64 { return uint64(c.start) + c.u.base }

// End is where the entry's own attributes end: the first of its children, if it has any.
func (c *Cursor) End() uint64 { return uint64(c.pos) + c.u.base }

// Tag is the entry's tag.
func (c *Cursor) Tag() Tag { return c.s.tag }

// Has is which attributes the entry has.
func (c *Cursor) Has() Has { return c.s.has }

// Children reports whether the entry may have children.
func (c *Cursor) Children() bool { return c.s.children }

// Depth is how many levels the entry is below the one that the walk began with.
func (c *Cursor) Depth() int { return c.d }

// Next goes to the next entry: the first child, or what follows. It is false after the last.
func (c *Cursor) Next() bool {
	for {
		if c.pos >= len(c.b) {
			return false // some producers leave the last null entries out
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
		if code >= uint64(len(c.shapes)) || !c.shapes[code].known {
			return c.strange(code)
		}
		s := &c.shapes[code]
		c.s, c.attrs, c.d = s, c.pos, c.depth
		if n := int(s.fixed); n >= 0 && n <= len(c.b)-c.pos {
			c.pos += n
		} else if !c.over(s) {
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

// fail ends the walk at the entry. It is false, for Next to return.
func (c *Cursor) fail(err error) bool {
	c.err = c.u.entryError(c.Offset(), err)
	c.pos = len(c.b)
	return false
}

// short is fail for an attribute at pos that is not complete.
//
//go:noinline
func (c *Cursor) short(pos int) bool {
	pos = min(pos, len(c.b))
	return c.fail(&bytecursor.Error{Kind: bytecursor.ErrCutShort, Item: "an attribute", Offset: pos})
}

var errNested = errors.New("entries are nested too deeply")

// longCode reads the rest of an abbreviation code of several bytes.
func (c *Cursor) longCode() uint64 {
	r := bytecursor.Cursor{Data: c.b, Pos: c.pos - 1}
	v := r.ULEB()
	if c.pos = r.Pos; r.Err() != nil {
		c.fail(r.Err())
		return 0
	}
	return v
}

// strange is Next for a code that is not where codes are usually.
func (c *Cursor) strange(code uint64) bool {
	t, err := c.u.abbrevTable()
	if err != nil {
		c.err = err
		return false
	}
	a := t.find(code)
	if a == nil {
		return c.fail(fmt.Errorf("the abbreviation %d is unknown", code))
	}
	s := shapeKey{c.u.AddrSize, c.u.Is64, c.u.Version == 2}.compile(a)
	c.s, c.attrs, c.d = &s, c.pos, c.depth
	if !c.over(&s) {
		return false
	}
	if s.children {
		if c.depth++; c.depth > maxDepth {
			return c.fail(errNested)
		}
	}
	return true
}

// over goes over the attributes of an entry whose size varies.
func (c *Cursor) over(s *shape) bool {
	if s.fixed >= 0 {
		if int(s.fixed) > len(c.b)-c.pos {
			return c.short(c.pos)
		}
		c.pos += int(s.fixed)
		return true
	}
	pos := c.pos
	for i := range s.steps {
		st := &s.steps[i]
		pos += int(st.n)
		if pos > len(c.b) {
			return c.short(pos)
		}
		switch st.form {
		case 0:
		case formUdata, formSdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
			from := pos
			for pos < len(c.b) && c.b[pos] >= 0x80 {
				pos++
			}
			if pos++; pos-from > bytecursor.SureLEB {
				if pos = c.afterForm(from, st.form); pos < 0 {
					return false
				}
			}
		case formBlock1:
			if pos < len(c.b) {
				pos += 1 + int(c.b[pos])
			} else {
				pos++
			}
		case formExprloc, formBlock:
			if pos < len(c.b) && c.b[pos] < 0x80 {
				pos += 1 + int(c.b[pos])
			} else if pos = c.afterForm(pos, st.form); pos < 0 {
				return false
			}
		case formString:
			n := bytes.IndexByte(c.b[pos:], 0)
			if n < 0 {
				return c.short(pos)
			}
			pos += n + 1
		default:
			if pos = c.afterForm(pos, st.form); pos < 0 {
				return false
			}
		}
	}
	if pos > len(c.b) {
		return c.short(pos)
	}
	c.pos = pos
	return true
}

// afterForm returns where an attribute at pos ends. It is -1, and the walk has ended, if the
// attribute can't be read.
func (c *Cursor) afterForm(pos int, form Form) int {
	r := bytecursor.Cursor{Data: c.b, Pos: pos, Big: c.u.Data.big}
	v := Value{Form: form}
	if c.u.readForm(&r, &v, 0); r.Err() != nil {
		c.fail(r.Err())
		return -1
	}
	return r.Pos
}

// Skip makes Next go to what follows the entry and everything below it.
func (c *Cursor) Skip() {
	if c.s == nil || !c.s.children || c.depth != c.d+1 {
		return
	}
	depth := c.d
	for {
		if to := c.next(); to > 0 {
			c.pos, c.depth = to, c.d
			if c.depth <= depth {
				return
			}
		}
		if !c.Next() {
			return
		}
		if c.d <= depth { // this is what follows
			c.pos, c.depth = c.start, c.d
			return
		}
	}
}

// next is where DW_AT_sibling says that the next entry of the family is; 0 if it does not, or says
// something that leads back.
func (c *Cursor) next() int {
	s := c.s
	if s.siblingAt < 0 || !s.children {
		return 0
	}
	b := c.b[c.attrs+int(s.siblingAt):]
	var v uint64
	switch s.sibling {
	case formRef4:
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
		val := Value{Form: s.sibling}
		if c.u.readForm(&r, &val, 0); r.Err() != nil {
			return 0
		}
		switch s.sibling {
		case formRef1, formRef2, formRef8, formRefUdata:
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

// Value decodes an attribute of the entry into v; false if the entry does not have it.
func (c *Cursor) Value(a Attr, v *Value) bool {
	r := bytecursor.Cursor{Data: c.b, Pos: c.attrs, Big: c.u.Data.big}
	for i := range c.s.attrs {
		spec := &c.s.attrs[i]
		*v = Value{Attr: spec.attr, Form: spec.form}
		c.u.readForm(&r, v, spec.implicit)
		if r.Err() != nil {
			return false
		}
		if spec.attr == a {
			return true
		}
	}
	return false
}

// Name is the entry's own DW_AT_name, where it is in the file; nil if it has none.
func (c *Cursor) Name() []byte {
	if c.s.has&HasName == 0 {
		return nil
	}
	d := c.u.Data
	if c.s.nameAt >= 0 {
		b := c.b[c.attrs+int(c.s.nameAt):]
		switch {
		case c.s.name == formString:
			if n := bytes.IndexByte(b, 0); n >= 0 {
				return b[:n]
			}
			return nil
		case c.s.name == formStrp && !c.u.Is64 && !d.big && len(b) >= 4:
			return d.bytesAt(secStr, uint64(binary.LittleEndian.Uint32(b)))
		}
	}
	var v Value
	if !c.Value(AttrName, &v) {
		return nil
	}
	return c.u.text(&v)
}

// InUnit is the offset that an attribute refers to, if it refers to an entry of the same unit.
func (c *Cursor) InUnit(a Attr) (uint64, bool) {
	var v Value
	if !c.Value(a, &v) {
		return 0, false
	}
	switch v.Form {
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		off := c.u.Offset + v.Num
		return off, v.Num < c.u.End-c.u.Offset && off >= c.u.First
	}
	return 0, false
}

// At is a cursor at the entry of an offset in the same unit; false if there is none.
func (c *Cursor) At(off uint64) (Cursor, bool) {
	to := Cursor{u: c.u, shapes: c.shapes, b: c.b, pos: int(off - c.u.base)}
	return to, off >= c.u.First && off < c.u.End && to.Next()
}

// Entry decodes the whole entry into e, whose Vals are used again.
func (c *Cursor) Entry(e *Entry) error { return c.u.Read(c.Offset(), e) }
