package symbols

import "dbg/image"

// Wanted by session/: whoever writes symbols/ replaces these two and deletes this file.

// LinkageAddr returns the address of an ELF symbol by its exact (mangled) name.
func (m *Module) LinkageAddr(name string) (image.Addr, bool) { return 0, false }

// FunctionType returns the function's type (Elem is the result), nil if not known.
func (m *Module) FunctionType(f *Function) *Type { return nil }
