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
			// Its value would be in the abbreviation, where it is not.
			r.Malformed(at, "DW_FORM_implicit_const through DW_FORM_indirect")
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
		if u.Version == 2 { // the size of an address there
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
		// Its size is unknown, and with it where the next attribute is.
		r.Unsupported(at, fmt.Sprintf("an attribute of unknown form 0x%x", uint32(v.Form)))
	}
}

// IsBlock reports whether the value is bytes: a block or an expression.
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

// IsSigned reports whether the form says that the number has a sign.
func (v *Value) IsSigned() bool { return v.Form == formSdata || v.Form == formImplicitConst }

// Signed returns the number of a constant with its sign. The fixed-size forms
// do not say whether they have one (section 7.5.5, "constant"): they are
// extended from their size, as their writers mean them where a negative value
// makes sense.
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

// IsList reports whether the value is the place of a list: of ranges or of
// locations. DWARF 2 and 3 write it as data4 or data8.
func (u *Unit) IsList(v *Value) bool {
	switch v.Form {
	case formSecOffset, formLoclistx, formRnglistx:
		return true
	case formData4, formData8:
		return u.Version < 4
	}
	return false
}

// Uint returns an attribute that is a number.
func (e *Entry) Uint(a Attr) (uint64, bool) {
	v := e.Find(a)
	if v == nil || v.IsBlock() || v.Form == formString {
		return 0, false
	}
	return v.Num, true
}

// String returns an attribute that is a string; false if it is not there or
// can't be read.
func (e *Entry) String(a Attr) (string, bool) {
	b := e.Bytes(a)
	return string(b), b != nil
}

// Bytes is String without a copy: the slice points into the section. It is nil where String is false.
func (e *Entry) Bytes(a Attr) []byte {
	v := e.Find(a)
	if v == nil {
		return nil
	}
	return e.Unit.text(v)
}

// text is the value of an attribute that is a string, where it is in the file; nil if it can't be read.
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

// Addr returns an attribute that is an address.
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

// AddrIndex returns an entry of the unit's part of .debug_addr (section 7.27).
func (u *Unit) AddrIndex(index uint64) (uint64, error) {
	if index > 1<<40 {
		return 0, fmt.Errorf("address index %d is absurd", index)
	}
	// A split unit's addresses are in the program, where the linker puts them.
	if u.isSplit() {
		s := u.skeleton
		if s == nil {
			s = u.Data.owner // a type unit of a .dwo file
		}
		if s == nil {
			return 0, fmt.Errorf("the unit at 0x%x has no skeleton unit, and so no addresses", u.Offset)
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

// Ref returns the entry that an attribute refers to; nil if it is not there or
// leads nowhere.
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
