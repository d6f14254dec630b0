package symbols

import (
	"bytes"
	"slices"
	"sort"

	"dbg/image"
	"dbg/symbols/spelling"
)

// elfSymbols is the symbol table of an ELF or Mach-O file. It is read where it is mapped; what is
// made of it, on the first question about an address, is the order of functions and of data.
type elfSymbols struct {
	table    *image.SymbolTable
	sections []image.Section // of the file that the symbols are from
	asked    symbolAsked
	sorted   bool
	code     byAddress
	data     byAddress
	plt      map[image.Addr]string
	stubs    []image.Stub // of Mach-O, by address
	starts   []image.Addr // of functions, of Mach-O
	startsOK bool
	pltOK    bool
}

// byAddress is symbols by address; of several at one address, one.
type byAddress struct {
	addr []uint64
	num  []uint32 // in the table
}

// symbols returns the symbol table, for questions about names.
func (m *Module) symbols() *elfSymbols {
	x := m.elf
	if x.table == nil {
		x.table, x.sections = m.symbolTable()
	}
	return x
}

// sortedSymbols returns it for questions about addresses.
func (m *Module) sortedSymbols() *elfSymbols {
	x := m.symbols()
	if x.sorted {
		return x
	}
	x.sorted = true
	for i, e := range x.table.Entries() {
		switch m.symbolClass(&e) {
		case codeSymbol:
			x.code.add(uint64(e.Addr), uint32(i))
		case dataSymbol:
			x.data.add(uint64(e.Addr), uint32(i))
		}
	}
	x.code.finish(x.table)
	x.data.finish(x.table)
	x.table.Release()
	return x
}

func (l *byAddress) add(addr uint64, num uint32) {
	l.addr, l.num = append(l.addr, addr), append(l.num, num)
}

// finish sorts, and keeps of aliases the one that people know.
func (l *byAddress) finish(t *image.SymbolTable) {
	sortByAddress(l.addr, l.num)
	n := 0
	for i := range l.addr {
		switch {
		case n == 0 || l.addr[n-1] != l.addr[i]:
			l.addr[n], l.num[n] = l.addr[i], l.num[i]
			n++
		case better(t, int(l.num[i]), int(l.num[n-1])):
			l.num[n-1] = l.num[i]
		}
	}
	l.addr, l.num = slices.Clip(l.addr[:n]), slices.Clip(l.num[:n])
}

// sortByAddress sorts addr and, with it, num; equals stay in order. It is a radix sort: what is
// sorted is close together.
func sortByAddress(addr []uint64, num []uint32) {
	if len(addr) == 0 || slices.IsSorted(addr) {
		return
	}
	const digit = 11
	lo, span := slices.Min(addr), slices.Max(addr)
	span -= lo
	addr2, num2 := make([]uint64, len(addr)), make([]uint32, len(addr))
	from, to, fromNum, toNum := addr, addr2, num, num2
	for shift := 0; shift < 64 && span>>shift != 0; shift += digit {
		var count [1 << digit]int
		for _, a := range from {
			count[(a-lo)>>shift%(1<<digit)]++
		}
		at := 0
		for i, n := range count {
			count[i], at = at, at+n
		}
		for i, a := range from {
			k := &count[(a-lo)>>shift%(1<<digit)]
			to[*k], toNum[*k] = a, fromNum[i]
			*k++
		}
		from, to, fromNum, toNum = to, from, toNum, fromNum
	}
	if &from[0] != &addr[0] {
		copy(addr, from)
		copy(num, fromNum)
	}
}

// better reports whether symbol i has a better name than j for the same address: one
// with a type and a size over a mere label, one that is visible outside over a
// local one, one with fewer leading underscores, a weak one (the public names of
// a C library are weak aliases of its own: read, of __libc_read), a shorter one.
func better(t *image.SymbolTable, i, j int) bool {
	a, _ := t.Entry(i)
	b, _ := t.Entry(j)
	rank := func(s *image.SymbolEntry) int {
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
	nameA, nameB := t.Name(i), t.Name(j)
	underscores := func(name []byte) int { return len(name) - len(bytes.TrimLeft(name, "_")) }
	switch {
	case rank(&a) != rank(&b):
		return rank(&a) > rank(&b)
	case underscores(nameA) != underscores(nameB):
		return underscores(nameA) < underscores(nameB)
	case a.Weak != b.Weak:
		return a.Weak
	}
	return len(nameA) < len(nameB)
}

// search returns the number of the symbol that has an address, -1 if none has: see symbolWith.
func (x *elfSymbols) search(class symbolClass, a image.Addr) int {
	l := &x.code
	if class == dataSymbol {
		l = &x.data
	}
	i := sort.Search(len(l.addr), func(i int) bool { return l.addr[i] > uint64(a) })
	for n := 0; i > 0 && n < maxOuter; n++ {
		i--
		if e, _ := x.table.Entry(int(l.num[i])); x.reaches(&e, a, n == 0) {
			return int(l.num[i])
		}
	}
	return -1
}

// sameSection reports whether an address is in the section that a symbol
// without a size is in: a label at the end of one says nothing of the next.
func (x *elfSymbols) sameSection(s *image.SymbolEntry, a image.Addr) bool {
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
	s, ok := m.symbolWith(codeSymbol, a)
	if !ok || !m.sameSegment(s.Addr, a) || m.pastGo(&s, a) {
		if f, ok := m.goFunctionWith(a); ok {
			return f.Name, uint64(a) - f.Lo, true
		}
		return "", 0, false
	}
	return spelling.Demangle(spelling.WithoutVersion(s.Name)), uint64(a - s.Addr), true
}

// CodeBounds gives the extent of the function at an address by the symbol table alone. One that has
// no size or does not reach a is none. In a Mach-O file the list of function starts stands in for
// symbols that were stripped.
func (m *Module) CodeBounds(a image.Addr) (lo, hi image.Addr, ok bool) {
	s, ok := m.symbolWith(codeSymbol, a)
	if !ok || s.Size == 0 || uint64(a-s.Addr) >= s.Size {
		return m.startedAt(a)
	}
	return s.Addr, s.Addr + image.Addr(s.Size), true
}

// ObjectAt is SymbolAt for data.
func (m *Module) ObjectAt(a image.Addr) (name string, offset uint64, ok bool) {
	s, ok := m.symbolWith(dataSymbol, a)
	if !ok || !m.sameSegment(s.Addr, a) {
		return "", 0, false
	}
	return spelling.Demangle(spelling.WithoutVersion(s.Name)), uint64(a - s.Addr), true
}

// LinkageAddr returns the address of the ELF symbol of exactly this (mangled)
// name.
func (m *Module) LinkageAddr(name string) (image.Addr, bool) {
	t := m.symbols().table
	for i := range t.Mentioning(name) {
		if e, ok := t.Entry(i); ok && e.Kind != image.TLS && spelling.WithoutVersion(string(t.Name(i))) == name {
			return e.Addr, true
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

// elfFunctionAt makes a Function of the ELF symbol that has an address.
func (m *Module) elfFunctionAt(a image.Addr) *Function {
	if name, start, ok := m.pltAt(a); ok {
		size := m.pltSize(start)
		return &Function{Name: name, Lo: start, Hi: start + size, Ranges: []Range{{start, start + size}}, FromSymbolTable: true}
	}
	s, ok := m.symbolWith(codeSymbol, a)
	if !ok || !m.sameSegment(s.Addr, a) {
		return nil
	}
	return m.elfFunction(&s)
}

func (m *Module) elfFunction(s *image.Symbol) *Function {
	hi := s.Addr + image.Addr(s.Size)
	if s.Size == 0 {
		hi = m.nextSymbol(s.Addr)
	}
	name := spelling.WithoutVersion(s.Name)
	return &Function{Name: spelling.Demangle(name), Linkage: name, Lo: s.Addr, Hi: hi, Ranges: []Range{{s.Addr, hi}}, FromSymbolTable: true}
}

// nextSymbol returns where a symbol without a size ends: at the next symbol,
// or with its section or segment.
func (m *Module) nextSymbol(a image.Addr) image.Addr {
	x := m.sortedSymbols()
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
	if i := sort.Search(len(x.code.addr), func(i int) bool { return x.code.addr[i] > uint64(a) }); i < len(x.code.addr) {
		end = min(end, image.Addr(x.code.addr[i]))
	}
	return end
}
