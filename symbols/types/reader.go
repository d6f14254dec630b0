package types

import (
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
)

// Finder finds what a Reader needs from the rest of a module.
type Finder interface {
	// TypesNamed returns entries of complete types whose own name is name, with its template
	// arguments. The index may drop types of a name that many types have: those with the qualified
	// name are among the first. Callers compare the qualified names themselves. The slice must not
	// be changed.
	TypesNamed(name, qualified string) []entry.Ref
	// EnumerationsWith returns the entries of enumerations that may have a constant of a name.
	EnumerationsWith(constant string) []entry.Ref
	// DebugInfo returns the debug information, nil if there is none.
	DebugInfo() *dwarf.Data
	// OwnLinkageAddr returns the address of a symbol of the file itself.
	OwnLinkageAddr(name string) (image.Addr, bool)
}

// Reader makes the types of one module, each once. It is for one goroutine at a time; so are the
// Types that it returns, whose members are read when they are asked for.
type Reader struct {
	file   *image.File
	scopes *entry.Scopes
	finder Finder

	types map[entry.Ref]*Type
	// While asDeclared is set, structures that are only declared stay so: see Type.ElemAsDeclared.
	// These types have a map of their own.
	asDeclared bool
	declared   map[entry.Ref]*Type
	goTypes    *goTypes                   // nil until GoType is called
	constants  map[entry.Ref][]Enumerator // nil until goConstants is called
	rustTypes  *rustTypes                 // nil until RustType or RustVersion is called
	depth      int                        // of nested conversions
}

// NewReader returns the Reader of a file's types. scopes may be shared with other users of the same
// goroutine.
func NewReader(f *image.File, scopes *entry.Scopes, finder Finder) *Reader {
	return &Reader{file: f, scopes: scopes, finder: finder, types: map[entry.Ref]*Type{}}
}

// Forget drops the types that have been made. The caller calls it after a question that was
// cancelled: a definition may then be missing only because the search for it was cut short. Types
// that were handed out stay as they are.
func (r *Reader) Forget() { r.types, r.declared = map[entry.Ref]*Type{}, nil }
