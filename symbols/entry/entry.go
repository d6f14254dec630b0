package entry

import "dbg/dwarf"

// Ref names a debugging information entry. Two Refs of one entry are equal.
type Ref struct {
	Unit *dwarf.Unit
	Off  uint64 // in the section, not in the unit
}

// Of returns the Ref of an entry.
func Of(e *dwarf.Entry) Ref { return Ref{e.Unit, e.Offset} }

// Read decodes the entry.
func (r Ref) Read() (*dwarf.Entry, error) { return r.Unit.Entry(r.Off) }

const (
	// MaxHops bounds how many references (DW_AT_abstract_origin, DW_AT_specification) are
	// followed from one entry: two are normal, and a corrupt file can contain a circle.
	MaxHops = 8
	// MaxNesting bounds how deep scopes and blocks may be nested.
	MaxNesting = 1000
	// MaxUnitRanges bounds the ranges of all functions and blocks of a unit: many entries of a
	// corrupt file may share one long list.
	MaxUnitRanges = 1 << 22
)

// Origins calls fn for an entry and for those that it is an instance or a completion of (DWARF 5,
// sections 2.13.2 and 3.3.8.1), until fn returns true. If an entry lacks an attribute, the
// attribute of the next one counts.
func Origins(e *dwarf.Entry, fn func(e *dwarf.Entry) bool) {
	for hop := 0; e != nil && hop < MaxHops; hop++ {
		if fn(e) {
			return
		}
		next := e.Ref(dwarf.AttrAbstractOrigin)
		if next == nil {
			next = e.Ref(dwarf.AttrSpecification)
		}
		e = next
	}
}

// Inherited returns the first entry, among e and its origins, that has an attribute; nil if none
// has it.
func Inherited(e *dwarf.Entry, a dwarf.Attr) *dwarf.Entry {
	var found *dwarf.Entry
	Origins(e, func(e *dwarf.Entry) bool {
		if e.Has(a) {
			found = e
		}
		return found != nil
	})
	return found
}

// Name returns the unqualified name of an entry, its own or inherited; "" if it has none.
func Name(e *dwarf.Entry) string {
	if e = Inherited(e, dwarf.AttrName); e == nil {
		return ""
	}
	s, _ := e.String(dwarf.AttrName)
	return s
}

// Linkage returns DW_AT_linkage_name, own or inherited; "" if there is none.
func Linkage(e *dwarf.Entry) string {
	for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, dwarf.AttrMIPSLinkageName} {
		if o := Inherited(e, a); o != nil {
			s, _ := o.String(a)
			return s
		}
	}
	return ""
}

// Declaration returns where an entry is declared: the path as the line table has it, and the line.
// They are "" and 0 if they are not known.
func Declaration(e *dwarf.Entry) (file string, line int) {
	if o := Inherited(e, dwarf.AttrDeclFile); o != nil {
		n, _ := o.Uint(dwarf.AttrDeclFile)
		file = o.Unit.Files().File(n)
	}
	if o := Inherited(e, dwarf.AttrDeclLine); o != nil {
		n, _ := o.Uint(dwarf.AttrDeclLine)
		line = SourceLine(n)
	}
	return file, line
}

// SourceLine converts a line number of a file; 0 for an absurd one.
func SourceLine(n uint64) int {
	if n >= 1<<31 {
		return 0
	}
	return int(n)
}

// LowPC returns where the code of an entry begins, by its own attributes; false if it has none.
func LowPC(e *dwarf.Entry) (uint64, bool) {
	if e.Has(dwarf.AttrLowPC) {
		return e.Addr(dwarf.AttrLowPC)
	}
	if e.Has(dwarf.AttrRanges) {
		if r, err := e.Ranges(); err == nil && len(r) > 0 {
			return r[0].Lo, true
		}
	}
	return 0, false
}

// IsMethod reports whether the first parameter of a function's entry is not written in the source
// ("this").
func IsMethod(e *dwarf.Entry) bool {
	hidden := false
	e.Walk(func(c *dwarf.Entry, _ int) bool {
		if c.Tag == dwarf.TagFormalParameter && !hidden {
			o := Inherited(c, dwarf.AttrArtificial)
			hidden = o != nil && o.Flag(dwarf.AttrArtificial)
		}
		return false
	}, nil)
	return hidden
}
