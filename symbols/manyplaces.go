package symbols

import (
	"cmp"
	"runtime"
	"slices"
	"sync/atomic"

	"dbg/dwarf"
	"dbg/dwarf/linetable"
	"dbg/image"
	"dbg/internal/fault"
)

// manySymbols is how many symbols of a name are looked at one by one. Of more, as a template in hundreds of units has, each unit is gone
// over once, by as many workers as there are processors, for the addresses that are asked for and nothing else.
const manySymbols = 16

// unitPlaces is what is asked of one unit, and the answers.
type unitPlaces struct {
	u      *unit
	lines  *linetable.Table
	addrs  []uint64 // sorted: where functions begin
	places []image.Addr
}

// manyPlaces returns where the breakpoints go of the functions that symbols are of, by the symbols' addresses. Functions that are not in it
// are to be looked at one by one: an index knows them, or they have inlined copies, are in functions, in no unit or in several.
func (m *Module) manyPlaces(symbols []*image.Symbol) map[image.Addr]image.Addr {
	if len(symbols) <= manySymbols || m.names.Present() != nil {
		return nil
	}
	addrs := make([]uint64, len(symbols))
	for i, s := range symbols {
		addrs[i] = uint64(s.Addr)
	}
	slices.Sort(addrs)
	work := m.unitsOf(slices.Compact(addrs))
	if len(work) == 0 {
		return nil
	}
	// What is shared is made ready before. Split units have their addresses in the skeletons' file.
	m.dwarf().ShareUnits(0)
	for i := range work {
		w := &work[i]
		w.u.dw.Data.ShareUnits(w.u.dw.End)
		w.lines = w.u.dw.Files()
	}
	var next, spent atomic.Int64
	var wg fault.Group
	for range min(runtime.GOMAXPROCS(0), len(work)) {
		wg.Go(func() {
			var rows []linetable.Row
			for i := int(next.Add(1) - 1); i < len(work); i = int(next.Add(1) - 1) {
				m.placesIn(&work[i], &rows, &spent)
			}
		})
	}
	wg.Wait()
	out := make(map[image.Addr]image.Addr, len(addrs))
	for _, w := range work {
		for i, at := range w.places {
			if at != 0 {
				out[image.Addr(w.addrs[i])] = at
			}
		}
	}
	return out
}

// placesIn answers for one unit. Nothing that it does leads into another one, see dwarf.Data.ShareUnits.
func (m *Module) placesIn(w *unitPlaces, rows *[]linetable.Row, spent *atomic.Int64) {
	u := w.u
	w.places = make([]image.Addr, len(w.addrs))
	spans := u.spansWith(w.addrs)
	copied := false
	ends := make([]uint64, len(w.addrs)) // of the code around the entries; 0: the function is to be looked at by itself
	for i, a := range w.addrs {
		k := spanAt(spans, a)
		if k < 0 {
			continue
		}
		fn := u.function(spans[k].off)
		if fn == nil || fn.entry() != a {
			continue
		}
		if e, err := fn.dieEntry(); err != nil || e.Has(dwarf.AttrAbstractOrigin) {
			copied = true
			continue
		}
		ends[i] = fn.entryEnd()
	}
	if copied && !u.listed { // what copies returns is found from the calls
		u.inlined, u.listed = u.findCalls(true)
	}
	if u.goodFromEntry() {
		for i, a := range w.addrs {
			if ends[i] != 0 {
				w.places[i] = image.Addr(a)
			}
		}
		return
	}
	w.lines.EachAt(w.addrs, rows, spent, func(i int, l linetable.Sequence) {
		if a := w.addrs[i]; ends[i] != 0 {
			w.places[i] = max(image.Addr(a), m.prologueEndIn(u, l, a, ends[i]))
		}
	})
}

// unitsOf returns the units that contain some addresses, which must be sorted, by offset. It leaves out
// addresses that no unit claims, or several.
func (m *Module) unitsOf(addrs []uint64) []unitPlaces {
	d := m.dwarf()
	if d == nil {
		return nil
	}
	var work []unitPlaces
	at := map[*unit]int{} // in work
	for i, c := range m.index.Claims(d, addrs) {
		if c.Units != 1 {
			continue
		}
		du, err := d.UnitAt(c.Unit)
		if err != nil || du.First >= du.End {
			continue
		}
		u := m.unit(du)
		k, ok := at[u]
		if !ok {
			k = len(work)
			at[u] = k
			work = append(work, unitPlaces{u: u})
		}
		work[k].addrs = append(work[k].addrs, addrs[i])
	}
	slices.SortFunc(work, func(a, b unitPlaces) int { return cmp.Compare(a.u.dw.Offset, b.u.dw.Offset) })
	return work
}
