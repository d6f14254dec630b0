package names

import (
	"slices"
	"strings"

	"dbg/dwarf"
	"dbg/dwarf/nameindex"
)

// readNames reads the name indexes that LLVM writes into each object file. lld joins them into one
// with --debug-names. Tables of other producers are not used (gdb 13 writes qualified names, which
// only gdb expects).
func (x *tables) readNames() {
	tables, err := nameindex.Tables(x.d)
	x.l.err = err
	for _, t := range tables {
		if strings.HasPrefix(t.Producer, "LLVM") {
			x.names = append(x.names, t)
		}
	}
}

// tagOfKinds reports whether an entry of a tag can have a name of one of the kinds, or, as an
// inlined copy, tell where such an entry is.
func tagOfKinds(tag dwarf.Tag, kinds kindSet) bool {
	switch tag {
	case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
		return kinds.has(Function)
	case dwarf.TagVariable, dwarf.TagMember:
		return kinds.has(Variable)
	case dwarf.TagNamespace, dwarf.TagModule, dwarf.TagImportedDeclaration, dwarf.TagLabel:
		return false
	}
	return kinds.has(Type) || kinds.has(Enumerator)
}

// mostInstances bounds how many strings with "NAME<" in them are looked for among the names.
const mostInstances = 1 << 20

// inNames marks the units for which .debug_names has a name: as it is, and for functions with
// template arguments. It returns false if the unit of an entry is not known.
func (x *tables) inNames(name string, kinds kindSet, found []bool) bool {
	known, visits := true, uint64(0)
	mark := func(off uint64) {
		if n, ok := x.number[off]; ok {
			found[n] = true
		}
	}
	units := func(t *nameindex.Table, i uint32) bool {
		err := t.Entries(i, func(e *nameindex.Entry) bool {
			switch {
			case !tagOfKinds(e.Tag, kinds):
			case e.Has&nameindex.HasTypeUnit != 0:
				mark(e.TypeUnit)
			case e.Has&nameindex.HasUnit != 0: // of a type unit elsewhere it is the one whose file that is in
				mark(e.Unit)
			default:
				known = false
			}
			visits++
			known = known && visits <= t.Size() // lists that overlap
			return known
		})
		known = known && err == nil
		return known
	}
	for _, t := range x.names {
		t.Find(name, func(i uint32) bool { return units(t, i) })
	}
	if !kinds.has(Function) {
		return known
	}
	with := x.d.StringsWith(name+"<", mostInstances)
	if len(with) == 0 || len(with) == mostInstances {
		return known && len(with) == 0
	}
	for _, t := range x.names {
		for i := range t.NumNames() {
			if _, ok := slices.BinarySearch(with, t.String(i)); ok && !units(t, i) {
				return false
			}
		}
	}
	return known
}
