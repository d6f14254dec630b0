package dwarf

import (
	"fmt"

	"dbg/dwarf/form"
)

// sizes returns what the sizes of values depend on.
func (u *Unit) sizes() form.Sizes {
	return form.Sizes{Addr: u.AddrSize, Is64: u.Is64, Version2: u.Version == 2}
}

// IsList reports whether the value refers to a list of ranges or locations. DWARF 2 and 3 encode
// that as data4 or data8.
func (u *Unit) IsList(v *Value) bool {
	switch v.Form {
	case form.SecOffset, form.Loclistx, form.Rnglistx:
		return true
	case form.Data4, form.Data8:
		return u.Version < 4
	}
	return false
}

// Uint returns the value of a number attribute.
func (e *Entry) Uint(a Attr) (uint64, bool) {
	v := e.Find(a)
	if v == nil || v.IsBlock() || v.Form == form.String {
		return 0, false
	}
	return v.Num, true
}

// String returns the value of a string attribute, or false if the attribute is missing or
// unreadable.
func (e *Entry) String(a Attr) (string, bool) {
	b := e.Bytes(a)
	return string(b), b != nil
}

// Bytes is String without a copy: the slice aliases the section. It is nil where String returns
// false.
func (e *Entry) Bytes(a Attr) []byte {
	v := e.Find(a)
	if v == nil {
		return nil
	}
	return e.Unit.text(v)
}

// text returns the value of a string attribute, or nil if it is unreadable. It aliases the section.
func (u *Unit) text(v *Value) []byte {
	switch v.Form {
	case form.String:
		return v.Block
	case form.Strx, form.Strx1, form.Strx2, form.Strx3, form.Strx4, form.GNUStrIndex:
		return u.Data.indexedText(v.Num, u.Root().strOffsetsBase, u.Is64)
	}
	return u.Data.textAt(v.Form, v.Num)
}

// textAt returns the string that an offset of the form f stands for, or nil.
func (d *Data) textAt(f form.Form, off uint64) []byte {
	switch f {
	case form.Strp:
		return d.bytesAt(secStr, off)
	case form.LineStrp:
		return d.bytesAt(secLineStr, off)
	case form.GNUStrpAlt, form.StrpSup:
		if alt := d.altData(); alt != nil {
			return alt.bytesAt(secStr, off)
		}
	}
	return nil
}

// indexedText returns the string at an index of the part of .debug_str_offsets that begins at
// base, or nil.
func (d *Data) indexedText(index, base uint64, is64 bool) []byte {
	size := uint64(4)
	if is64 {
		size = 8
	}
	if index > 1<<40 {
		return nil
	}
	r, err := d.at(secStrOffsets, base+index*size, size)
	if err != nil {
		return nil
	}
	if s := r.Offset(is64); r.Err() == nil {
		return d.bytesAt(secStr, s)
	}
	return nil
}

// Addr returns the value of an address attribute.
func (e *Entry) Addr(a Attr) (uint64, bool) {
	v := e.Find(a)
	if v == nil {
		return 0, false
	}
	return e.Unit.address(v)
}

func (u *Unit) address(v *Value) (uint64, bool) {
	switch v.Form {
	case form.Addr:
		return v.Num, true
	case form.Addrx, form.Addrx1, form.Addrx2, form.Addrx3, form.Addrx4, form.GNUAddrIndex:
		addr, err := u.AddrIndex(v.Num)
		return addr, err == nil
	}
	return 0, false
}

// AddrIndex returns the address at an index of the unit's part of .debug_addr (section 7.27).
func (u *Unit) AddrIndex(index uint64) (uint64, error) {
	if index > 1<<40 {
		return 0, fmt.Errorf("address index %d is out of range", index)
	}
	// A split unit's addresses are in the program's file, where the linker can relocate them.
	if u.isSplit() {
		s := u.skeleton
		if s == nil {
			s = u.Data.owner // a type unit of a .dwo file
		}
		if s == nil {
			return 0, fmt.Errorf("the unit at 0x%x has no skeleton unit that could provide addresses", u.Offset)
		}
		u = s
	}
	off := u.Root().addrBase + index*uint64(u.AddrSize)
	r, err := u.Data.at(secAddr, off, uint64(u.AddrSize))
	if err != nil {
		return 0, err
	}
	addr := r.Uint(u.AddrSize)
	return addr, r.Err()
}

// Ref returns the entry that an attribute refers to, or nil if the attribute is missing or invalid.
func (e *Entry) Ref(a Attr) *Entry {
	v := e.Find(a)
	if v == nil {
		return nil
	}
	u, off, ok := e.reference(v)
	if !ok || u == nil {
		return nil
	}
	t, err := u.Entry(off)
	if err != nil {
		return nil
	}
	return t
}

// RefOffset returns the unit and the offset that an attribute refers to.
func (e *Entry) RefOffset(a Attr) (*Unit, uint64, bool) {
	v := e.Find(a)
	if v == nil {
		return nil, 0, false
	}
	return e.reference(v)
}

func (e *Entry) reference(v *Value) (*Unit, uint64, bool) {
	u := e.Unit
	var target *Data
	switch v.Form {
	case form.Ref1, form.Ref2, form.Ref4, form.Ref8, form.RefUdata:
		off := u.Offset + v.Num
		return u, off, v.Num < u.End-u.Offset
	case form.RefAddr:
		off := u.part(secInfo) + v.Num
		if off >= u.Offset && off < u.End {
			return u, off, true
		}
		t := u.Data.UnitOf(off)
		return t, off, t != nil
	case form.GNURefAlt, form.RefSup4, form.RefSup8:
		target = u.Data.altData()
	case form.RefSig8:
		if t := u.Data.typeUnit(v.Num); t != nil {
			return t, t.typeOff, t.typeOff < t.End
		}
		return nil, 0, false
	}
	if target == nil {
		return nil, 0, false
	}
	t := target.UnitOf(v.Num)
	return t, v.Num, t != nil
}
