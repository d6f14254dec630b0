package dwarf

import (
	"fmt"

	"dbg/internal/bytecursor"
)

// readForm reads the value of an attribute (section 7.5.6).
func (u *Unit) readForm(r *bytecursor.Cursor, v *Value, implicit int64) {
	at := r.Pos
	if v.Form == formIndirect {
		v.Form = Form(r.ULEB())
		if v.Form == formImplicitConst {
			// The value would have to be in the abbreviation, but is not.
			r.Malformed(at, "DW_FORM_indirect with DW_FORM_implicit_const")
			return
		}
	}
	switch v.Form {
	case formAddr:
		v.Num = r.Uint(u.AddrSize)
	case formData1, formRef1, formFlag, formStrx1, formAddrx1:
		v.Num = uint64(r.U8())
	case formData2, formRef2, formStrx2, formAddrx2:
		v.Num = uint64(r.U16())
	case formStrx3, formAddrx3:
		v.Num = uint64(r.U24())
	case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
		v.Num = uint64(r.U32())
	case formData8, formRef8, formRefSig8, formRefSup8:
		v.Num = r.U64()
	case formUdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
		v.Num = r.ULEB()
	case formSdata:
		v.Num = uint64(r.SLEB())
	case formImplicitConst:
		v.Num = uint64(implicit)
	case formFlagPresent:
		v.Num = 1
	case formStrp, formLineStrp, formStrpSup, formSecOffset, formGNUStrpAlt, formGNURefAlt:
		v.Num = r.Offset(u.Is64)
	case formRefAddr:
		if u.Version == 2 { // DWARF 2 uses the size of an address
			v.Num = r.Uint(u.AddrSize)
		} else {
			v.Num = r.Offset(u.Is64)
		}
	case formString:
		v.Block = r.CString()
	case formData16:
		v.Block = r.Block(16)
	case formBlock1:
		v.Block = r.Block(uint64(r.U8()))
	case formBlock2:
		v.Block = r.Block(uint64(r.U16()))
	case formBlock4:
		v.Block = r.Block(uint64(r.U32()))
	case formBlock, formExprloc:
		v.Block = r.Block(r.ULEB())
	default:
		// The size is unknown, and so is the start of the next attribute.
		r.Unsupported(at, fmt.Sprintf("an attribute of unknown form 0x%x", uint32(v.Form)))
	}
}

// IsBlock reports whether the value is a block of bytes or an expression.
func (v *Value) IsBlock() bool {
	switch v.Form {
	case formBlock, formBlock1, formBlock2, formBlock4, formExprloc, formData16:
		return true
	}
	return false
}

// IsConst reports whether the value is a number.
func (v *Value) IsConst() bool {
	switch v.Form {
	case formData1, formData2, formData4, formData8, formUdata, formSdata, formImplicitConst:
		return true
	}
	return false
}

// IsSigned reports whether the form implies a signed number.
func (v *Value) IsSigned() bool { return v.Form == formSdata || v.Form == formImplicitConst }

// Signed returns a constant as a signed number. The fixed-size forms do not define the sign
// (section 7.5.5, "constant"): they are sign-extended from their size, as producers mean them for
// attributes that can be negative.
func (v *Value) Signed() int64 {
	switch v.Form {
	case formData1:
		return int64(int8(v.Num))
	case formData2:
		return int64(int16(v.Num))
	case formData4:
		return int64(int32(v.Num))
	}
	return int64(v.Num)
}

// IsList reports whether the value refers to a list of ranges or locations. DWARF 2 and 3 encode
// that as data4 or data8.
func (u *Unit) IsList(v *Value) bool {
	switch v.Form {
	case formSecOffset, formLoclistx, formRnglistx:
		return true
	case formData4, formData8:
		return u.Version < 4
	}
	return false
}

// Uint returns the value of a number attribute.
func (e *Entry) Uint(a Attr) (uint64, bool) {
	v := e.Find(a)
	if v == nil || v.IsBlock() || v.Form == formString {
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
	d := u.Data
	switch v.Form {
	case formString:
		return v.Block
	case formStrp:
		return d.bytesAt(secStr, v.Num)
	case formLineStrp:
		return d.bytesAt(secLineStr, v.Num)
	case formGNUStrpAlt, formStrpSup:
		if alt := d.altData(); alt != nil {
			return alt.bytesAt(secStr, v.Num)
		}
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		size := uint64(u.OffsetSize())
		if v.Num > 1<<40 {
			return nil
		}
		off := u.Root().strOffsetsBase + v.Num*size
		r, err := d.at(secStrOffsets, off, size)
		if err != nil {
			return nil
		}
		if s := r.Offset(u.Is64); r.Err() == nil {
			return d.bytesAt(secStr, s)
		}
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
	case formAddr:
		return v.Num, true
	case formAddrx, formAddrx1, formAddrx2, formAddrx3, formAddrx4, formGNUAddrIndex:
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
	case formRef1, formRef2, formRef4, formRef8, formRefUdata:
		off := u.Offset + v.Num
		return u, off, v.Num < u.End-u.Offset
	case formRefAddr:
		off := u.part(secInfo) + v.Num
		if off >= u.Offset && off < u.End {
			return u, off, true
		}
		t := u.Data.UnitOf(off)
		return t, off, t != nil
	case formGNURefAlt, formRefSup4, formRefSup8:
		target = u.Data.altData()
	case formRefSig8:
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
