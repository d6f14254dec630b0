package names

import (
	"slices"

	"dbg/dwarf"
	"dbg/dwarf/nameindex"
	"dbg/symbols/entry"
)

// tables are the tables of names that compilers and linkers have made: .debug_names (DWARF 5,
// section 6.1.1) and gdb's .gdb_index. They tell which units may have a name; those units are then
// indexed one by one, with the code that builds an Index. So a wrong table can make a look-up miss,
// but cannot find anything that is not there, and the answers are those of an Index.
//
// No table has all names. Units that are in no table are always asked. For kinds of names that a
// table may lack, the units that contain the name in any way (dwarf.Data.UnitsNaming) are asked as
// well; if these cannot be found, the table is not used.
type tables struct {
	l     *Lookup
	d     *dwarf.Data
	all   []*dwarf.Unit // of the file: skeletons, not what they stand for
	names []*nameindex.Table
	gdb   *nameindex.GDB
	old   bool // a unit is of DWARF 4 or before

	number map[uint64]int // of units, by offset
	rest   []int          // units that no table has anything of
	made   map[*dwarf.Unit][]nameRef
	bytes  uint64 // of the units that have been indexed
	limit  uint64 // how many to index before a whole index is the lesser work
	scans  int    // of all bytes, see addLacking
	given  map[asked]answer
}

// asked is a question, as a key of the answers.
type asked struct {
	name  string
	hash  uint32
	kinds kindSet
}

// Bounds on the cached answers, and on how often all debug information is searched before a whole
// index is cheaper.
const (
	mostGiven = 1 << 12
	mostScans = 8
)

// openTables returns the tables, nil if there are none of use.
func (l *Lookup) openTables() *tables {
	if l.tablesTried {
		return l.tables
	}
	l.tablesTried = true
	d := l.source.Data()
	if d == nil {
		return nil
	}
	x := &tables{l: l, d: d, made: map[*dwarf.Unit][]nameRef{}, number: map[uint64]int{}}
	x.limit = max(smallIndex, d.Size()/2)
	x.readNames()
	if len(x.names) == 0 {
		var err error
		if x.gdb, err = nameindex.ReadGDB(d); err != nil {
			l.err = err
		}
	}
	if len(x.names) == 0 && x.gdb == nil {
		return nil
	}
	x.all, _ = d.Units()
	for i, u := range x.all {
		x.number[u.Offset] = i
		x.old = x.old || u.Version < 5
	}
	covered := x.covered()
	bytes := uint64(0)
	for i, u := range x.all {
		if !covered[i] && u.First < u.End {
			x.rest = append(x.rest, i)
			bytes += u.End - u.Offset
		}
	}
	if len(x.rest) < len(x.all) && bytes <= x.limit {
		l.tables = x
	}
	return l.tables
}

// smallIndex is how many bytes of units are indexed in any case before a whole index is considered.
const smallIndex = 8 << 20

// covered reports which units the tables have names of. lld lists in .gdb_index also units that
// came without names.
func (x *tables) covered() []bool {
	out := make([]bool, len(x.all))
	for _, t := range x.names {
		t.Units(func(off uint64) {
			if i, ok := x.number[off]; ok {
				out[i] = true
			}
		})
	}
	if x.gdb != nil {
		x.coveredByGDB(out)
	}
	return out
}

// complete reports whether the tables have all names of a kind in the units that they cover. The
// rules are what tests have found in the tables that compilers, linkers and gdb write; the answer
// for any other table is no.
func (x *tables) complete(kind Kind, name string) bool {
	if x.gdb != nil {
		return x.completeInGDB(kind, name)
	}
	// LLVM lists types, and functions by the inlined copies too; no enumerators, and no constants
	// in classes.
	return kind == Type || kind == Function
}

// named is Lookup.find; false if a whole index has to be asked.
func (x *tables) named(name string, hash uint32, kinds kindSet) (answer, bool) {
	if a, ok := x.given[asked{name, hash, kinds}]; ok {
		return a, true
	}
	a, ok := x.look(name, hash, kinds)
	if ok {
		if x.given == nil || len(x.given) == mostGiven {
			x.given = map[asked]answer{}
		}
		x.given[asked{name, hash, kinds}] = a
	}
	return a, ok
}

func (x *tables) look(name string, hash uint32, kinds kindSet) (answer, bool) {
	found := make([]bool, len(x.all))
	for _, i := range x.rest {
		found[i] = true
	}
	in := x.inNames
	if x.gdb != nil {
		in = x.inGDB
	}
	if !in(name, kinds, found) || !x.addLacking(name, kinds, found) {
		return answer{}, false
	}
	few := kinds == 1<<Type // the first units may do
	if !few && !x.affordable(found) {
		return answer{}, false
	}
	a := answer{name: name, hash: hash, kinds: kinds}
	var files []*dwarf.Data
	for i, has := range found {
		if !has {
			continue
		}
		if x.l.cancelled() {
			return answer{}, false
		}
		u := x.all[i].Full()
		if u.Data != x.d && !slices.Contains(files, u.Data) {
			files = append(files, u.Data)
		}
		if !x.unit(u, hash, &a) {
			return answer{}, false
		}
		if few && a.enough() {
			return a, true
		}
	}
	for _, d := range files { // as Source.Units lists them
		for _, u := range d.TypeUnits() {
			if !x.unit(u, hash, &a) {
				return answer{}, false
			}
		}
	}
	return a, true
}

// tag reports whether an entry of a tag can have a name of one of the kinds.
func (k kindSet) tag(t dwarf.Tag) bool {
	switch t {
	case dwarf.TagSubprogram:
		return k.has(Function)
	case dwarf.TagVariable, dwarf.TagMember:
		return k.has(Variable)
	case dwarf.TagEnumerator:
		return k.has(Enumerator)
	}
	return k.has(Type) && isType(t)
}

// affordable reports whether the units that are not indexed yet may be indexed.
func (x *tables) affordable(found []bool) bool {
	bytes := x.bytes
	for i, has := range found {
		if u := x.all[i]; has {
			if _, ok := x.made[u]; !ok {
				bytes += u.End - u.Offset
			}
		}
	}
	return bytes <= x.limit
}

// addLacking adds the units of names that the tables may lack.
func (x *tables) addLacking(name string, kinds kindSet, found []bool) bool {
	lack := kindSet(0)
	for kind := Type; kind <= Enumerator; kind++ {
		if kinds.has(kind) && !x.complete(kind, name) {
			lack |= 1 << kind
		}
	}
	if lack == 0 {
		return true
	}
	if x.d.Size() > smallIndex {
		if x.scans++; x.scans > mostScans {
			return false
		}
	}
	units, ok := x.d.UnitsNaming(name, lack.has(Function), lack.tag)
	for _, u := range units {
		if i, known := x.number[u.Offset]; known {
			found[i] = true
		}
	}
	return ok
}

// unit adds the entries of a unit with a name; false if too much has been read.
func (x *tables) unit(u *dwarf.Unit, hash uint32, a *answer) bool {
	names, ok := x.made[u]
	if !ok {
		if x.bytes += u.End - u.Offset; x.bytes > x.limit {
			return false
		}
		names = namesOfUnit(u)
		x.made[u] = names
	}
	eachName(names, hash, func(r *nameRef) { a.add(r.kind(), entry.Ref{Unit: u, Off: u.Offset + r.off}) })
	return true
}
