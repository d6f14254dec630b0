package names

import (
	"slices"
	"sort"

	"dbg/dwarf"
	"dbg/symbols/entry"
)

// Index is the index of all names of a file: of functions, variables, types and enumerators at the
// top of a unit, in a namespace or in a class. An entry is a hash of the last component of its
// name, for functions without template arguments. A reader of the index reads the entry of debug
// information and compares, so that an index of another file can make a look-up miss, but cannot
// find anything that is not there.
type Index struct {
	source Source
	units  []*dwarf.Unit // as they are numbered; nil until one is asked for
	count  uint64        // of units, in a file
	names  []nameRef     // by hash, and for a hash as they are in the file
	funcs  []funcRef     // functions with code by address
}

// nameRef is one name: a hash, and the entry. A file of the index contains it byte for byte.
type nameRef struct {
	hash uint32
	what uint32 // the kind, and the unit's number
	off  uint64 // of the entry, in its unit
}

const unitBits = 28

func newNameRef(hash uint32, kind Kind, unit uint32, off uint64) nameRef {
	return nameRef{hash, uint32(kind)<<unitBits | unit, off}
}

func (r *nameRef) kind() Kind   { return Kind(r.what >> unitBits) }
func (r *nameRef) unit() uint32 { return r.what & (1<<unitBits - 1) }

// Kind tells what a name is the name of.
type Kind uint8

// The kinds.
const (
	Type Kind = iota + 1
	Variable
	Function
	Enumerator // the entry is the enumeration's
)

// funcRef is a function with code. A file of the index contains it byte for byte.
type funcRef struct {
	lo   uint64 // its entry
	off  uint64 // of its DIE, in its unit
	what uint32 // the unit's number, and flags
	skip uint32 // bytes from lo to where a breakpoint goes, or notKnown
}

// hasCopies is set for a function with an abstract instance: it may have inlined copies.
const hasCopies = 1 << unitBits

func (r *funcRef) unit() uint32 { return r.what & (1<<unitBits - 1) }

const notKnown = 1<<32 - 1

// maxSameType bounds how many types of one name the index has: the same structure is in every unit
// that uses it.
const maxSameType = 8

// kindSet is a set of kinds.
type kindSet uint8

func (k kindSet) has(kind Kind) bool { return k>>kind&1 != 0 }

func isType(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagStructureType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType, dwarf.TagEnumerationType, dwarf.TagTypedef,
		dwarf.TagBaseType, dwarf.TagUnspecifiedType, dwarf.TagTemplateAlias, dwarf.TagPointerType:
		return true
	}
	return false
}

// eachName calls fn for the names of a hash.
func eachName(names []nameRef, hash uint32, fn func(r *nameRef)) {
	i := sort.Search(len(names), func(i int) bool { return names[i].hash >= hash })
	for ; i < len(names) && names[i].hash == hash; i++ {
		fn(&names[i])
	}
}

// Each calls fn for the entries of a kind, until fn returns false. i counts all names; it is not
// contiguous.
func (x *Index) Each(kind Kind, fn func(i int, e entry.Ref) bool) {
	for i := range x.names {
		r := &x.names[i]
		if r.kind() != kind {
			continue
		}
		if e, ok := x.die(r); ok && !fn(i, e) {
			return
		}
	}
}

// BreakPlace returns where a breakpoint on the function that begins at an address goes; false if
// the index does not know: there is not exactly one function, it may have inlined copies, or the
// index was not saved with places.
func (x *Index) BreakPlace(lo uint64) (uint64, bool) {
	f := x.function(lo)
	if f == nil || f.skip == notKnown || f.what&hasCopies != 0 {
		return 0, false
	}
	return lo + uint64(f.skip), true
}

// function finds the function that begins at an address, nil if there is not exactly one.
func (x *Index) function(lo uint64) *funcRef {
	i := sort.Search(len(x.funcs), func(i int) bool { return x.funcs[i].lo >= lo })
	if i == len(x.funcs) || x.funcs[i].lo != lo || i+1 < len(x.funcs) && x.funcs[i+1].lo == lo {
		return nil
	}
	return &x.funcs[i]
}

func (x *Index) die(r *nameRef) (entry.Ref, bool) { return x.at(r.unit(), r.off) }

func (x *Index) at(unit uint32, off uint64) (entry.Ref, bool) {
	if x.units == nil && x.source != nil {
		if x.units = x.source.Units(); uint64(len(x.units)) != x.count {
			x.units = []*dwarf.Unit{} // the index is of another file
		}
	}
	if uint64(unit) >= uint64(len(x.units)) {
		return entry.Ref{}, false
	}
	u := x.units[unit]
	return entry.Ref{Unit: u, Off: u.Offset + off}, off < u.End-u.Offset
}

// hashName returns the hash of a name, FNV-1a. Saved indexes contain it.
func hashName[T string | []byte](name T) uint32 { return hashOn(2166136261, name) }

func hashOn[T string | []byte](h uint32, name T) uint32 {
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}

// hashInScope returns the hash of a qualified name, from that of its scope.
func hashInScope(scope uint32, name []byte) uint32 { return hashOn(hashOn(scope, "::"), name) }

// sortNames sorts names by hash, and leaves names of one hash in their order: three passes of a
// radix sort.
func sortNames(names []nameRef) []nameRef {
	if len(names) < 1<<12 {
		slices.SortStableFunc(names, func(a, b nameRef) int { return int(int64(a.hash) - int64(b.hash)) })
		return names
	}
	to := make([]nameRef, len(names))
	for shift := 0; shift < 33; shift += 11 {
		var begin [1 << 11]int
		for i := range names {
			begin[names[i].hash>>shift&(1<<11-1)]++
		}
		sum := 0
		for i, n := range begin {
			begin[i] = sum
			sum += n
		}
		for i := range names {
			d := names[i].hash >> shift & (1<<11 - 1)
			to[begin[d]] = names[i]
			begin[d]++
		}
		names, to = to, names
	}
	return names
}

// fewTypes drops types of which there are more than enough with one hash.
func fewTypes(names []nameRef) []nameRef {
	hash, n := uint32(0), 0
	return slices.DeleteFunc(names, func(r nameRef) bool {
		if r.kind() != Type {
			return false
		}
		if r.hash != hash {
			hash, n = r.hash, 0
		}
		n++
		return n > maxSameHash
	})
}

// maxSameHash is maxSameType, with room for names that happen to have the same hash.
const maxSameHash = 2 * maxSameType

// Has reports whether the index may have a name: it has one with the same hash.
func (x *Index) Has(name string) bool {
	hash := hashName(name)
	i := sort.Search(len(x.names), func(i int) bool { return x.names[i].hash >= hash })
	return i < len(x.names) && x.names[i].hash == hash
}
