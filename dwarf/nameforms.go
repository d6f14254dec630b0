package dwarf

import (
	"encoding/binary"

	"dbg/internal/bytecursor"
)

// nameForms says how the entries of a unit that are looked for begin.
type nameForms struct {
	begin     []nameBegin
	first     [4]uint64 // the first bytes of their codes
	inline    bool      // a name can be in the entry itself
	offset    bool      // or in .debug_str, by offset
	elsewhere bool      // a name can be in another unit, or anywhere
}

// nameBegin is an abbreviation: its code, the forms of the attributes that follow, and then that of the name.
type nameBegin struct {
	unit   *Unit
	code   []byte
	before []Form
	form   Form
	// indexed says that the name is first, and an index whose first byte is its lowest if the file is little-endian.
	indexed bool
}

// nameForms looks at the unit's abbreviations; those that can't be read leave it open.
func (u *Unit) nameForms(tags func(Tag) bool) (how nameForms) {
	t, err := u.abbrevTable()
	if err != nil {
		return nameForms{elsewhere: true}
	}
	for i := range t.dense {
		u.addForm(&how, uint64(i)+1, &t.dense[i], tags)
	}
	for code, a := range t.sparse {
		u.addForm(&how, code, a, tags)
	}
	return how
}

func (u *Unit) addForm(how *nameForms, code uint64, a *abbrev, tags func(Tag) bool) {
	if !tags(a.tag) {
		return
	}
	var before []Form
	known, named := true, false
	for _, at := range a.attrs {
		switch at.attr {
		case AttrName:
			named = true
			switch at.form {
			case formString, formStrp, formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
			default:
				known = false
			}
			if !known {
				how.elsewhere = true
				continue
			}
			b := nameBegin{unit: u, code: binary.AppendUvarint(nil, code), before: before, form: at.form}
			b.indexed = len(before) == 0 && at.form >= formStrx1 && at.form <= formStrx4
			how.begin = append(how.begin, b)
			how.first[b.code[0]>>6] |= 1 << (b.code[0] & 63)
			how.inline = how.inline || at.form == formString
			how.offset = how.offset || at.form == formStrp
		case AttrSpecification, AttrAbstractOrigin:
			switch at.form {
			case formRef1, formRef2, formRef4, formRef8, formRefUdata:
			default:
				how.elsewhere = how.elsewhere || !named
			}
		}
		if !named {
			before = append(before, at.form)
			known = known && at.form != formIndirect
		}
	}
}

// pass goes over the attributes before the name.
func (p *nameBegin) pass(r *bytecursor.Cursor) bool {
	for _, f := range p.before {
		switch f {
		case formFlagPresent, formImplicitConst:
		case formData1, formRef1, formFlag, formStrx1, formAddrx1:
			r.Block(1)
		case formData2, formRef2, formStrx2, formAddrx2:
			r.Block(2)
		case formStrx3, formAddrx3:
			r.Block(3)
		case formData4, formRef4, formStrx4, formAddrx4, formRefSup4:
			r.Block(4)
		case formData8, formRef8, formRefSig8, formRefSup8:
			r.Block(8)
		case formData16:
			r.Block(16)
		case formAddr:
			r.Block(uint64(p.unit.AddrSize))
		case formRefAddr:
			if p.unit.Version == 2 {
				r.Block(uint64(p.unit.AddrSize))
			} else {
				r.Block(uint64(p.unit.OffsetSize()))
			}
		case formStrp, formLineStrp, formSecOffset, formStrpSup, formGNUStrpAlt, formGNURefAlt:
			r.Block(uint64(p.unit.OffsetSize()))
		case formUdata, formSdata, formRefUdata, formStrx, formAddrx, formLoclistx, formRnglistx, formGNUAddrIndex, formGNUStrIndex:
			r.ULEB()
		case formString:
			r.CString()
		case formExprloc, formBlock:
			r.Block(r.ULEB())
		case formBlock1:
			r.Block(uint64(r.U8()))
		case formBlock2:
			r.Block(uint64(r.U16()))
		case formBlock4:
			r.Block(uint64(r.U32()))
		default:
			return true // the entry can't be read either
		}
	}
	return r.Err() == nil
}
