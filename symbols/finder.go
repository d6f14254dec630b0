package symbols

import (
	"dbg/dwarf"
	"dbg/image"
	"dbg/symbols/entry"
	"dbg/symbols/types"
)

// finder answers the questions of a types.Reader.
type finder struct{ m *Module }

func (f finder) TypesNamed(name, qualified string) []entry.Ref {
	return f.m.names.Types(name, qualified)
}

func (f finder) EnumerationsWith(constant string) []entry.Ref {
	return f.m.names.Enumerations(constant)
}

func (f finder) DebugInfo() *dwarf.Data { return f.m.dwarf() }

func (f finder) OwnLinkageAddr(name string) (image.Addr, bool) { return f.m.OwnLinkageAddr(name) }

// Type returns the type of a name: see types.Reader.Named.
func (m *Module) Type(name string) *types.Type { return m.types.Named(name) }

// Enumerator returns the constant of an enumeration with a name, and the enumeration: see
// types.Reader.Enumerator.
func (m *Module) Enumerator(name string) (t *types.Type, value int64, ok bool) {
	return m.types.Enumerator(name)
}

// GoType returns the type whose descriptor of Go is at an address of the file: see
// types.Reader.GoType.
func (m *Module) GoType(a image.Addr) (t *types.Type, kind uint8) { return m.types.GoType(a) }

// RustType returns the type whose vtable is at an address of the file: see types.Reader.RustType.
func (m *Module) RustType(vtable image.Addr) *types.Type { return m.types.RustType(vtable) }

// RustVersion returns x of the compiler rustc 1.x that has made the file: see types.Reader.RustVersion.
func (m *Module) RustVersion() int { return m.types.RustVersion() }

// Forget drops the types that have been made: see types.Reader.Forget.
func (m *Module) Forget() {
	m.types.Forget()
	m.known = knownNames{}
}

// Classes returns the classes that a demangled symbol names: see types.Reader.Classes.
func (m *Module) Classes(name string) []*types.Type { return m.types.Classes(name) }
