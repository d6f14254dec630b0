package symbols

import (
	"cmp"
	"slices"

	"dbg/dwarf"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
)

// unit is a compilation unit. Its entries are scanned once, without going into
// functions: that gives its functions by address.
type unit struct {
	m    *Module
	dw   *dwarf.Unit
	lang lang.Lang
	gcc  bool // the producer is

	scanned bool
	nested  bool // functions have been searched for functions in them
	made    map[uint64]*function
	byAddr  []funcSpan
	inlined []inline // in the order of the entries
	listed  bool     // inlined is complete
	lists   int8     // 1: a variable has a location list; -1: none has; 0: not known yet
	ranges  int      // how many its functions and blocks have
}

// funcSpan is a range of addresses of the function at an offset. A program may have
// millions of functions: what else there is to know of one is read when it is asked for.
type funcSpan struct {
	lo, hi, maxHi uint64
	off           uint64
}

// inline is an inlined call: what is called, the entry of the call, and that of the function it is in.
type inline struct {
	what    entry.Ref
	off, fn uint64
}

// scan reads the unit's entries.
func (u *unit) scan() {
	if u.scanned {
		return
	}
	u.scanned = true
	// The memory is reused for the next unit.
	u.byAddr = u.m.spans[:0]
	u.eachFunction(u.addFunction)
	u.m.spans = u.byAddr
	u.byAddr = slices.Clone(u.byAddr)
	u.sortFunctions()
}

// eachFunction goes over the unit's functions that are not in others.
func (u *unit) eachFunction(fn func(*dwarf.Entry)) {
	c, err := u.dw.Cursor(u.dw.First)
	if err != nil || !c.Next() || !c.Children() {
		return
	}
	defer u.dw.Release()
	var e dwarf.Entry
	for c.Next() {
		switch c.Tag() {
		case dwarf.TagNamespace, dwarf.TagModule:
			continue
		case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			// Only in these languages there is anything but members in it.
			if u.lang != lang.C && u.lang != lang.Go {
				continue
			}
		case dwarf.TagSubprogram:
			if c.Has()&dwarf.HasCode != 0 && c.Entry(&e) == nil {
				fn(&e)
			}
		}
		c.Skip()
	}
}

// spansWith returns the spans, among those that scan finds, that have one of some addresses, which are sorted. It keeps nothing.
func (u *unit) spansWith(addrs []uint64) []funcSpan {
	var out []funcSpan
	n := 0
	u.eachFunction(func(e *dwarf.Entry) {
		e.EachRange(func(lo, hi uint64) {
			if n++; lo == 0 || n > entry.MaxUnitRanges {
				return
			}
			if i, found := slices.BinarySearch(addrs, lo); found || i < len(addrs) && addrs[i] < hi {
				out = append(out, funcSpan{lo: lo, hi: hi, off: e.Offset})
			}
		})
	})
	sortSpans(out)
	return out
}

// addFunction adds the addresses of a function's entry.
func (u *unit) addFunction(e *dwarf.Entry) {
	e.EachRange(func(lo, hi uint64) {
		if u.ranges++; lo != 0 && u.ranges <= entry.MaxUnitRanges {
			u.byAddr = append(u.byAddr, funcSpan{lo: lo, hi: hi, off: e.Offset})
		}
	})
}

// function returns the function at an offset, nil if it has no code.
func (u *unit) function(off uint64) *function {
	if fn, ok := u.made[off]; ok {
		return fn
	}
	var fn *function
	if e, err := u.dw.Entry(off); err == nil && e.Tag == dwarf.TagSubprogram && (e.Has(dwarf.AttrLowPC) || e.Has(dwarf.AttrRanges)) {
		ranges, _ := e.Ranges()
		ranges = slices.DeleteFunc(ranges, func(r dwarf.Range) bool { return r.Lo == 0 })
		if len(ranges) > 0 {
			fn = &function{u: u, off: off, ranges: ranges}
		}
	}
	if u.made == nil {
		u.made = map[uint64]*function{}
	}
	u.made[off] = fn
	return fn
}

func (u *unit) sortFunctions() { sortSpans(u.byAddr) }

func sortSpans(spans []funcSpan) {
	slices.SortFunc(spans, func(a, b funcSpan) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.off, b.off)) })
	var top uint64
	for i := range spans {
		top = max(top, spans[i].hi)
		spans[i].maxHi = top
	}
}

// functionAt returns the function that has an address, nil if there is none.
func (u *unit) functionAt(a uint64) *function {
	u.scan()
	if fn := u.searchFunction(a); fn != nil {
		return fn
	}
	// GNU C's nested functions are inside of others, and so does gcc put the
	// methods of local classes and lambdas.
	if !u.nested && u.gcc {
		u.nested = true
		if n := len(u.byAddr); u.addNested() > n {
			u.sortFunctions()
			return u.searchFunction(a)
		}
	}
	return nil
}

// addNested adds the functions in functions, and returns how many spans there are then.
func (u *unit) addNested() int {
	c, err := u.dw.Cursor(u.dw.First)
	if err != nil {
		return 0
	}
	in := 0 // the depth of the outermost function that we are in; 0 is the unit's
	var e dwarf.Entry
	for c.Next() {
		if c.Depth() <= in {
			in = 0
		}
		if c.Tag() != dwarf.TagSubprogram {
			continue
		}
		if in == 0 {
			in = c.Depth()
		} else if c.Has()&dwarf.HasCode != 0 && c.Entry(&e) == nil {
			u.addFunction(&e)
		}
	}
	return len(u.byAddr)
}

func (u *unit) searchFunction(a uint64) *function {
	if i := spanAt(u.byAddr, a); i >= 0 {
		return u.function(u.byAddr[i].off)
	}
	return nil
}

// spanAt is the index of the innermost span that has an address, -1 if none has.
func spanAt(spans []funcSpan, a uint64) int {
	i, _ := slices.BinarySearchFunc(spans, a, func(s funcSpan, a uint64) int {
		if s.lo <= a {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && spans[i].maxHi > a; i-- {
		if spans[i].hi > a {
			// Of functions that the linker has folded into one, the first.
			for i > 0 && spans[i-1].lo == spans[i].lo && spans[i-1].hi == spans[i].hi {
				i--
			}
			return i
		}
	}
	return -1
}

// calls returns the inlined calls in the unit's functions.
func (u *unit) calls() []inline {
	if u.listed {
		return u.inlined
	}
	u.listed = true
	u.inlined, _ = u.findCalls(false)
	return u.inlined
}

// findCalls goes over all entries. With here, what leads into another unit ends it: then the answer is false.
func (u *unit) findCalls(here bool) (calls []inline, ok bool) {
	c, err := u.dw.Cursor(u.dw.First)
	if err != nil {
		return nil, true
	}
	type level struct {
		fn    uint64
		depth int
	}
	var in []level // the functions that we are in
	var e dwarf.Entry
	for c.Next() {
		for len(in) > 0 && c.Depth() <= in[len(in)-1].depth {
			in = in[:len(in)-1]
		}
		switch c.Tag() {
		case dwarf.TagSubprogram:
			if len(in) < entry.MaxNesting {
				in = append(in, level{c.Offset(), c.Depth()})
			}
		case dwarf.TagInlinedSubroutine:
			if len(in) == 0 || c.Has()&dwarf.HasCode == 0 {
				continue
			}
			what := entry.Ref{Unit: u.dw, Off: 0}
			var ok bool
			if what.Off, ok = c.InUnit(dwarf.AttrAbstractOrigin); !ok {
				if here {
					return nil, false
				}
				if c.Entry(&e) != nil {
					continue
				}
				if what.Unit, what.Off, ok = e.RefOffset(dwarf.AttrAbstractOrigin); !ok {
					continue
				}
			}
			calls = append(calls, inline{what, c.Offset(), in[len(in)-1].fn})
		}
	}
	return calls, true
}

// copiesOf returns the inlined calls, in this unit, of an abstract function.
func (u *unit) copiesOf(abstract entry.Ref) []*Function {
	var out []*Function
	for _, c := range u.calls() {
		if c.what != abstract {
			continue
		}
		if fn := u.function(c.fn); fn != nil {
			if b := fn.body().find(c.off); b != nil && b.inlined {
				out = append(out, b.function().public())
			}
		}
	}
	return out
}
