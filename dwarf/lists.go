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
	off := u.part(secRngLists) + v.Num
	if v.Form == form.Rnglistx {
		var err error
		if off, err = u.listOffset(secRngLists, u.Root().rngListsBase, v.Num); err != nil {
			return u.listError(secRngLists, off, err)
		}
	}
	if err := u.rangeList5(off, base, most, add); err != nil {
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
		var lo, hi uint64
		switch kind := r.U8(); kind { // section 7.25
		case rleEndOfList:
			return r.Err()
		case rleBaseAddressx:
			base = u.index(&r)
			continue
		case rleStartxEndx:
			lo, hi = u.index(&r), u.index(&r)
		case rleStartxLength:
			lo = u.index(&r)
			hi = lo + r.ULEB()
		case rleOffsetPair:
			lo, hi = base+r.ULEB(), base+r.ULEB()
			if base >= u.maxAddr()-1 {
				lo, hi = 0, 0
			}
		case rleBaseAddress:
			base = r.Uint(u.AddrSize)
			continue
		case rleStartEnd:
			lo, hi = r.Uint(u.AddrSize), r.Uint(u.AddrSize)
		case rleStartLength:
			lo = r.Uint(u.AddrSize)
			hi = lo + r.ULEB()
		default:
			return unknownKind(kind)
		}
		if r.Err() != nil {
			return r.Err()
		}
		add(lo, hi)
	}
	return errNoEnd
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
		id, off, read = secLocLists, u.part(secLocLists)+v.Num, (*Unit).location5
		if v.Form == form.Loclistx {
			var err error
			if off, err = u.listOffset(secLocLists, u.Root().locListsBase, v.Num); err != nil {
				return nil, u.listError(id, off, err)
			}
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
		var lo, hi uint64
		switch kind := r.U8(); kind { // section 7.29
		case lleEndOfList:
			return fallback, r.Err()
		case lleBaseAddressx:
			base = u.index(r)
			continue
		case lleStartxEndx:
			lo, hi = u.index(r), u.index(r)
		case lleStartxLength:
			lo = u.index(r)
			hi = lo + r.ULEB()
		case lleOffsetPair:
			lo, hi = base+r.ULEB(), base+r.ULEB()
		case lleDefaultLocation:
			fallback = r.Block(r.ULEB())
			continue
		case lleBaseAddress:
			base = r.Uint(u.AddrSize)
			continue
		case lleStartEnd:
			lo, hi = r.Uint(u.AddrSize), r.Uint(u.AddrSize)
		case lleStartLength:
			lo = r.Uint(u.AddrSize)
			hi = lo + r.ULEB()
		case lleViewPair: // gcc -gvariable-location-views
			r.ULEB()
			r.ULEB()
			continue
		default:
			return nil, unknownKind(kind)
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
