package symbols

import (
	"dbg/image"
	"dbg/symbols/spelling"
	"dbg/symbols/symtab"
)

// symbols returns the symbol table. It is a new one after a debug file was fetched, which may have
// a better table; a caller in the middle of a loop goes on with the old one.
func (m *Module) symbols() *symtab.Table {
	if fetched := m.files.Fetched(); m.table == nil || m.tableFetched != fetched {
		m.table, m.tableFetched = symtab.New(m.file, m.files), fetched
	}
	return m.table
}

// SymbolAt returns the demangled name of the function symbol at an address, without parameters, and
// the offset in it. Entries of the procedure linkage table are "name@plt", symbol stubs of Mach-O
// "name@stub".
func (m *Module) SymbolAt(a image.Addr) (name string, offset uint64, ok bool) {
	x := m.symbols()
	if stub, ok := x.StubAt(a); ok {
		return stub.Name, uint64(a - stub.Lo), true
	}
	s, ok := x.At(symtab.Code, a)
	if !ok || !x.SameSegment(s.Addr, a) || m.pastGo(&s, a) {
		if f, ok := m.goFunctionWith(a); ok {
			return f.Name, uint64(a) - f.Lo, true
		}
		return "", 0, false
	}
	return spelling.Demangle(spelling.WithoutVersion(s.Name)), uint64(a - s.Addr), true
}

// ObjectAt is SymbolAt for data.
func (m *Module) ObjectAt(a image.Addr) (name string, offset uint64, ok bool) {
	x := m.symbols()
	s, ok := x.At(symtab.Data, a)
	if !ok || !x.SameSegment(s.Addr, a) {
		return "", 0, false
	}
	return spelling.Demangle(spelling.WithoutVersion(s.Name)), uint64(a - s.Addr), true
}

// CodeBounds returns the extent of the function at an address by the symbol table alone; false if
// its symbol has no size or does not reach the address. In a Mach-O file the list of function
// starts replaces symbols that were stripped.
func (m *Module) CodeBounds(a image.Addr) (lo, hi image.Addr, ok bool) {
	return m.symbols().CodeBounds(a)
}

// LinkageAddr returns the address of the symbol with exactly this (mangled) name.
func (m *Module) LinkageAddr(name string) (image.Addr, bool) { return m.symbols().LinkageAddr(name) }

// OwnLinkageAddr is LinkageAddr in the symbol tables of the file itself: it opens no other file.
func (m *Module) OwnLinkageAddr(name string) (image.Addr, bool) {
	return m.symbols().OwnLinkageAddr(name)
}

// StubOf returns the address of the procedure linkage table's entry for a function of another file:
// "puts", "puts@plt", "std::terminate" with parameters or without.
func (m *Module) StubOf(name string) (image.Addr, bool) { return m.symbols().StubOf(name) }

// Copied returns the address of the program's copy of a library's variable, by its linkage name:
// see symtab.Table.Copied.
func (m *Module) Copied(linkage string) (image.Addr, bool) { return m.symbols().Copied(linkage) }

// elfFunctionAt makes a Function of the symbol or the stub at an address; nil if there is none.
func (m *Module) elfFunctionAt(a image.Addr) *Function {
	x := m.symbols()
	if stub, ok := x.StubAt(a); ok {
		return &Function{Name: stub.Name, Lo: stub.Lo, Hi: stub.Hi, Ranges: []Range{{stub.Lo, stub.Hi}}, FromSymbolTable: true}
	}
	s, ok := x.At(symtab.Code, a)
	if !ok || !x.SameSegment(s.Addr, a) {
		return nil
	}
	return m.elfFunction(&s)
}

func (m *Module) elfFunction(s *image.Symbol) *Function {
	hi := m.symbols().End(s)
	name := spelling.WithoutVersion(s.Name)
	return &Function{Name: spelling.Demangle(name), Linkage: name, Lo: s.Addr, Hi: hi, Ranges: []Range{{s.Addr, hi}}, FromSymbolTable: true}
}
