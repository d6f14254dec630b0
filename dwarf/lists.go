package dwarf

import (
	"errors"
	"fmt"

	"dbg/dwarf/form"
	"dbg/internal/bytecursor"
)

// Range is a half-open range of addresses.
type Range struct{ Lo, Hi uint64 }

// Limits of the entries of one list. A unit may have a range for each function; other entries have
// fewer.
const (
	maxUnitRanges = 1 << 22
	maxRanges     = 1 << 16
)

// maxAddr returns the largest address. It marks base selection in DWARF 4, and discarded code.
func (u *Unit) maxAddr() uint64 {
	if u.AddrSize == 8 {
		return ^uint64(0)
	}
	return 1<<(8*u.AddrSize) - 1
}

// Ranges returns the addresses of an entry: DW_AT_low_pc with DW_AT_high_pc, or DW_AT_ranges
// (section 2.17). An entry with DW_AT_low_pc alone has one range of one byte. Ranges of code that
// the linker has discarded (marked with the largest addresses) are omitted.
func (e *Entry) Ranges() ([]Range, error) {
	var out []Range
	err := e.EachRange(func(lo, hi uint64) { out = append(out, Range{lo, hi}) })
	return out, err
}

// EachRange calls fn for each range that Ranges returns.
func (e *Entry) EachRange(fn func(lo, hi uint64)) error {
	u := e.Unit
	if v := e.Find(AttrRanges); v != nil {
		most := maxRanges
		if e.Offset == u.First {
			most = maxUnitRanges
		}
		return u.rangeList(v, most, func(lo, hi uint64) {
			if lo < hi && lo < u.maxAddr()-1 {
				fn(lo, hi)
			}
		})
	}
	lo, ok := e.Addr(AttrLowPC)
	if !ok || lo >= u.maxAddr()-1 {
		return nil
	}
	v := e.Find(AttrHighPC)
	if v == nil {
		fn(lo, lo+1)
		return nil
	}
	hi, ok := u.address(v)
	if !ok && !v.IsBlock() {
		hi = lo + v.Num // DWARF 4: an offset from the low PC
	}
	if hi > lo {
		fn(lo, hi)
	}
	return nil
}

func (u *Unit) rangeList(v *Value, most int, add func(lo, hi uint64)) error {
	base := u.Root().LowPC
	if u.Version < 5 {
		if u.skeleton != nil {
			// There is no .debug_ranges.dwo: the lists are in the program's file.
			return u.skeleton.rangeList4(u.skeleton.Root().rangesBase+v.Num, base, most, add)
		}
		return u.rangeList4(v.Num, base, most, add)
	}
	off, err := u.list5(v, form.Rnglistx, secRngLists, u.Root().rngListsBase)
	if err == nil {
		err = u.rangeList5(off, base, most, add)
	}
	if err != nil {
		return u.listError(secRngLists, off, err)
	}
	return nil
}

// rangeList5 reads .debug_rnglists (DWARF 5, section 2.17.3).
func (u *Unit) rangeList5(off, base uint64, most int, add func(lo, hi uint64)) error {
	r, err := u.Data.at(secRngLists, off, 1<<62)
	if err != nil {
		return err
	}
	for range most {
		kind := r.U8()
		if kind == rleEndOfList {
			return r.Err()
		}
		lo, hi, bounded := u.listEntry(&r, kind, &base)
		switch {
		case r.Err() != nil:
			return r.Err()
		case kind == rleOffsetPair && base >= u.maxAddr()-1:
			add(0, 0) // discarded code
		case bounded:
			add(lo, hi)
		case kind != rleBaseAddress && kind != rleBaseAddressx:
			return unknownKind(kind)
		}
	}
	return errNoEnd
}

// listEntry reads the rest of an entry of a DWARF 5 list. Range lists and location lists have the
// same entries; kind is the number that range lists use (section 7.25). bounded is set if the entry
// has a range. Otherwise it sets the base address, or the kind is unknown and nothing is read.
func (u *Unit) listEntry(r *bytecursor.Cursor, kind uint8, base *uint64) (lo, hi uint64, bounded bool) {
	switch kind {
	case rleBaseAddressx:
		*base = u.index(r)
		return 0, 0, false
	case rleBaseAddress:
		*base = r.Uint(u.AddrSize)
		return 0, 0, false
	case rleStartxEndx:
		lo, hi = u.index(r), u.index(r)
	case rleStartxLength:
		lo = u.index(r)
		hi = lo + r.ULEB()
	case rleOffsetPair:
		lo, hi = *base+r.ULEB(), *base+r.ULEB()
	case rleStartEnd:
		lo, hi = r.Uint(u.AddrSize), r.Uint(u.AddrSize)
	case rleStartLength:
		lo = r.Uint(u.AddrSize)
		hi = lo + r.ULEB()
	default:
		return 0, 0, false
	}
	return lo, hi, true
}

var errNoEnd = errors.New("the list does not end")

func unknownKind(kind uint8) error { return fmt.Errorf("unknown entry kind %d", kind) }

// index reads an index into .debug_addr and returns the address, or the largest address if it is
// unreadable.
func (u *Unit) index(r *bytecursor.Cursor) uint64 {
	a, err := u.AddrIndex(r.ULEB())
	if err != nil {
		return u.maxAddr()
	}
	return a
}

// rangeList4 reads .debug_ranges (DWARF 4, section 2.17.3).
func (u *Unit) rangeList4(off, base uint64, most int, add func(lo, hi uint64)) error {
	r, err := u.Data.at(secRanges, off, 1<<62)
	if err != nil {
		return u.listError(secRanges, off, err)
	}
	for range most {
		lo, hi := r.Uint(u.AddrSize), r.Uint(u.AddrSize)
		switch {
		case r.Err() != nil:
			return u.listError(secRanges, off, r.Err())
		case lo == 0 && hi == 0:
			return nil
		case lo == u.maxAddr():
			base = hi
		case lo != hi && base < u.maxAddr()-1:
			add(base+lo, base+hi)
		}
	}
	return u.listError(secRanges, off, errNoEnd)
}

// list5 returns the offset of the list that v refers to: by offset, or by its number if v has the
// form indexed. The offset table starts at base.
func (u *Unit) list5(v *Value, indexed form.Form, id sectionID, base uint64) (uint64, error) {
	if v.Form != indexed {
		return u.part(id) + v.Num, nil
	}
	return u.listOffset(id, base, v.Num)
}

// listOffset returns the offset of list number index of the unit. The offset table starts at base
// (section 7.28), and its offsets are relative to base.
func (u *Unit) listOffset(id sectionID, base, index uint64) (uint64, error) {
	if index > 1<<40 {
		return 0, fmt.Errorf("list index %d is out of range", index)
	}
	r, err := u.Data.at(id, base+index*uint64(u.OffsetSize()), 8)
	if err != nil {
		return 0, err
	}
	off := base + r.Offset(u.Is64)
	return off, r.Err()
}

// Location returns the expression that is valid at a PC: the value's own expression, or the list
// entry for the PC, or nil if the list has no such entry. The slice aliases the section. An error
// reports that the list is unreadable up to the wanted entry, with its section and offset.
func (u *Unit) Location(v *Value, pc uint64) ([]byte, error) {
	if v.IsBlock() {
		return v.Block, nil
	}
	if !u.IsList(v) {
		return nil, nil
	}
	id, off, read := secLoc, v.Num, (*Unit).location4
	switch {
	case u.Version >= 5:
		var err error
		id, read = secLocLists, (*Unit).location5
		if off, err = u.list5(v, form.Loclistx, id, u.Root().locListsBase); err != nil {
			return nil, u.listError(id, off, err)
		}
	case u.isSplit():
		off, read = u.part(secLoc)+v.Num, (*Unit).locationGNU
	}
	r, err := u.Data.at(id, off, 1<<62)
	var code []byte
	if err == nil {
		code, err = read(u, &r, pc)
	}
	if err != nil {
		return nil, u.listError(id, off, err)
	}
	return code, nil
}

// location5 reads .debug_loclists (DWARF 5, section 2.6.2).
func (u *Unit) location5(r *bytecursor.Cursor, pc uint64) ([]byte, error) {
	base := u.Root().LowPC
	var fallback []byte
	for range maxRanges {
		kind := r.U8()
		switch kind { // section 7.29
		case lleEndOfList:
			return fallback, r.Err()
		case lleDefaultLocation:
			fallback = r.Block(r.ULEB())
			continue
		case lleViewPair: // gcc -gvariable-location-views
			r.ULEB()
			r.ULEB()
			continue
		case lleBaseAddress, lleStartEnd, lleStartLength:
			kind-- // range lists have no default location
		}
		lo, hi, bounded := u.listEntry(r, kind, &base)
		if !bounded && kind != rleBaseAddress && kind != rleBaseAddressx {
			return nil, unknownKind(kind)
		} else if !bounded {
			continue
		}
		block := r.Block(r.ULEB())
		if r.Err() != nil {
			return nil, r.Err()
		}
		if lo <= pc && pc < hi {
			return block, nil
		}
	}
	return nil, errNoEnd
}

// location4 reads .debug_loc (DWARF 4, section 2.6.2).
func (u *Unit) location4(r *bytecursor.Cursor, pc uint64) ([]byte, error) {
	base := u.Root().LowPC
	for range maxRanges {
		lo, hi := r.Uint(u.AddrSize), r.Uint(u.AddrSize)
		if lo == 0 && hi == 0 || r.Err() != nil {
			return nil, r.Err()
		}
		if lo == u.maxAddr() {
			base = hi
			continue
		}
		block := r.Block(uint64(r.U16()))
		if r.Err() != nil {
			return nil, r.Err()
		}
		if base+lo <= pc && pc < base+hi {
			return block, nil
		}
	}
	return nil, errNoEnd
}
