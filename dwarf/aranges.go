package dwarf

import "encoding/binary"

// Arange says that a range of addresses belongs to the unit at an offset.
type Arange struct {
	Range
	Unit uint64
}

// Aranges calls fn for the ranges of .debug_aranges (section 6.1.2), as they come, until it returns
// false; ranges of one unit that follow each other are given as one. A set that can't be read ends the
// list.
func (d *Data) Aranges(fn func(Arange) bool) {
	r := reader{b: d.all(secAranges), big: d.big}
	done := 0
	defer func() { d.release(secAranges, uint64(done), uint64(r.off)) }()
	for r.left() > 0 {
		start := r.off
		if start-done >= 1<<20 {
			d.release(secAranges, uint64(done), uint64(start))
			done = start
		}
		length, is64 := r.unitLength()
		if r.err != nil || length > uint64(r.left()) {
			break
		}
		set := reader{b: r.b[:r.off+int(length)], off: r.off, big: d.big}
		r.off += int(length)
		version := set.u16()
		unit := set.offset(is64)
		addrSize, segSize := int(set.u8()), int(set.u8())
		if version != 2 || segSize != 0 || addrSize != 4 && addrSize != 8 {
			continue
		}
		// The tuples are aligned to their size, from the start of the set.
		if rem := (set.off - start) % (2 * addrSize); rem != 0 {
			set.take(uint64(2*addrSize - rem))
		}
		if !set.tuples(addrSize, unit, fn) {
			return
		}
	}
}

// tuples gives the ranges of one set.
func (r *reader) tuples(addrSize int, unit uint64, fn func(Arange) bool) bool {
	var cur Arange
	for r.left() >= 2*addrSize {
		var lo, n uint64
		if b := r.b[r.off:]; addrSize == 8 && !r.big {
			lo, n = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
			r.off += 16
		} else {
			lo, n = r.sized(addrSize), r.sized(addrSize)
		}
		if lo == 0 && n == 0 {
			break
		}
		switch {
		case lo == 0 || n == 0 || lo+n < lo:
		case lo == cur.Hi:
			cur.Hi += n
		default:
			if cur.Lo < cur.Hi && !fn(cur) {
				return false
			}
			cur = Arange{Range{lo, lo + n}, unit}
		}
	}
	return cur.Lo >= cur.Hi || fn(cur)
}
