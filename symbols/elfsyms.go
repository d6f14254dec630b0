package symbols

import (
	"sort"
	"strings"

	"dbg/image"
)

// elfSymbols is the symbol table of an ELF or Mach-O file: functions and data apart, by address.
type elfSymbols struct {
	done     bool
	all      []image.Symbol
	sections []image.Section // of the file that the symbols are from
	code     []int32         // indices in all, by address; of several at one address, one
	data     []int32
	plt      map[image.Addr]string
	stubs    []image.Stub // of Mach-O, by address
	starts   []image.Addr // of functions, of Mach-O
	startsOK bool
	pltOK    bool
}

func (m *Module) symbols() *elfSymbols {
	x := &m.elf
	if x.done {
		return x
	}
	x.done = true
	x.all, x.sections = m.symtab().Symbols(), m.symtab().Sections()
	for i := range x.all {
		s := &x.all[i]
		switch {
		case s.Kind == image.TLS || s.Section < 0 && s.Kind == image.NoType:
		case m.isCode(s.Addr) && s.Kind != image.Object:
			x.code = x.add(x.code, int32(i))
		case s.Kind == image.Object:
			x.data = x.add(x.data, int32(i))
		}
	}
	return x
}

// symtab returns the file with the better symbol table: .symtab, of the
// separate debug file if it is not in the file itself, else .dynsym.
func (m *Module) symtab() *image.File {
	if !m.file.HasSymtab() {
		m.dwarf()
		if m.debug != nil && m.debug.HasSymtab() {
			return m.debug
		}
	}
	return m.file
}

// add appends symbol i to a list by address. Aliases share an address: the one
// that people know is kept.
func (x *elfSymbols) add(list []int32, i int32) []int32 {
	if n := len(list); n > 0 && x.all[list[n-1]].Addr == x.all[i].Addr {
		if better(&x.all[i], &x.all[list[n-1]]) {
			list[n-1] = i
		}
		return list
	}
	return append(list, i)
}

// better reports whether a is a better name than b for the same address: one
// with a type and a size over a mere label, one that is visible outside over a
// local one, one with fewer leading underscores, a weak one (the public names of
// a C library are weak aliases of its own: read, of __libc_read), a shorter one.
func better(a, b *image.Symbol) bool {
	rank := func(s *image.Symbol) int {
		n := 0
		if s.Kind != image.NoType {
			n += 4
		}
		if s.Size != 0 {
			n += 2
		}
		if s.Global {
			n++
		}
		return n
	}
	underscores := func(s *image.Symbol) int { return len(s.Name) - len(strings.TrimLeft(s.Name, "_")) }
	switch {
	case rank(a) != rank(b):
		return rank(a) > rank(b)
	case underscores(a) != underscores(b):
		return underscores(a) < underscores(b)
	case a.Weak != b.Weak:
		return a.Weak
	}
	return len(a.Name) < len(b.Name)
}

// find returns the symbol that has an address: the nearest below it, if the
// address is within its size; one without size reaches up to the next symbol.
func (x *elfSymbols) find(list []int32, a image.Addr) *image.Symbol {
	i := sort.Search(len(list), func(i int) bool { return x.all[list[i]].Addr > a })
	// A symbol may lie within another; then the outer one may reach further.
	for n := 0; i > 0 && n < 8; n++ {
		i--
		s := &x.all[list[i]]
		if uint64(a-s.Addr) < s.Size || a == s.Addr {
			return s
		}
		if s.Size == 0 && n == 0 && x.sameSection(s, a) {
			return s
		}
	}
	return nil
}

// sameSection reports whether an address is in the section that a symbol
// without a size is in: a label at the end of one says nothing of the next.
func (x *elfSymbols) sameSection(s *image.Symbol, a image.Addr) bool {
	if s.Section < 0 || int(s.Section) >= len(x.sections) {
		return false
	}
	sec := &x.sections[s.Section]
	return a >= sec.Addr && uint64(a-sec.Addr) < sec.Size
}

// SymbolAt returns the demangled name of the function symbol that has an
// address, without parameters, and the offset in it. Entries of the procedure
// linkage table are "name@plt", symbol stubs of Mach-O "name@stub".
func (m *Module) SymbolAt(a image.Addr) (name string, offset uint64, ok bool) {
	if name, start, ok := m.pltAt(a); ok {
		return name, uint64(a - start), true
	}
	x := m.symbols()
	s := x.find(x.code, a)
	if s == nil || !m.sameSegment(s.Addr, a) {
		return "", 0, false
	}
	return demangled(symbolName(s.Name)), uint64(a - s.Addr), true
}

// CodeBounds gives the extent of the function at an address by the symbol table alone. One that has
// no size or does not reach a is none. In a Mach-O file the list of function starts stands in for
// symbols that were stripped.
func (m *Module) CodeBounds(a image.Addr) (lo, hi image.Addr, ok bool) {
	x := m.symbols()
	s := x.find(x.code, a)
	if s == nil || s.Size == 0 || uint64(a-s.Addr) >= s.Size {
		return m.startedAt(a)
	}
	return s.Addr, s.Addr + image.Addr(s.Size), true
}

// ObjectAt is SymbolAt for data.
func (m *Module) ObjectAt(a image.Addr) (name string, offset uint64, ok bool) {
	x := m.symbols()
	s := x.find(x.data, a)
	if s == nil || !m.sameSegment(s.Addr, a) {
		return "", 0, false
	}
	return demangled(symbolName(s.Name)), uint64(a - s.Addr), true
}

// LinkageAddr returns the address of the ELF symbol of exactly this (mangled)
// name.
func (m *Module) LinkageAddr(name string) (image.Addr, bool) {
	x := m.symbols()
	for i := range x.all {
		if s := &x.all[i]; s.Kind != image.TLS && symbolName(s.Name) == name {
			return s.Addr, true
		}
	}
	return 0, false
}

// sameSegment keeps a symbol without size from reaching into another segment.
func (m *Module) sameSegment(a, b image.Addr) bool {
	for _, s := range m.file.Segments() {
		if s.Lo <= a && a < s.Hi {
			return s.Lo <= b && b < s.Hi
		}
	}
	return false
}

// symbolName returns a symbol's name without the version that .symtab has for
// symbols with one ("memcpy@@GLIBC_2.14").
func symbolName(name string) string {
	if i := strings.IndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// elfFunctionAt makes a Function of the ELF symbol that has an address.
func (m *Module) elfFunctionAt(a image.Addr) *Function {
	if name, start, ok := m.pltAt(a); ok {
		size := m.pltSize(start)
		return &Function{Name: name, Lo: start, Hi: start + size, Ranges: []Range{{start, start + size}}, FromSymbolTable: true}
	}
	x := m.symbols()
	s := x.find(x.code, a)
	if s == nil || !m.sameSegment(s.Addr, a) {
		return nil
	}
	return m.elfFunction(s)
}

func (m *Module) elfFunction(s *image.Symbol) *Function {
	hi := s.Addr + image.Addr(s.Size)
	if s.Size == 0 {
		hi = m.nextSymbol(s.Addr)
	}
	name := symbolName(s.Name)
	return &Function{Name: demangled(name), Linkage: name, Lo: s.Addr, Hi: hi, Ranges: []Range{{s.Addr, hi}}, FromSymbolTable: true}
}

// nextSymbol returns where a symbol without a size ends: at the next symbol,
// or with its section or segment.
func (m *Module) nextSymbol(a image.Addr) image.Addr {
	x := m.symbols()
	end := a + 1
	for _, s := range m.file.Segments() {
		if s.Lo <= a && a < s.Hi {
			end = s.Hi
		}
	}
	for _, s := range m.file.Sections() {
		if s.Addr != 0 && s.Addr <= a && uint64(a-s.Addr) < s.Size {
			end = min(end, s.Addr+image.Addr(s.Size))
		}
	}
	if i := sort.Search(len(x.code), func(i int) bool { return x.all[x.code[i]].Addr > a }); i < len(x.code) {
		end = min(end, x.all[x.code[i]].Addr)
	}
	return end
}
