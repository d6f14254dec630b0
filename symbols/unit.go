package symbols

import (
	"cmp"
	"slices"

	"dbg/dwarf"
)

// unit is a compilation unit. Its entries are scanned once, without going into
// functions: that gives its functions by address and the scopes that names are
// made of.
type unit struct {
	m    *Module
	dw   *dwarf.Unit
	lang Lang
	gcc  bool // the producer is

	scanned bool
	nested  bool // functions have been searched for functions in them
	funcs   []*function
	byAddr  []funcSpan
	scopes  []scope // in the order of the entries
	lists   int8    // 1: a variable has a location list; -1: none has; 0: not known yet
	ranges  int     // how many its functions and blocks have
}

// funcSpan is a range of addresses of a function.
type funcSpan struct {
	lo, hi, maxHi uint64
	fn            *function
}

// scope is a namespace, type or function with what is inside of it:
// the entries from start to end.
type scope struct {
	start, end uint64
	tag        dwarf.Tag
	parent     int32 // index in scopes, -1 at the top
}

// scan reads the unit's entries.
func (u *unit) scan() {
	if u.scanned {
		return
	}
	u.scanned = true
	defer u.sortFunctions()
	e, err := u.dw.Entry(u.dw.First)
	if err != nil || !e.Children {
		return
	}
	cur := int32(-1) // the scope that we are in
	var c dwarf.Entry
	for at, depth := e.End, 0; at < u.dw.End; {
		if u.dw.Read(at, &c) != nil {
			return
		}
		at = c.End
		if c.Tag == 0 {
			if cur < 0 {
				return
			}
			u.scopes[cur].end = at
			cur = u.scopes[cur].parent
			depth--
			continue
		}
		into := false
		switch c.Tag {
		case dwarf.TagNamespace, dwarf.TagModule:
			into = true
		case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			// Only in these languages there is anything but members in it.
			into = u.lang != LangC && u.lang != LangGo
		case dwarf.TagSubprogram:
			u.addFunction(&c)
		}
		if !c.Children {
			continue
		}
		if into && depth < maxNesting {
			u.scopes = append(u.scopes, scope{start: c.Offset, end: u.dw.End, tag: c.Tag, parent: cur})
			cur = int32(len(u.scopes) - 1)
			depth++
			continue
		}
		next, err := c.AfterChildren()
		if err != nil {
			return
		}
		if c.Tag == dwarf.TagSubprogram {
			u.scopes = append(u.scopes, scope{start: c.Offset, end: next, tag: c.Tag, parent: cur})
		}
		at = next
	}
}

// maxNesting bounds how deep scopes and blocks may be nested.
const maxNesting = 1000

// maxUnitRanges bounds the ranges of all functions and blocks of a unit: many
// entries of a corrupt file may share one long list.
const maxUnitRanges = 1 << 22

// addFunction adds a function that has code.
func (u *unit) addFunction(e *dwarf.Entry) *function {
	if !e.Has(dwarf.AttrLowPC) && !e.Has(dwarf.AttrRanges) {
		return nil
	}
	ranges, _ := e.Ranges()
	ranges = slices.DeleteFunc(ranges, func(r dwarf.Range) bool { return r.Lo == 0 })
	if u.ranges += len(ranges); len(ranges) == 0 || u.ranges > maxUnitRanges {
		return nil
	}
	fn := &function{u: u, off: e.Offset, ranges: ranges}
	u.funcs = append(u.funcs, fn)
	return fn
}

func (u *unit) sortFunctions() {
	u.byAddr = u.byAddr[:0]
	for _, fn := range u.funcs {
		for _, r := range fn.ranges {
			u.byAddr = append(u.byAddr, funcSpan{lo: r.Lo, hi: r.Hi, fn: fn})
		}
	}
	slices.SortStableFunc(u.byAddr, func(a, b funcSpan) int { return cmp.Compare(a.lo, b.lo) })
	var top uint64
	for i := range u.byAddr {
		top = max(top, u.byAddr[i].hi)
		u.byAddr[i].maxHi = top
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
		n := len(u.funcs)
		for i := range u.scopes {
			if e, err := u.dw.Entry(u.scopes[i].start); err == nil && e.Tag == dwarf.TagSubprogram {
				e.Walk(func(c *dwarf.Entry, _ int) bool {
					if c.Tag == dwarf.TagSubprogram {
						u.addFunction(c)
					}
					return true
				}, nil)
			}
		}
		if len(u.funcs) > n {
			u.sortFunctions()
			return u.searchFunction(a)
		}
	}
	return nil
}

func (u *unit) searchFunction(a uint64) *function {
	i, _ := slices.BinarySearchFunc(u.byAddr, a, func(s funcSpan, a uint64) int {
		if s.lo <= a {
			return -1
		}
		return 1
	})
	for i--; i >= 0 && u.byAddr[i].maxHi > a; i-- {
		if u.byAddr[i].hi > a {
			// Of functions that the linker has folded into one, the first.
			for i > 0 && u.byAddr[i-1].lo == u.byAddr[i].lo && u.byAddr[i-1].hi == u.byAddr[i].hi {
				i--
			}
			return u.byAddr[i].fn
		}
	}
	return nil
}
