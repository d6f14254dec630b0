package dwarf

import (
	"encoding/binary"

	"dbg/internal/bytecursor"
)

// Arange is a range of addresses that belongs to the unit at offset Unit.
type Arange struct {
	Range
	Unit uint64
}

// Aranges calls fn for the ranges of .debug_aranges (section 6.1.2), in their order, until fn
// returns false. Adjacent ranges of one unit are joined. An unreadable set ends the list.
func (d *Data) Aranges(fn func(Arange) bool) {
	r := bytecursor.Cursor{Data: d.all(secAranges), Big: d.big}
	done := 0
	defer func() { d.release(secAranges, uint64(done), uint64(r.Pos)) }()
	for r.Left() > 0 {
		start := r.Pos
		if start-done >= 1<<20 {
			d.release(secAranges, uint64(done), uint64(start))
			done = start
		}
		length, is64 := r.InitialLength()
		if r.Err() != nil || length > uint64(r.Left()) {
			break
		}
		set := bytecursor.Cursor{Data: r.Data[:r.Pos+int(length)], Pos: r.Pos, Big: d.big}
		r.Pos += int(length)
		version := set.U16()
		unit := set.Offset(is64)
		addrSize, segSize := int(set.U8()), int(set.U8())
		if version != 2 || segSize != 0 || addrSize != 4 && addrSize != 8 {
			continue
		}
		// The tuples are aligned to their size, from the start of the set.
		if rem := (set.Pos - start) % (2 * addrSize); rem != 0 {
			set.Block(uint64(2*addrSize - rem))
		}
		if !eachArange(&set, addrSize, unit, fn) {
			return
		}
	}
}

// eachArange calls fn for the ranges of one set. It returns false if fn did.
func eachArange(r *bytecursor.Cursor, addrSize int, unit uint64, fn func(Arange) bool) bool {
	var cur Arange
	for r.Left() >= 2*addrSize {
		var lo, n uint64
		if b := r.Data[r.Pos:]; addrSize == 8 && !r.Big {
			lo, n = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
			r.Pos += 16
		} else {
			lo, n = r.Uint(addrSize), r.Uint(addrSize)
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
