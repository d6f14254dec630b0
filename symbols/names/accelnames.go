package names

import (
	"slices"
	"strings"

	"dbg/dwarf"
)

// readNames takes the name indexes that LLVM writes: into each object file, which lld makes one of with --debug-names, or not. What others
// write under that name (gdb 13: qualified names, as none but gdb reads them) is not known well enough to be relied on.
func (x *tables) readNames() {
	tables, err := x.d.NameTables()
	x.l.err = err
	for _, t := range tables {
		if strings.HasPrefix(t.Producer, "LLVM") {
			x.names = append(x.names, t)
		}
	}
}

// tagOfKinds reports whether an entry of a tag can have a name of one of the kinds, or, as an inlined copy, say where one is.
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

// inNames marks the units that .debug_names has a name for: as it is, and for functions with template arguments. False if there is an entry
// of which it can't be said in which unit it is.
func (x *tables) inNames(name string, kinds kindSet, found []bool) bool {
	known, visits := true, uint64(0)
	mark := func(off uint64) {
		if n, ok := x.number[off]; ok {
			found[n] = true
		}
	}
	units := func(t *dwarf.NameTable, i uint32) bool {
		err := t.Entries(i, func(e *dwarf.NameEntry) bool {
			switch {
			case !tagOfKinds(e.Tag, kinds):
			case e.Has&dwarf.NameTypeUnit != 0:
				mark(e.TypeUnit)
			case e.Has&dwarf.NameUnit != 0: // of a type unit elsewhere it is the one whose file that is in
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
