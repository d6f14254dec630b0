package names

import (
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/spelling"
)

// Source is the debug information whose names are looked up.
type Source interface {
	// Data returns the debug information, nil if there is none.
	Data() *dwarf.Data
	// Units returns all units that have entries, with split units in the places of their skeletons.
	// It may open many files.
	Units() []*dwarf.Unit
	// InfoFile returns the file with the debug information. Its build id names the saved index.
	InfoFile() *image.File
}

// Options tell how names are looked up.
type Options struct {
	// Dir is the folder of saved indexes, see Lookup.Save; "" if none are used.
	Dir string
	// Progress is told how far an index is while a question waits for it, from any goroutine; may
	// be nil.
	Progress func(Progress)
	// Cancelled reports, from any goroutine, whether the current question is no longer wanted; may
	// be nil. An index that is being built is then given up, and answers are empty.
	Cancelled func() bool
	// Built is told of an index that was built for a question, by the goroutine that asked; may be
	// nil.
	Built func(*Index)
}

// Lookup finds the entries of debug information by name. It is for one goroutine at a time.
type Lookup struct {
	source Source
	opt    Options

	index       *Index // nil until it is built or loaded
	tried       bool   // to load it from Options.Dir
	mapped      *image.Mapping
	tables      *tables // nil without tables of names in the file, or until they are asked for
	tablesTried bool
	err         error // why a table cannot be read
}

// New returns the Lookup of a source. Nothing is read yet.
func New(s Source, opt Options) *Lookup { return &Lookup{source: s, opt: opt} }

// Close unmaps a saved index. Nothing may be looked up then.
func (l *Lookup) Close() error { return l.mapped.Close() }

// Err returns why a table of names in the file cannot be read; nil if none is damaged, or none was
// needed yet.
func (l *Lookup) Err() error { return l.err }

// Functions returns the entries of functions with a name, without template arguments: definitions,
// and abstract instances. All lists of a Lookup belong to it and must not be changed.
func (l *Lookup) Functions(name string) []entry.Ref {
	return l.find(name, hashName(name), 1<<Function).functions
}

// Variables returns the entries of variables and constants with a name that are not local to a
// function.
func (l *Lookup) Variables(name string) []entry.Ref {
	return l.find(name, hashName(name), 1<<Variable).variables
}

// Types returns the entries of complete types with a name, with its template arguments. Of a name
// that many types have, the list may not be complete; with the qualified name, which may be the
// name itself, the types with that name are in the list.
func (l *Lookup) Types(name, qualified string) []entry.Ref {
	return l.find(name, hashName(qualified), 1<<Type).types
}

// Enumerations returns the entries of enumerations that may have a constant of a name.
func (l *Lookup) Enumerations(constant string) []entry.Ref {
	return l.find(constant, hashName(constant), 1<<Enumerator).enums
}

// Index returns the index of all names, which it loads or builds if there is none yet. The index is
// empty if there is no debug information, or if the question was cancelled: the next question then
// builds it again.
func (l *Lookup) Index() *Index {
	if l.index == nil && !l.load() {
		x := l.build()
		if x == nil {
			return &Index{}
		}
		l.index = x
		if l.opt.Built != nil {
			l.opt.Built(x)
		}
	}
	return l.index
}

// Present returns the index of all names if it is loaded or built, else nil.
func (l *Lookup) Present() *Index { return l.index }

// Load returns the saved index of all names if there is one that fits, else nil. It builds none.
func (l *Lookup) Load() *Index {
	l.load()
	return l.index
}

// HasTables reports whether the file has tables of names that look-ups rely on.
func (l *Lookup) HasTables() bool { return l.openTables() != nil }

// cancelled reports whether the current question was cancelled.
func (l *Lookup) cancelled() bool { return l.opt.Cancelled != nil && l.opt.Cancelled() }

// answer lists the entries with a name.
type answer struct {
	name      string
	hash      uint32 // of the names in an index
	kinds     kindSet
	types     []entry.Ref
	variables []entry.Ref
	functions []entry.Ref
	enums     []entry.Ref // enumerations that may have a constant of the name
}

// find returns the entries with a name, of some kinds. It does not build an index for a name that
// the debug information does not contain, and not if tables in the file can answer.
func (l *Lookup) find(name string, hash uint32, want kindSet) answer {
	d := l.source.Data()
	if d == nil {
		return answer{}
	}
	if l.index == nil && !l.load() {
		if x := l.openTables(); x != nil {
			if a, ok := x.named(name, hash, want); ok {
				return a
			}
		}
		if !d.MentionsName(name) {
			return answer{}
		}
	}
	x := l.Index()
	a := answer{name: name, hash: hash, kinds: want}
	eachName(x.names, hash, func(r *nameRef) {
		if d, ok := x.die(r); ok {
			a.add(r.kind(), d)
		}
	})
	return a
}

// add adds an entry that an index has for the hash of the name, if it has the name and is of a kind
// that was asked for.
func (a *answer) add(kind Kind, d entry.Ref) {
	if !a.kinds.has(kind) || kind == Type && a.enough() {
		return
	}
	e, err := d.Unit.Entry(d.Off)
	if err != nil {
		return
	}
	switch kind {
	case Type:
		if isType(e.Tag) && string(e.Bytes(dwarf.AttrName)) == a.name {
			a.types = append(a.types, d)
		}
	case Variable:
		if (e.Tag == dwarf.TagVariable || e.Tag == dwarf.TagMember) && entry.Name(e) == a.name {
			a.variables = append(a.variables, d)
		}
	case Function:
		if e.Tag == dwarf.TagSubprogram && spelling.WithoutTemplate(entry.Name(e)) == a.name {
			a.functions = append(a.functions, d)
		}
	case Enumerator:
		if e.Tag == dwarf.TagEnumerationType {
			a.enums = append(a.enums, d)
		}
	}
}

// enough reports whether there are as many types as the caller needs.
func (a *answer) enough() bool { return len(a.types) >= maxSameType }
