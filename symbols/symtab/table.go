package symtab

import (
	"bytes"
	"slices"
	"sort"

	"dbg/image"
	"dbg/internal/radix"
	"dbg/symbols/spelling"
)

// Source supplies a symbol table.
type Source interface {
	// SymbolTable returns the table and the sections that its symbols refer to. A Table calls it
	// once, when the first question needs the symbols.
	SymbolTable() (*image.SymbolTable, []image.Section)
}

// Table answers from the symbol table of one file. The symbols stay where they are mapped. After
// the first few questions about addresses it sorts functions and data by address. It is for one
// goroutine at a time.
type Table struct {
	file     *image.File
	source   Source
	table    *image.SymbolTable // nil until it is needed
	sections []image.Section    // of the file that contains the symbols
	asked    firstQuestions
	sorted   bool
	code     byAddress
	data     byAddress
	plt      map[image.Addr]string
	stubs    []image.Stub // of Mach-O, by address
	starts   []image.Addr // of functions, of Mach-O
	startsOK bool
	pltOK    bool
	copied   map[string]image.Addr // see Copied; nil until it is asked
}

// New returns the Table of a file whose symbols come from a source. Nothing is read yet.
func New(f *image.File, source Source) *Table { return &Table{file: f, source: source} }

// Symbols returns the symbols as they are in the file.
func (x *Table) Symbols() *image.SymbolTable {
	if x.table == nil {
		x.table, x.sections = x.source.SymbolTable()
	}
	return x.table
}

// sort sorts the symbols by address, once.
func (x *Table) sort() {
	if x.sorted {
		return
	}
	x.sorted = true
	for i, e := range x.Symbols().Entries() {
		switch x.classOf(&e) {
		case Code:
			x.code.add(uint64(e.Addr), uint32(i))
		case Data:
			x.data.add(uint64(e.Addr), uint32(i))
		}
	}
	x.code.finish(x.table)
	x.data.finish(x.table)
	x.table.Release()
}

// Functions calls fn for each symbol in code, in the order of the addresses; of several at one
// address, for the one with the best-known name.
func (x *Table) Functions(fn func(image.Symbol)) {
	x.sort()
	for _, i := range x.code.num {
		s, _ := x.table.Symbol(int(i))
		fn(s)
	}
}

// byAddress is a list of symbols by address, with one symbol for each address.
type byAddress struct {
	addr []uint64
	num  []uint32 // in the table
}

func (l *byAddress) add(addr uint64, num uint32) {
	l.addr, l.num = append(l.addr, addr), append(l.num, num)
}

// finish sorts the list. Of the aliases at one address it leaves the one with the best-known name.
func (l *byAddress) finish(t *image.SymbolTable) {
	radix.Sort(l.addr, l.num)
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

// better reports whether symbol i has a better name than j for the same address. Better is, in this
// order: a symbol with a type and a size, not a mere label; a global one; one with fewer leading
// underscores; a weak one (the public names of a C library are weak aliases of its own names: read,
// of __libc_read); a shorter one.
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

// search returns the number of the symbol at an address, -1 if there is none: see At.
func (x *Table) search(class Class, a image.Addr) int {
	l := &x.code
	if class == Data {
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

// sameSection reports whether an address is in the section of a symbol without a size: a label at
// the end of one section does not reach into the next.
func (x *Table) sameSection(s *image.SymbolEntry, a image.Addr) bool {
	if s.Section < 0 || int(s.Section) >= len(x.sections) {
		return false
	}
	sec := &x.sections[s.Section]
	return a >= sec.Addr && uint64(a-sec.Addr) < sec.Size
}

// CodeBounds returns the extent of the function at an address by the symbol table alone; false if
// its symbol has no size or does not reach the address. In a Mach-O file the list of function
// starts replaces symbols that were stripped.
func (x *Table) CodeBounds(a image.Addr) (lo, hi image.Addr, ok bool) {
	s, ok := x.At(Code, a)
	if !ok || s.Size == 0 || uint64(a-s.Addr) >= s.Size {
		return x.startedAt(a)
	}
	return s.Addr, s.Addr + image.Addr(s.Size), true
}

// LinkageAddr returns the address of the symbol with exactly this (mangled) name.
func (x *Table) LinkageAddr(name string) (image.Addr, bool) { return linkageAddr(x.Symbols(), name) }

// OwnLinkageAddr is LinkageAddr in the symbol tables of the file itself: it opens no other file.
func (x *Table) OwnLinkageAddr(name string) (image.Addr, bool) {
	return linkageAddr(x.file.SymbolTable(), name)
}

func linkageAddr(t *image.SymbolTable, name string) (image.Addr, bool) {
	for i := range t.Mentioning(name) {
		if e, ok := t.Entry(i); ok && e.Kind != image.TLS && spelling.WithoutVersion(string(t.Name(i))) == name {
			return e.Addr, true
		}
	}
	return 0, false
}

// SameSegment reports whether two addresses are in one segment: a symbol without a size does not
// reach into another segment.
func (x *Table) SameSegment(a, b image.Addr) bool {
	for _, s := range x.file.Segments() {
		if s.Lo <= a && a < s.Hi {
			return s.Lo <= b && b < s.Hi
		}
	}
	return false
}

// End returns where a symbol ends. One without a size ends at the next symbol in code, or with its
// section or segment.
func (x *Table) End(s *image.Symbol) image.Addr {
	if s.Size != 0 {
		return s.Addr + image.Addr(s.Size)
	}
	a := s.Addr
	x.sort()
	end := a + 1
	for _, s := range x.file.Segments() {
		if s.Lo <= a && a < s.Hi {
			end = s.Hi
		}
	}
	for _, s := range x.file.Sections() {
		if s.Addr != 0 && s.Addr <= a && uint64(a-s.Addr) < s.Size {
			end = min(end, s.Addr+image.Addr(s.Size))
		}
	}
	if i := sort.Search(len(x.code.addr), func(i int) bool { return x.code.addr[i] > uint64(a) }); i < len(x.code.addr) {
		end = min(end, image.Addr(x.code.addr[i]))
	}
	return end
}
