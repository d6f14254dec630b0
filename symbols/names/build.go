package names

import (
	"runtime"
	"slices"
	"sync/atomic"

	"dbg/dwarf"
	"dbg/internal/fault"
	"dbg/internal/radix"
	"dbg/symbols/entry"
	"dbg/symbols/lang"
	"dbg/symbols/spelling"
)

// build goes over all units, not into functions, with as many workers as there are processors.
// While it runs, nobody else may use the debug information. It returns nil if the question that
// needs the index was cancelled.
func (l *Lookup) build() *Index {
	if l.cancelled() {
		return nil
	}
	x := &Index{units: l.source.Units()}
	if len(x.units) == 0 || len(x.units) >= 1<<unitBits {
		return x
	}
	// Shared parts are made ready first.
	langs := make([]lang.Lang, len(x.units))
	split := false
	l.source.Data().Share() // split units have their addresses there
	for _, u := range x.units {
		u.Data.Share()
		split = split || u.Data != l.source.Data()
	}
	if split { // units of one file share a skeleton's
		for _, u := range x.units {
			u.Root()
		}
	}
	made := make([]unitNames, len(x.units))
	total := uint64(0)
	for _, u := range x.units {
		total += u.End - u.Offset
	}
	told := l.newProgress(total)
	defer told.end()
	var next atomic.Int64
	var wg fault.Group
	for range min(runtime.GOMAXPROCS(0), len(x.units)) {
		wg.Go(func() {
			s := namesScan{}
			for i := int(next.Add(1) - 1); i < len(x.units) && !l.cancelled(); i = int(next.Add(1) - 1) {
				if u := x.units[i]; u.First < u.End {
					langs[i] = lang.FromCode(u.Root().Language)
					s.unit(u, uint32(i), langs[i])
					made[i] = s.take()
					u.Release()
					if i%16 == 0 {
						u.Data.ReleaseStrings()
					}
				}
				told.add(x.units[i].End - x.units[i].Offset)
			}
		})
	}
	wg.Wait()
	if l.cancelled() {
		return nil
	}
	n, f := 0, 0
	for i := range made {
		n, f = n+len(made[i].names)+len(made[i].later), f+len(made[i].funcs)
	}
	x.names, x.funcs = make([]nameRef, 0, n), make([]funcRef, 0, f)
	for i := range made {
		x.names, x.funcs = append(x.names, made[i].names...), append(x.funcs, made[i].funcs...)
		for _, r := range made[i].later {
			if r, ok := finishName(x.units[i], r); ok {
				x.names = append(x.names, r)
			}
		}
		made[i] = unitNames{}
	}
	x.names = fewTypes(sortNames(x.names))
	x.funcs = sortFuncs(x.funcs)
	return x
}

// sortFuncs sorts by address. Functions at one address stay in the order of their units and
// offsets.
func sortFuncs(funcs []funcRef) []funcRef {
	addr, num := make([]uint64, len(funcs)), make([]uint32, len(funcs))
	for i := range funcs {
		addr[i], num[i] = funcs[i].lo, uint32(i)
	}
	radix.Sort(addr, num)
	out := make([]funcRef, len(funcs))
	for i, n := range num {
		out[i] = funcs[n]
	}
	return out
}

// finishName sets the hash of a name that is in another unit; false if the entry has none, or is a
// variable without a location.
func finishName(u *dwarf.Unit, r nameRef) (nameRef, bool) {
	e, err := u.Entry(u.Offset + r.off)
	if err != nil || r.kind() == Variable && !e.Has(dwarf.AttrLocation) && entry.Inherited(e, dwarf.AttrConstValue) == nil {
		return r, false
	}
	name := entry.Name(e)
	if r.kind() == Function {
		name = spelling.WithoutTemplate(name)
	}
	r.hash = hashName(name)
	return r, name != ""
}

// namesOfUnit returns the index of one unit: names by hash.
func namesOfUnit(u *dwarf.Unit) []nameRef {
	if u.First >= u.End {
		return nil
	}
	s := namesScan{}
	s.unit(u, 0, lang.FromCode(u.Root().Language))
	u.Release()
	names := s.names
	for _, r := range s.later {
		if r, ok := finishName(u, r); ok {
			names = append(names, r)
		}
	}
	return slices.Clip(sortNames(names))
}

// unitNames are the parts of an index that come from one unit.
type unitNames struct {
	names []nameRef
	later []nameRef // names that are in other units
	funcs []funcRef
}

// namesScan is the state of a worker.
type namesScan struct {
	unitNames
	seen   hashCounts                      // how many types of a hash
	scopes [entry.MaxNesting + 1]nameScope // by depth: what an entry at that depth is a scope by
	u      *dwarf.Unit
	number uint32
	ranges int
	e      dwarf.Entry
}

// take returns the names that were found, and reuses the memory.
func (s *namesScan) take() unitNames {
	out := unitNames{slices.Clone(s.names), slices.Clone(s.later), slices.Clone(s.funcs)}
	s.unitNames = unitNames{s.names[:0], s.later[:0], s.funcs[:0]}
	return out
}

func (s *namesScan) unit(u *dwarf.Unit, number uint32, of lang.Lang) {
	s.u, s.number, s.ranges = u, number, 0
	s.scopes[0] = nameScope{named: true}
	c, err := u.Cursor(u.First)
	if err != nil || !c.Next() || !c.Children() {
		return
	}
	// The contents of a structure are of interest only where structures are scopes.
	scoped := of.Scoped()
	for c.Next() {
		has := c.Has()
		switch c.Tag() {
		case dwarf.TagNamespace, dwarf.TagModule:
			if c.Depth() < entry.MaxNesting {
				s.enter(&c)
				continue
			}
		case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
			s.addType(&c)
			if scoped && c.Depth() < entry.MaxNesting {
				s.enter(&c)
				continue
			}
		case dwarf.TagEnumerationType:
			s.addType(&c)
			if has&dwarf.HasDeclaration == 0 {
				s.enumerators(&c)
				continue
			}
		case dwarf.TagTypedef, dwarf.TagBaseType, dwarf.TagUnspecifiedType, dwarf.TagTemplateAlias:
			s.addType(&c)
		case dwarf.TagPointerType:
			if of == lang.Go { // which gives names to all types
				s.addType(&c)
			}
		case dwarf.TagVariable, dwarf.TagMember:
			if c.Tag() == dwarf.TagMember && has&(dwarf.HasExternal|dwarf.HasDeclaration) == 0 {
				break // an ordinary member, not DWARF 4's static one
			}
			s.addVariable(&c)
		case dwarf.TagSubprogram:
			if has&dwarf.HasDeclaration == 0 {
				s.addFunction(&c)
			}
		}
		c.Skip()
	}
}

func (s *namesScan) add(kind Kind, name []byte, off uint64) {
	s.names = append(s.names, newNameRef(hashName(name), kind, s.number, off-s.u.Offset))
}

// addType adds a type that is complete.
func (s *namesScan) addType(c *dwarf.Cursor) {
	if c.Has()&dwarf.HasDeclaration != 0 {
		return
	}
	name := c.Name()
	if len(name) == 0 {
		return
	}
	keep := func(h uint32) {
		if s.seen.count(h, maxSameHash) {
			s.names = append(s.names, newNameRef(h, Type, s.number, c.Offset()-s.u.Offset))
		}
	}
	keep(hashName(name))
	if in := s.around(c); in.named && in.inside {
		keep(hashInScope(in.hash, name))
	}
}

// nameScope is a namespace or a type that contains others, together with the scopes around it.
type nameScope struct {
	hash   uint32 // of "A::B", as hashName has it
	named  bool   // each of them has a name
	inside bool   // it is one, not the unit
}

// around returns the scope of an entry. Entries after the unit's own, as in a damaged file, are in
// none.
func (s *namesScan) around(c *dwarf.Cursor) *nameScope {
	return &s.scopes[min(max(c.Depth(), 1), len(s.scopes))-1]
}

// enter notes the scope that the walk is about to go into.
func (s *namesScan) enter(c *dwarf.Cursor) {
	at, name := *s.around(c), c.Name()
	switch {
	case len(name) == 0:
		at.named = false // (anonymous namespace)
	case at.inside:
		at.hash = hashInScope(at.hash, name)
	default:
		at.hash = hashName(name)
	}
	at.inside = true
	s.scopes[c.Depth()] = at
}

// enumerators adds the constants of an enumeration, which the walk is about to go into.
func (s *namesScan) enumerators(c *dwarf.Cursor) {
	if !c.Children() {
		return
	}
	at := *c
	for at.Next() && at.Depth() > c.Depth() {
		if at.Tag() == dwarf.TagEnumerator {
			if name := at.Name(); len(name) > 0 {
				h := hashName(name) ^ 1 // apart from types
				if s.seen.count(h, maxSameHash) {
					s.add(Enumerator, name, c.Offset())
				}
			}
		}
		at.Skip()
	}
}

// addVariable adds a variable with a location: definitions, and constants, whose value may be in
// the declaration.
func (s *namesScan) addVariable(c *dwarf.Cursor) {
	at := *c
	for range entry.MaxHops {
		if at.Has()&(dwarf.HasLocation|dwarf.HasConstValue) != 0 {
			s.addNamed(Variable, c, func(name []byte) []byte { return name })
			return
		}
		var elsewhere bool
		if at, elsewhere = origin(at); elsewhere {
			s.later = append(s.later, newNameRef(0, Variable, s.number, c.Offset()-s.u.Offset))
			return
		} else if at.Unit() == nil {
			return
		}
	}
}

// origin returns the entry that one is an instance or a completion of. to has no unit if there is
// none, or if it is elsewhere: in another unit.
func origin(c dwarf.Cursor) (to dwarf.Cursor, elsewhere bool) {
	a := dwarf.AttrAbstractOrigin
	if c.Has()&dwarf.HasAbstractOrigin == 0 {
		if a = dwarf.AttrSpecification; c.Has()&dwarf.HasSpecification == 0 {
			return dwarf.Cursor{}, false
		}
	}
	off, ok := c.InUnit(a)
	if ok {
		to, ok = c.At(off)
	}
	if !ok {
		return dwarf.Cursor{}, true
	}
	return to, false
}

func (s *namesScan) addFunction(c *dwarf.Cursor) {
	if c.Has()&dwarf.HasCode != 0 {
		if c.Entry(&s.e) != nil {
			return
		}
		lo := uint64(0)
		s.e.EachRange(func(from, _ uint64) {
			if s.ranges++; from != 0 && lo == 0 && s.ranges <= entry.MaxUnitRanges {
				lo = from
			}
		})
		if lo == 0 {
			return // the linker has dropped it
		}
		f := funcRef{lo: lo, off: c.Offset() - s.u.Offset, what: s.number, skip: notKnown}
		if c.Has()&dwarf.HasAbstractOrigin != 0 {
			f.what |= hasCopies
		}
		s.funcs = append(s.funcs, f)
	}
	s.addNamed(Function, c, func(name []byte) []byte { return name[:spelling.PlainLength(name)] })
}

// addNamed adds an entry under its own name, or under the one of its declaration or abstract
// instance.
func (s *namesScan) addNamed(kind Kind, c *dwarf.Cursor, key func([]byte) []byte) {
	at := *c
	for range entry.MaxHops {
		if name := at.Name(); len(name) > 0 {
			s.add(kind, key(name), c.Offset())
			return
		}
		var elsewhere bool
		if at, elsewhere = origin(at); elsewhere {
			s.later = append(s.later, newNameRef(0, kind, s.number, c.Offset()-s.u.Offset))
			return
		} else if at.Unit() == nil {
			return
		}
	}
}

// hashCounts counts how often each of many hashes has come. It is asked for each type of a program,
// and most of these come again and again.
type hashCounts struct {
	slots []uint64 // open addressing: the count, above it the hash; 0 is free
	used  int
}

const countBits = 8

// count counts a hash once more; false if it has come most times already.
func (c *hashCounts) count(h uint32, most uint64) bool {
	if 2*c.used >= len(c.slots) {
		c.grow()
	}
	s := c.slot(uint64(h))
	switch n := *s & (1<<countBits - 1); n {
	case most:
		return false
	case 0:
		*s = uint64(h) << countBits
		c.used++
	}
	*s++
	return true
}

// slot returns the slot of a hash, or the free one for it.
func (c *hashCounts) slot(h uint64) *uint64 {
	mask := uint64(len(c.slots) - 1)
	i := h * 0x9e3779b97f4a7c15 >> 32 & mask
	for c.slots[i] != 0 && c.slots[i]>>countBits != h {
		i = (i + 1) & mask
	}
	return &c.slots[i]
}

func (c *hashCounts) grow() {
	old := c.slots
	c.slots = make([]uint64, max(1<<10, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			*c.slot(s >> countBits) = s
		}
	}
}
