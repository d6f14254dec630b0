package nameindex

import (
	"dbg/dwarf"
	"fmt"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

// Entry describes one entry with a name, as an index records it.
type Entry struct {
	Tag       dwarf.Tag
	Unit      uint64 // offset of the compile unit
	TypeUnit  uint64 // offset of a type unit of this file
	Signature uint64 // signature of a type unit in another file, which the compile unit identifies, if present
	Die       uint64 // offset of the entry from its unit
	Hash      uint64 // DW_IDX_type_hash
	Has       Has
}

// Has tells which fields of an Entry are set.
type Has uint8

const (
	HasUnit Has = 1 << iota
	HasTypeUnit
	HasSignature
	HasDie
	HasTypeHash
)

// Entries calls fn for the entries of name i, until fn returns false (section 6.1.1.4.8).
func (t *Table) Entries(i uint32, fn func(e *Entry) bool) error {
	if i >= t.names {
		return nil
	}
	off := t.offset(t.entriesAt, i)
	pool := t.b[t.poolAt:]
	if off >= uint64(len(pool)) {
		return t.entryError(off, fmt.Errorf("offset is beyond the end of the index"))
	}
	r := bytecursor.Cursor{Data: pool, Pos: int(off), Big: t.d.BigEndian()}
	for {
		off := uint64(r.Pos)
		code := r.ULEB()
		if r.Err() != nil {
			return t.entryError(off, r.Err())
		}
		if code == 0 {
			return nil
		}
		a, ok := t.abbrevs[code]
		if !ok {
			return t.entryError(off, fmt.Errorf("unknown abbreviation code %d", code))
		}
		e, err := t.entry(&r, &a)
		if err != nil {
			return t.entryError(off, err)
		}
		if !fn(&e) {
			return nil
		}
	}
}

func (t *Table) entryError(off uint64, err error) error {
	return fmt.Errorf("%s entry at 0x%x: %w", section, t.off+t.poolAt+off, err)
}

// entry reads the attributes of one entry. It skips unknown attributes.
func (t *Table) entry(r *bytecursor.Cursor, a *abbrev) (e Entry, err error) {
	e.Tag = a.tag
	unit, typeUnit := uint64(0), uint64(0)
	hasUnit, hasType := false, false
	for _, at := range a.attrs {
		v, ok := t.value(r, at.form)
		if !ok {
			r.Unsupported(r.Pos, fmt.Sprintf("an attribute of unknown form 0x%x", uint32(at.form)))
			return e, r.Err()
		}
		switch at.index {
		case idxCompileUnit:
			unit, hasUnit = v, true
		case idxTypeUnit:
			typeUnit, hasType = v, true
		case idxDieOffset:
			e.Die = v
			e.Has |= HasDie
		case idxTypeHash:
			e.Hash = v
			e.Has |= HasTypeHash
		}
	}
	if r.Err() != nil {
		return e, r.Err()
	}
	if !hasUnit && !hasType && t.units == 1 {
		hasUnit = true // section 6.1.1.4.8: it may be omitted if there is only one
	}
	if hasUnit {
		if unit >= uint64(t.units) {
			return e, fmt.Errorf("no compile unit %d", unit)
		}
		e.Unit = t.offset(t.unitsAt, uint32(unit))
		e.Has |= HasUnit
	}
	switch {
	case !hasType:
	case typeUnit < uint64(t.locals):
		e.TypeUnit = t.offset(t.localsAt, uint32(typeUnit))
		e.Has |= HasTypeUnit
	case typeUnit-uint64(t.locals) < uint64(t.foreign):
		e.Signature = t.word(t.foreignAt, uint32(typeUnit-uint64(t.locals)), 8)
		e.Has |= HasSignature
	default:
		return e, fmt.Errorf("no type unit %d", typeUnit)
	}
	return e, nil
}

// value reads a number in one of the forms that an index may use. It skips longer values and
// returns 0 for them.
func (t *Table) value(r *bytecursor.Cursor, f form.Form) (uint64, bool) {
	switch f {
	case form.Data1, form.Ref1, form.Flag, form.Strx1:
		return uint64(r.U8()), true
	case form.Data2, form.Ref2, form.Strx2:
		return uint64(r.U16()), true
	case form.Strx3:
		return uint64(r.U24()), true
	case form.Data4, form.Ref4, form.Strx4, form.RefSup4:
		return uint64(r.U32()), true
	case form.Data8, form.Ref8, form.RefSig8, form.RefSup8:
		return r.U64(), true
	case form.Data16:
		r.Block(16)
		return 0, true
	case form.Udata, form.RefUdata, form.Strx:
		return r.ULEB(), true
	case form.Sdata:
		return uint64(r.SLEB()), true
	case form.RefAddr, form.SecOffset, form.Strp, form.LineStrp, form.StrpSup:
		return r.Offset(t.is64), true
	case form.FlagPresent:
		return 1, true
	}
	return 0, false
}
