package dwarf

import (
	"errors"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

// LocationRange is an entry of a location list: the expression for a range of PCs.
type LocationRange struct {
	Lo, Hi  uint64
	Expr    []byte // empty if the compiler knows that there is no location
	Default bool   // DW_LLE_default_location: for every PC that no other entry has; Lo and Hi are 0
}

// maxLocations bounds the entries of one list that Locations returns.
const maxLocations = 1 << 14

// errListFormat is the error of a location list whose format Locations does not read.
var errListFormat = errors.New("location list of GNU split DWARF 4")

// Locations returns all entries of a location list, in the order of the list. Ranges that are empty are
// left out. It returns nil for a value that is no list. The slices alias the section.
func (u *Unit) Locations(v *Value) ([]LocationRange, error) {
	if v.IsBlock() || !u.IsList(v) {
		return nil, nil
	}
	if u.Version < 5 && u.isSplit() {
		return nil, errListFormat
	}
	id, off, next := secLoc, v.Num, (*Unit).nextLocation4
	if u.Version >= 5 {
		var err error
		id, next = secLocLists, (*Unit).nextLocation5
		if off, err = u.list5(v, form.Loclistx, id, u.Root().locListsBase); err != nil {
			return nil, u.listError(id, off, err)
		}
	}
	r, err := u.Data.at(id, off, 1<<62)
	if err != nil {
		return nil, u.listError(id, off, err)
	}
	var out []LocationRange
	base := u.Root().LowPC
	for range maxRanges {
		l, more, err := next(u, &r, &base)
		if err == nil {
			err = r.Err()
		}
		switch {
		case err != nil:
			return out, u.listError(id, off, err)
		case !more || len(out) >= maxLocations:
			return out, nil
		case l.Lo < l.Hi || l.Default:
			out = append(out, l)
		}
	}
	return out, u.listError(id, off, errNoEnd)
}

// nextLocation5 reads one entry of .debug_loclists (DWARF 5, section 2.6.2). An entry that is no
// location has an empty range. more is false at the end.
func (u *Unit) nextLocation5(r *bytecursor.Cursor, base *uint64) (l LocationRange, more bool, err error) {
	kind := r.U8()
	switch kind { // section 7.29
	case lleEndOfList:
		return l, false, nil
	case lleDefaultLocation:
		return LocationRange{Expr: r.Block(r.ULEB()), Default: true}, true, nil
	case lleViewPair:
		r.ULEB()
		r.ULEB()
		return l, true, nil
	case lleBaseAddress, lleStartEnd, lleStartLength:
		kind-- // as in location5
	}
	lo, hi, bounded := u.listEntry(r, kind, base)
	switch {
	case !bounded && kind != rleBaseAddress && kind != rleBaseAddressx:
		return l, false, unknownKind(kind)
	case !bounded:
		return l, true, nil
	}
	return LocationRange{Lo: lo, Hi: hi, Expr: r.Block(r.ULEB())}, true, nil
}

// nextLocation4 reads one entry of .debug_loc (DWARF 4, section 2.6.2).
func (u *Unit) nextLocation4(r *bytecursor.Cursor, base *uint64) (l LocationRange, more bool, err error) {
	lo, hi := r.Uint(u.AddrSize), r.Uint(u.AddrSize)
	switch {
	case lo == 0 && hi == 0:
		return l, false, nil
	case lo == u.maxAddr():
		*base = hi
		return l, true, nil
	}
	return LocationRange{Lo: *base + lo, Hi: *base + hi, Expr: r.Block(uint64(r.U16()))}, true, nil
}
