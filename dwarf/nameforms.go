package dwarf

import (
	"encoding/binary"

	"dbg/dwarf/form"
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
	before []form.Form
	form   form.Form
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
	var before []form.Form
	known, named := true, false
	for _, at := range a.attrs {
		switch at.attr {
		case AttrName:
			named = true
			switch at.form {
			case form.String, form.Strp, form.Strx, form.Strx1, form.Strx2, form.Strx3, form.Strx4, form.GNUStrIndex:
			default:
				known = false
			}
			if !known {
				how.elsewhere = true
				continue
			}
			b := namePattern{unit: u, code: binary.AppendUvarint(nil, code), before: before, form: at.form}
			b.indexed = len(before) == 0 && at.form >= form.Strx1 && at.form <= form.Strx4
			how.patterns = append(how.patterns, b)
			how.first[b.code[0]>>6] |= 1 << (b.code[0] & 63)
			how.inline = how.inline || at.form == form.String
			how.offset = how.offset || at.form == form.Strp
		case AttrSpecification, AttrAbstractOrigin:
			switch at.form {
			case form.Ref1, form.Ref2, form.Ref4, form.Ref8, form.RefUdata:
			default:
				how.elsewhere = how.elsewhere || !named
			}
		}
		if !named {
			before = append(before, at.form)
			known = known && at.form != form.Indirect
		}
	}
}

// skip advances r past the attributes before the name.
func (p *namePattern) skip(r *bytecursor.Cursor) bool {
	sizes := p.unit.sizes()
	for _, f := range p.before {
		if n := sizes.Of(f); n >= 0 {
			r.Block(uint64(n))
			continue
		}
		switch f {
		case form.Udata, form.Sdata, form.RefUdata, form.Strx, form.Addrx, form.Loclistx, form.Rnglistx, form.GNUAddrIndex, form.GNUStrIndex:
			r.ULEB()
		case form.String:
			r.CString()
		case form.Exprloc, form.Block:
			r.Block(r.ULEB())
		case form.Block1:
			r.Block(uint64(r.U8()))
		case form.Block2:
			r.Block(uint64(r.U16()))
		case form.Block4:
			r.Block(uint64(r.U32()))
		default:
			return true // the entry is unreadable, too
		}
	}
	return r.Err() == nil
}
