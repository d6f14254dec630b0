package symbols

import (
	"slices"
	"sort"

	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/spelling"
)

// nameIndex finds what has a name at the top of a unit, in a namespace or in a class: by a hash of its last component,
// without template arguments for a function. Whoever asks reads the entry and compares, so that an index that does not fit
// the file can make a look-up miss, but not find what is not there.
type nameIndex struct {
	m     *Module
	units []*dwarf.Unit // as they are numbered; nil until one is asked for
	count uint64        // of units, in a file
	names []nameRef     // by hash, and for a hash as they are in the file
	funcs []funcRef     // functions with code by address
}

// indexState is what a module has to do with its index.
type indexState struct {
	names      *nameIndex // nil until built or found
	indexTried bool       // to find it in Options.IndexDir
	mapped     *image.Mapping
	accel      *accelTables // nil without tables of names in the file, or until they are asked for
	accelTried bool
	accelErr   error // why a table can't be read
}

// nameRef is one name: a hash, and what has it. It is what a file of the index has, byte for byte.
type nameRef struct {
	hash uint32
	what uint32 // the kind, and the unit's number
	off  uint64 // of the entry, in its unit
}

const unitBits = 28

func newNameRef(hash uint32, kind nameKind, unit uint32, off uint64) nameRef {
	return nameRef{hash, uint32(kind)<<unitBits | unit, off}
}

func (r *nameRef) kind() nameKind { return nameKind(r.what >> unitBits) }
func (r *nameRef) unit() uint32   { return r.what & (1<<unitBits - 1) }

type nameKind uint8

const (
	nameType nameKind = iota + 1
	nameVariable
	nameFunction
	nameEnumerator // the entry is the enumeration's
)

// funcRef is a function with code; likewise.
type funcRef struct {
	lo   uint64 // its entry
	off  uint64 // of its DIE, in its unit
	what uint32 // the unit's number, and flags
	skip uint32 // bytes from lo to where a breakpoint goes, or notKnown
}

// hasCopies says that a function has an abstract instance, and so perhaps inlined copies.
const hasCopies = 1 << unitBits

func (r *funcRef) unit() uint32 { return r.what & (1<<unitBits - 1) }

const notKnown = 1<<32 - 1

// maxSameType bounds how many types of one name are kept: the same structure is
// in every unit that uses it.
const maxSameType = 8

// nameKinds is a set of kinds.
type nameKinds uint8

func (k nameKinds) has(kind nameKind) bool { return k>>kind&1 != 0 }

// answer is what has a name, by that name.
type answer struct {
	name      string
	hash      uint32 // of the names in an index
	kinds     nameKinds
	types     map[string][]entry.Ref
	variables map[string][]entry.Ref
	functions map[string][]entry.Ref
	enums     []entry.Ref // enumerations with a constant of the name
}

// named returns what is called name, of the kinds that are asked for: variables if none are. An index is not built for a name that the
// debug information does not have, and not where tables in the file can answer.
func (m *Module) named(name string, kinds ...nameKind) answer {
	return m.hashed(name, hashName(name), kinds...)
}

// typesNamed returns the types that have a name and a qualified name, or others with that name.
func (m *Module) typesNamed(name, qualified string) answer {
	return m.hashed(name, hashName(qualified), nameType)
}

func (m *Module) hashed(name string, hash uint32, kinds ...nameKind) answer {
	d := m.dwarf()
	if d == nil {
		return answer{}
	}
	want := nameKinds(0)
	for _, k := range kinds {
		want |= 1 << k
	}
	if want == 0 {
		want = 1 << nameVariable
	}
	if m.names == nil && !m.loadIndex() {
		if x := m.tables(); x != nil {
			if a, ok := x.named(name, hash, want); ok {
				return a
			}
		}
		if !d.MentionsName(name) {
			return answer{}
		}
	}
	x := m.nameIndex()
	a := answer{name: name, hash: hash, kinds: want}
	eachName(x.names, hash, func(r *nameRef) {
		if d, ok := x.die(r); ok {
			a.add(r.kind(), d)
		}
	})
	return a
}

// add adds an entry that an index has for the hash of the name, if it is of a kind that is asked for and has the name.
func (a *answer) add(kind nameKind, d entry.Ref) {
	if !a.kinds.has(kind) || kind == nameType && a.enough() {
		return
	}
	e, err := d.Unit.Entry(d.Off)
	if err != nil {
		return
	}
	to := func(m *map[string][]entry.Ref) {
		if *m == nil {
			*m = map[string][]entry.Ref{}
		}
		(*m)[a.name] = append((*m)[a.name], d)
	}
	switch kind {
	case nameType:
		if isType(e.Tag) && string(e.Bytes(dwarf.AttrName)) == a.name {
			to(&a.types)
		}
	case nameVariable:
		if (e.Tag == dwarf.TagVariable || e.Tag == dwarf.TagMember) && entry.Name(e) == a.name {
			to(&a.variables)
		}
	case nameFunction:
		if e.Tag == dwarf.TagSubprogram && spelling.WithoutTemplate(entry.Name(e)) == a.name {
			to(&a.functions)
		}
	case nameEnumerator:
		if e.Tag == dwarf.TagEnumerationType {
			a.enums = append(a.enums, d)
		}
	}
}

// enough reports whether there are as many types as are wanted.
func (a *answer) enough() bool { return len(a.types[a.name]) >= maxSameType }

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

// function finds the function that begins at an address, nil if there is not exactly one.
func (x *nameIndex) function(lo uint64) *funcRef {
	i := sort.Search(len(x.funcs), func(i int) bool { return x.funcs[i].lo >= lo })
	if i == len(x.funcs) || x.funcs[i].lo != lo || i+1 < len(x.funcs) && x.funcs[i+1].lo == lo {
		return nil
	}
	return &x.funcs[i]
}

func (x *nameIndex) die(r *nameRef) (entry.Ref, bool) { return x.at(r.unit(), r.off) }

func (x *nameIndex) at(unit uint32, off uint64) (entry.Ref, bool) {
	if x.units == nil && x.m != nil {
		if x.units = x.m.files.Units(); uint64(len(x.units)) != x.count {
			x.units = []*dwarf.Unit{} // it is of another file, whatever it says
		}
	}
	if uint64(unit) >= uint64(len(x.units)) {
		return entry.Ref{}, false
	}
	u := x.units[unit]
	return entry.Ref{Unit: u, Off: u.Offset + off}, off < u.End-u.Offset
}

// nameIndex returns the name index. It is empty if there is no debug information, or if the question was cancelled:
// then it is made again when the next one needs it.
func (m *Module) nameIndex() *nameIndex {
	if m.names == nil && !m.loadIndex() {
		x := m.buildIndex()
		if x == nil {
			return &nameIndex{}
		}
		m.names = x
		m.keepIndex()
	}
	return m.names
}

// cancelled reports whether the present question was.
func (m *Module) cancelled() bool { return m.opt.Cancelled != nil && m.opt.Cancelled() }

// hashName is the hash of a name, which is also kept on disk: FNV-1a.
func hashName[T string | []byte](name T) uint32 { return hashOn(2166136261, name) }

func hashOn[T string | []byte](h uint32, name T) uint32 {
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h
}

// hashInScope is the hash of a qualified name, of that of its scope.
func hashInScope(scope uint32, name []byte) uint32 { return hashOn(hashOn(scope, "::"), name) }

// sortNames orders names by hash, and leaves those of a hash in their order: three passes of a radix sort.
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

// fewTypes drops what is more than enough of the types of one hash.
func fewTypes(names []nameRef) []nameRef {
	hash, n := uint32(0), 0
	return slices.DeleteFunc(names, func(r nameRef) bool {
		if r.kind() != nameType {
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
