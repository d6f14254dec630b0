package form

import (
	"fmt"

	"dbg/internal/bytecursor"
)

// Form is the encoding of a value.
type Form uint32

// The forms of table 7.6, and those of the GNU extensions. The names are those of the standard,
// without DW_FORM_.
const (
	Addr          Form = 0x01
	Block2        Form = 0x03
	Block4        Form = 0x04
	Data2         Form = 0x05
	Data4         Form = 0x06
	Data8         Form = 0x07
	String        Form = 0x08
	Block         Form = 0x09
	Block1        Form = 0x0a
	Data1         Form = 0x0b
	Flag          Form = 0x0c
	Sdata         Form = 0x0d
	Strp          Form = 0x0e
	Udata         Form = 0x0f
	RefAddr       Form = 0x10
	Ref1          Form = 0x11
	Ref2          Form = 0x12
	Ref4          Form = 0x13
	Ref8          Form = 0x14
	RefUdata      Form = 0x15
	Indirect      Form = 0x16
	SecOffset     Form = 0x17
	Exprloc       Form = 0x18
	FlagPresent   Form = 0x19
	Strx          Form = 0x1a
	Addrx         Form = 0x1b
	RefSup4       Form = 0x1c
	StrpSup       Form = 0x1d
	Data16        Form = 0x1e
	LineStrp      Form = 0x1f
	RefSig8       Form = 0x20
	ImplicitConst Form = 0x21
	Loclistx      Form = 0x22
	Rnglistx      Form = 0x23
	RefSup8       Form = 0x24
	Strx1         Form = 0x25
	Strx2         Form = 0x26
	Strx3         Form = 0x27
	Strx4         Form = 0x28
	Addrx1        Form = 0x29
	Addrx2        Form = 0x2a
	Addrx3        Form = 0x2b
	Addrx4        Form = 0x2c
	GNUAddrIndex  Form = 0x1f01
	GNUStrIndex   Form = 0x1f02
	GNURefAlt     Form = 0x1f20
	GNUStrpAlt    Form = 0x1f21
)

// Sizes holds the properties of a unit, besides the form, that the size of a value depends on.
type Sizes struct {
	Addr     int  // size of an address in bytes
	Is64     bool // 64-bit DWARF: offsets have 8 bytes
	Version2 bool // DWARF 2, where DW_FORM_ref_addr has the size of an address
}

// Value is a value as it is stored. Num is its number, sign-extended for signed forms. Block holds the
// bytes of a block or of an inline string, without the string's zero, and aliases the section.
type Value struct {
	Form  Form
	Num   uint64
	Block []byte
}

// Read reads a value of the form v.Form (section 7.5.6) at the cursor. It replaces DW_FORM_indirect
// by the form that it names. implicit is the value of DW_FORM_implicit_const, which is in the
// abbreviation. An error is in the cursor.
func (v *Value) Read(r *bytecursor.Cursor, s Sizes, implicit int64) {
	at := r.Pos
	if v.Form == Indirect {
		v.Form = Form(r.ULEB())
		if v.Form == ImplicitConst {
			// The value would have to be in the abbreviation, but is not.
			r.Malformed(at, "DW_FORM_indirect with DW_FORM_implicit_const")
			return
		}
	}
	switch v.Form {
	case Addr:
		v.Num = r.Uint(s.Addr)
	case Data1, Ref1, Flag, Strx1, Addrx1:
		v.Num = uint64(r.U8())
	case Data2, Ref2, Strx2, Addrx2:
		v.Num = uint64(r.U16())
	case Strx3, Addrx3:
		v.Num = uint64(r.U24())
	case Data4, Ref4, Strx4, Addrx4, RefSup4:
		v.Num = uint64(r.U32())
	case Data8, Ref8, RefSig8, RefSup8:
		v.Num = r.U64()
	case Udata, RefUdata, Strx, Addrx, Loclistx, Rnglistx, GNUAddrIndex, GNUStrIndex:
		v.Num = r.ULEB()
	case Sdata:
		v.Num = uint64(r.SLEB())
	case ImplicitConst:
		v.Num = uint64(implicit)
	case FlagPresent:
		v.Num = 1
	case Strp, LineStrp, StrpSup, SecOffset, GNUStrpAlt, GNURefAlt:
		v.Num = r.Offset(s.Is64)
	case RefAddr:
		if s.Version2 {
			v.Num = r.Uint(s.Addr)
		} else {
			v.Num = r.Offset(s.Is64)
		}
	case String:
		v.Block = r.CString()
	case Data16:
		v.Block = r.Block(16)
	case Block1:
		v.Block = r.Block(uint64(r.U8()))
	case Block2:
		v.Block = r.Block(uint64(r.U16()))
	case Block4:
		v.Block = r.Block(uint64(r.U32()))
	case Block, Exprloc:
		v.Block = r.Block(r.ULEB())
	default:
		// The size is unknown, and so is the start of the next attribute.
		r.Unsupported(at, fmt.Sprintf("an attribute of unknown form 0x%x", uint32(v.Form)))
	}
}

// IsBlock reports whether the value is a block of bytes or an expression.
func (v *Value) IsBlock() bool {
	switch v.Form {
	case Block, Block1, Block2, Block4, Exprloc, Data16:
		return true
	}
	return false
}

// IsConst reports whether the value is a number.
func (v *Value) IsConst() bool {
	switch v.Form {
	case Data1, Data2, Data4, Data8, Udata, Sdata, ImplicitConst:
		return true
	}
	return false
}

// IsSigned reports whether the form implies a signed number.
func (v *Value) IsSigned() bool { return v.Form == Sdata || v.Form == ImplicitConst }

// Signed returns a constant as a signed number. The fixed-size forms do not define the sign
// (section 7.5.5, "constant"): they are sign-extended from their size, as producers mean them for
// attributes that can be negative.
func (v *Value) Signed() int64 {
	switch v.Form {
	case Data1:
		return int64(int8(v.Num))
	case Data2:
		return int64(int16(v.Num))
	case Data4:
		return int64(int32(v.Num))
	}
	return int64(v.Num)
}

// Of returns the size of a value of the form f in bytes. It is -1 if it varies, or if the form is
// unknown.
func (s Sizes) Of(f Form) int {
	offset := 4
	if s.Is64 {
		offset = 8
	}
	switch f {
	case FlagPresent, ImplicitConst:
		return 0
	case Data1, Ref1, Flag, Strx1, Addrx1:
		return 1
	case Data2, Ref2, Strx2, Addrx2:
		return 2
	case Strx3, Addrx3:
		return 3
	case Data4, Ref4, Strx4, Addrx4, RefSup4:
		return 4
	case Data8, Ref8, RefSig8, RefSup8:
		return 8
	case Data16:
		return 16
	case Addr:
		return s.Addr
	case Strp, LineStrp, StrpSup, SecOffset, GNUStrpAlt, GNURefAlt:
		return offset
	case RefAddr:
		if s.Version2 {
			return s.Addr
		}
		return offset
	}
	return -1
}
