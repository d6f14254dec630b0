package symbols

import (
	"cmp"
	"slices"

	"dbg/dwarf"
	"dbg/image"
)

// unitIndex finds units by address. It is made in steps: .debug_aranges is gone through for the first few
// questions and sorted when there are more; for an address that is
// not in it there are the ranges of the units that have no entry there: clang, rustc and
// Go write no .debug_aranges.
type unitIndex struct {
	asked       int
	answers     map[image.Addr]*unit // of the first questions
	fromAranges bool
	fromUnits   bool
	spans       []unitSpan // of .debug_aranges
	others      []unitSpan // of the units that are not in it
}

// linearQuestions is how many questions .debug_aranges is gone through for: sorting it costs
// as much as some dozen walks, and memory.
const linearQuestions = 16

// unitSpan is a range of addresses of one unit. maxHi is the largest hi of all
// spans up to this one, so that a search knows when to stop where ranges
// overlap (identical code folding).
type unitSpan struct {
	lo, hi, maxHi uint64
	unit          uint64
}

func finishSpans(spans []unitSpan) {
	slices.SortFunc(spans, func(a, b unitSpan) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.unit, b.unit), cmp.Compare(a.hi, b.hi))
	})
	var top uint64
	for i := range spans {
		top = max(top, spans[i].hi)
		spans[i].maxHi = top
	}
}

// findSpan calls try for each unit that has an address until try returns true.
func findSpan(spans []unitSpan, a uint64, try func(unit uint64) bool) bool {
	i, _ := slices.BinarySearchFunc(spans, a, func(s unitSpan, a uint64) int {
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

// unitAt returns the unit that has an address, nil if none has. Of several, one
// that has a function or a line there.
func (m *Module) unitAt(a image.Addr) *unit {
	d := m.dwarf()
	if d == nil || a == 0 {
		return nil
	}
	x := &m.index
	if u, ok := x.answers[a]; ok {
		return u
	}
	u := m.searchUnit(d, a)
	if x.asked <= linearQuestions {
		if x.answers == nil {
			x.answers = map[image.Addr]*unit{}
		}
		x.answers[a] = u
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
	x := &m.index
	if x.asked++; x.asked <= linearQuestions && !x.fromAranges {
		d.Aranges(func(r dwarf.Arange) bool {
			return uint64(a) < r.Lo || uint64(a) >= r.Hi || !try(r.Unit)
		})
	} else {
		x.readAranges(d)
		findSpan(x.spans, uint64(a), try)
	}
	if found != nil {
		return found
	}
	if (any == nil || !any.claims(uint64(a))) && m.symbols().IsCode(a) {
		m.indexUnits(d)
		findSpan(x.others, uint64(a), try)
	}
	if found == nil {
		found = any
	}
	return found
}

// claims reports whether a unit itself says that an address is in it, or says nothing: .debug_aranges
// may be wrong.
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

// readAranges sorts .debug_aranges.
func (x *unitIndex) readAranges(d *dwarf.Data) {
	if x.fromAranges {
		return
	}
	x.fromAranges = true
	n := 0
	d.Aranges(func(dwarf.Arange) bool { n++; return true })
	x.spans = make([]unitSpan, 0, n)
	d.Aranges(func(r dwarf.Arange) bool {
		x.spans = append(x.spans, unitSpan{lo: r.Lo, hi: r.Hi, unit: r.Unit})
		return true
	})
	finishSpans(x.spans)
}

// indexUnits finds the ranges of the units that .debug_aranges does not have.
func (m *Module) indexUnits(d *dwarf.Data) {
	x := &m.index
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
				x.others = append(x.others, unitSpan{lo: r.Lo, hi: r.Hi, unit: du.Offset})
			}
		}
	}
	finishSpans(x.others)
}
