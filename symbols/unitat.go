package symbols

import (
	"dbg/dwarf"
	"dbg/image"
)

// maxUnitsAt is the number of answers of unitAt that are kept. The first questions about a file
// are often about the same few addresses.
const maxUnitsAt = 16

// unitAt returns the unit that has an address, or nil if none has it. If several claim it, unitAt
// prefers one that has a function or a line there.
func (m *Module) unitAt(a image.Addr) *unit {
	d := m.dwarf()
	if d == nil || a == 0 {
		return nil
	}
	if u, ok := m.unitsAt[a]; ok {
		return u
	}
	u := m.searchUnit(d, a)
	if len(m.unitsAt) < maxUnitsAt {
		if m.unitsAt == nil {
			m.unitsAt = map[image.Addr]*unit{}
		}
		m.unitsAt[a] = u
	}
	return u
}

func (m *Module) searchUnit(d *dwarf.Data, a image.Addr) *unit {
	var found, any *unit
	try := func(off uint64) bool {
		du, err := d.UnitAt(off)
		if err != nil || du.First >= du.End {
			return false
		}
		u := m.unit(du)
		if any == nil {
			any = u
		}
		if u.functionAt(uint64(a)) == nil && !u.hasLine(uint64(a)) {
			return false
		}
		found = u
		return true
	}
	if m.index.Each(d, uint64(a), try) {
		return found
	}
	if (any == nil || !any.claims(uint64(a))) && m.symbols().IsCode(a) {
		m.index.EachOther(d, uint64(a), try)
	}
	if found == nil {
		found = any
	}
	return found
}

// claims reports whether a unit's root entry has ranges that include an address, or has no ranges:
// .debug_aranges may be wrong.
func (u *unit) claims(a uint64) bool {
	e, err := u.dw.Entry(u.dw.First)
	if err != nil {
		return false
	}
	if !e.Has(dwarf.AttrHighPC) && !e.Has(dwarf.AttrRanges) {
		return true
	}
	in := false
	err = e.EachRange(func(lo, hi uint64) { in = in || lo <= a && a < hi })
	return in || err != nil
}
