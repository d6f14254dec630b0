package unitindex

import (
	"cmp"
	"slices"

	"dbg/dwarf"
)

// Index finds the units of one file. The zero value is ready for use. All calls of its methods must
// pass the same dwarf.Data.
type Index struct {
	asked       int
	fromAranges bool
	fromUnits   bool
	spans       []span // of .debug_aranges
	others      []span // of the units that are missing there
}

// Each calls try for the offset of each unit that .debug_aranges lists for an address, until try
// returns true. It reports whether try did.
func (x *Index) Each(d *dwarf.Data, a uint64, try func(unit uint64) bool) bool {
	if x.asked++; x.asked > linearQuestions || x.fromAranges {
		x.readAranges(d)
		return find(x.spans, a, try)
	}
	found := false
	d.Aranges(func(r dwarf.Arange) bool {
		found = a >= r.Lo && a < r.Hi && try(r.Unit)
		return !found
	})
	return found
}

// EachOther is Each for the units that are not in .debug_aranges, by the ranges of their root
// entries. The first call reads these.
func (x *Index) EachOther(d *dwarf.Data, a uint64, try func(unit uint64) bool) bool {
	x.readUnits(d)
	return find(x.others, a, try)
}

// Claims returns for each of some addresses, which must be sorted, the units that claim it: those of
// .debug_aranges, or, if it lists none, those that EachOther finds. It reads .debug_aranges once.
func (x *Index) Claims(d *dwarf.Data, addrs []uint64) []Claim {
	claims := make([]Claim, len(addrs))
	d.Aranges(func(r dwarf.Arange) bool {
		i, _ := slices.BinarySearch(addrs, r.Lo)
		for ; i < len(addrs) && addrs[i] < r.Hi; i++ {
			claims[i].add(r.Unit)
		}
		return true
	})
	for i := range claims {
		if c := &claims[i]; c.Units == 0 {
			x.EachOther(d, addrs[i], func(unit uint64) bool {
				c.add(unit)
				return false
			})
		}
	}
	return claims
}

// Claim holds the units that claim an address.
type Claim struct {
	Unit  uint64 // offset of the last one that was found
	Units int    // their number: no unit is counted twice in a row
}

func (c *Claim) add(unit uint64) {
	if c.Units == 0 || c.Unit != unit {
		c.Unit = unit
		c.Units++
	}
}

// linearQuestions is the number of questions for which .debug_aranges is read from its start: to
// sort it costs as much as some dozen reads, and memory.
const linearQuestions = 16

// span is a range of addresses of one unit. maxHi is the largest hi of all spans up to this one, so
// that a search can stop early where ranges overlap (identical code folding).
type span struct {
	lo, hi, maxHi uint64
	unit          uint64
}

// finish sorts spans and sets maxHi.
func finish(spans []span) {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.unit, b.unit), cmp.Compare(a.hi, b.hi))
	})
	var top uint64
	for i := range spans {
		top = max(top, spans[i].hi)
		spans[i].maxHi = top
	}
}

// find calls try for each unit that has an address, until try returns true.
func find(spans []span, a uint64, try func(unit uint64) bool) bool {
	i, _ := slices.BinarySearchFunc(spans, a, func(s span, a uint64) int {
		if s.lo <= a {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && spans[i].maxHi > a; i-- {
		if spans[i].hi > a && try(spans[i].unit) {
			return true
		}
	}
	return false
}

// readAranges sorts .debug_aranges.
func (x *Index) readAranges(d *dwarf.Data) {
	if x.fromAranges {
		return
	}
	x.fromAranges = true
	n := 0
	d.Aranges(func(dwarf.Arange) bool { n++; return true })
	x.spans = make([]span, 0, n)
	d.Aranges(func(r dwarf.Arange) bool {
		x.spans = append(x.spans, span{lo: r.Lo, hi: r.Hi, unit: r.Unit})
		return true
	})
	finish(x.spans)
}

// readUnits reads the ranges of the units that .debug_aranges lacks.
func (x *Index) readUnits(d *dwarf.Data) {
	if x.fromUnits {
		return
	}
	x.fromUnits = true
	known := map[uint64]bool{}
	last := ^uint64(0)
	d.Aranges(func(r dwarf.Arange) bool {
		if r.Unit != last {
			last = r.Unit
			known[last] = true
		}
		return true
	})
	units, _ := d.Units()
	for _, du := range units {
		if known[du.Offset] || du.Type != dwarf.UTCompile && du.Type != dwarf.UTSkeleton || du.First >= du.End {
			continue
		}
		e, err := du.Entry(du.First)
		if err != nil || !e.Has(dwarf.AttrHighPC) && !e.Has(dwarf.AttrRanges) {
			continue
		}
		ranges, _ := e.Ranges()
		for _, r := range ranges {
			if r.Lo != 0 {
				x.others = append(x.others, span{lo: r.Lo, hi: r.Hi, unit: du.Offset})
			}
		}
	}
	finish(x.others)
}
