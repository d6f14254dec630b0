package image

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"
)

// SymbolKind is the kind of thing that a symbol names.
type SymbolKind uint8

const (
	NoType SymbolKind = iota
	Func
	Object
	TLS   // Addr is an offset in the thread-local storage block
	IFunc // Addr is the function that chooses the implementation
)

// Symbol is an entry in the symbol table.
type Symbol struct {
	Name    string
	Addr    Addr
	Size    uint64
	Section int32 // index in Sections; -1 for an absolute symbol
	Kind    SymbolKind
	Global  bool // global or weak
	Weak    bool
}

// Symbols returns the defined symbols of .symtab, or of .dynsym if there is no .symtab, sorted by
// address. Undefined symbols, and the symbols of sections and source files, are left out. The
// table is read once, on the first call. The slice belongs to the file.
//
// For a Mach-O file they are the symbols of LC_SYMTAB that are not for the debugger (N_STAB),
// without the underscore before C names: users type main, and C++ names begin with _ZN. Mach-O
// has no sizes: a symbol extends to the next symbol, function start, or the end of the section.
// So its size includes the padding after a function. The same is true of a PE file: its symbols are
// those of the COFF symbol table, and its exports.
func (f *File) Symbols() []Symbol {
	if f.symbolsDone {
		return f.symbols
	}
	f.symbolsDone = true
	if f.macho != nil {
		f.symbols = f.readMachOSymbols()
		return f.symbols
	}
	if f.pe != nil {
		f.symbols = f.readPESymbols()
		return f.symbols
	}
	if f.symbols = f.readSymbols(elf.SHT_SYMTAB); len(f.symbols) == 0 {
		f.symbols = f.readSymbols(elf.SHT_DYNSYM)
	}
	return f.symbols
}

// HasSymtab reports whether the file has a .symtab with contents. For Mach-O, it reports whether
// the symbol table has more than the exported and imported symbols, which strip leaves in it.
func (f *File) HasSymtab() bool {
	if f.macho != nil {
		return f.macho.HasPrivateSymbols()
	}
	if f.pe != nil {
		return f.pe.HasSymbols()
	}
	for i := range f.sects {
		if f.sects[i].typ == elf.SHT_SYMTAB && f.sects[i].size > 0 {
			return true
		}
	}
	return false
}

// maxName limits the length of a symbol's name.
const maxName = 32 << 10

func (f *File) readSymbols(typ elf.SectionType) []Symbol {
	var out []Symbol
	for i := range f.sects {
		s := &f.sects[i]
		if s.typ != typ || int(s.link) >= len(f.sects) {
			continue
		}
		out = f.appendSymbols(out, f.section(i).Data, f.section(int(s.link)).Data)
	}
	return sortSymbols(out)
}

// sortSymbols sorts by address and keeps the file order among equals. It sorts indices, which are
// a tenth of the symbols' size.
func sortSymbols(in []Symbol) []Symbol {
	order := make([]int32, len(in))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(in[a].Addr, in[b].Addr); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	out := make([]Symbol, len(in))
	for i, j := range order {
		out[i] = in[j]
	}
	return out
}

func (f *File) appendSymbols(out []Symbol, table, strtab []byte) []Symbol {
	t := SymbolTable{f: f, table: table, names: strtab, size: f.header.SymbolSize()}
	// One copy of the string table. Every name is a part of it: names outlive the mapping, and a
	// million of them need no allocation each.
	names := string(strtab)
	out = slices.Grow(out, t.Len())
	for i := range t.Len() {
		e, ok := t.Entry(i)
		if !ok {
			continue
		}
		off := int(f.header.Order.Uint32(table[i*t.size:])) // Entry has checked it
		name := names[off:min(len(names), off+maxName)]
		if i := strings.IndexByte(name, 0); i >= 0 {
			name = name[:i]
		}
		out = append(out, Symbol{Name: name, Addr: e.Addr, Size: e.Size, Section: e.Section, Kind: e.Kind, Global: e.Global, Weak: e.Weak})
	}
	return out
}
