package dwarf

import (
	"encoding/binary"

	"dbg/internal/bytecursor"
)

// namePatterns describes the beginnings of the wanted entries of a unit.
type namePatterns struct {
	patterns  []namePattern
	first     [4]uint64 // set of the first bytes of the codes in patterns
	inline    bool      // a name can be in the entry itself
	offset    bool      // or in .debug_str, by offset
	elsewhere bool      // a name can be in another unit, or anywhere
}

// namePattern describes an abbreviation: its code, the forms of the attributes before the name, and
// the form of the name.
type namePattern struct {
	unit   *Unit
	code   []byte
	before []Form
	form   Form
	// indexed is set if the name is the first attribute and an index whose first byte is the
	// lowest one in a little-endian file.
	indexed bool
}

// namePatterns compiles the unit's abbreviations. If they are unreadable, a name can be anywhere.
func (u *Unit) namePatterns(tags func(Tag) bool) (how namePatterns) {
	t, err := u.abbrevTable()
	if err != nil {
		return namePatterns{elsewhere: true}
	}
	for i := range t.dense {
		u.addForm(&how, uint64(i)+1, &t.dense[i], tags)
	}
	for code, a := range t.sparse {
		u.addForm(&how, code, a, tags)
	}
	return how
}

func (u *Unit) addForm(how *namePatterns, code uint64, a *abbrev, tags func(Tag) bool) {
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
			b := namePattern{unit: u, code: binary.AppendUvarint(nil, code), before: before, form: at.form}
			b.indexed = len(before) == 0 && at.form >= formStrx1 && at.form <= formStrx4
			how.patterns = append(how.patterns, b)
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

// skip advances r past the attributes before the name.
func (p *namePattern) skip(r *bytecursor.Cursor) bool {
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
			return true // the entry is unreadable, too
		}
	}
	return r.Err() == nil
}
