package dwarf

// Arange says that a range of addresses belongs to the unit at an offset.
type Arange struct {
	Range
	Unit uint64
}

// Aranges reads .debug_aranges (section 6.1.2). A set that can't be read ends
// the list; what came before it counts.
func (d *Data) Aranges() []Arange {
	var out []Arange
	r := reader{b: d.all(secAranges), big: d.big}
	for r.left() > 0 {
		start := r.off
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
		for set.left() >= 2*addrSize {
			lo, n := set.sized(addrSize), set.sized(addrSize)
			if lo == 0 && n == 0 {
				break
			}
			if lo != 0 && n != 0 && lo+n > lo {
				out = append(out, Arange{Range{lo, lo + n}, unit})
			}
		}
	}
	return out
}
