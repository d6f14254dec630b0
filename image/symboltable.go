package image

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"

	"dbg/internal/fault"
)

// SymbolTable is a file's symbol table. It is read in place from the mapping: a symbol is decoded
// only when it is requested. It has the same symbols as File.Symbols, numbered in file order.
// Some numbers may stand for entries that Symbols leaves out.
type SymbolTable struct {
	f     *File
	table []byte
	names []byte
	size  int      // size of an entry
	list  []Symbol // used for Mach-O and PE instead
}

// SymbolEntry is a symbol without its name.
type SymbolEntry struct {
	Addr    Addr
	Size    uint64
	Section int32 // index in Sections; -1 for an absolute symbol
	Kind    SymbolKind
	Global  bool // global or weak
	Weak    bool
}

// SymbolTable returns .symtab, or .dynsym if there is no .symtab. It is valid until the file is
// closed.
func (f *File) SymbolTable() *SymbolTable {
	t := &SymbolTable{f: f, size: f.header.SymbolSize()}
	if f.macho != nil || f.pe != nil {
		t.list = f.Symbols()
		return t
	}
	for _, typ := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for i := range f.sects {
			if s := &f.sects[i]; s.typ == typ && uint64(s.link) < uint64(len(f.sects)) {
				if data := f.section(i).Data; len(data) >= t.size {
					t.table, t.names = data, f.section(int(s.link)).Data
					return t
				}
			}
		}
	}
	return t
}

// NamesSize returns the number of bytes of names that a search reads. It is 0 if the names are in
// memory already.
func (t *SymbolTable) NamesSize() int { return len(t.names) }

// Len returns the count of symbol numbers.
func (t *SymbolTable) Len() int {
	if t.list != nil {
		return len(t.list)
	}
	return len(t.table) / t.size
}

// Entry decodes symbol i. It returns false for a symbol that does not belong to the program: an
// undefined symbol, or the symbol of a section or a file.
func (t *SymbolTable) Entry(i int) (e SymbolEntry, ok bool) {
	if t.list != nil {
		s := &t.list[i]
		return SymbolEntry{s.Addr, s.Size, s.Section, s.Kind, s.Global, s.Weak}, true
	}
	b := t.table[i*t.size:][:t.size]
	h := &t.f.header
	var value uint64
	var info byte
	var shndx elf.SectionIndex
	if h.Wide {
		info, shndx = b[4], elf.SectionIndex(h.Order.Uint16(b[6:]))
		value, e.Size = h.Order.Uint64(b[8:]), h.Order.Uint64(b[16:])
	} else {
		value, e.Size = uint64(h.Order.Uint32(b[4:])), uint64(h.Order.Uint32(b[8:]))
		info, shndx = b[12], elf.SectionIndex(h.Order.Uint16(b[14:]))
	}
	e.Kind, ok = symbolKind(elf.ST_TYPE(info))
	if !ok || shndx == elf.SHN_UNDEF {
		return e, false
	}
	// "$x" and "$d" mark code and data on ARM and RISC-V. ".L" marks the assembler's own labels.
	// Only the start of the name is read.
	name := uint64(h.Order.Uint32(b))
	if name >= uint64(len(t.names)) {
		return e, false
	}
	switch c := t.names[name]; {
	case c == 0, c == '$' && e.Kind == NoType, c == '.' && name+1 < uint64(len(t.names)) && t.names[name+1] == 'L':
		return e, false
	}
	e.Section = int32(shndx)
	if shndx >= elf.SHN_LORESERVE {
		e.Section = -1
	}
	if h.Machine == elf.EM_ARM && e.Kind == Func {
		value &^= 1 // the Thumb bit
	}
	bind := elf.ST_BIND(info)
	e.Addr, e.Global, e.Weak = Addr(value), bind != elf.STB_LOCAL, bind == elf.STB_WEAK
	return e, true
}

func symbolKind(typ elf.SymType) (SymbolKind, bool) {
	switch typ {
	case elf.STT_NOTYPE:
		return NoType, true
	case elf.STT_FUNC:
		return Func, true
	case elf.STT_OBJECT, elf.STT_COMMON:
		return Object, true
	case elf.STT_TLS:
		return TLS, true
	case elf.STT_GNU_IFUNC:
		return IFunc, true
	}
	return NoType, false
}

// Entries yields every symbol for which Entry returns true. The parts that it has read do not
// stay in memory.
func (t *SymbolTable) Entries() iter.Seq2[int, SymbolEntry] {
	return func(yield func(int, SymbolEntry) bool) {
		const atATime = 1 << 16
		last := 0
		for i := range t.Len() {
			if e, ok := t.Entry(i); ok && !yield(i, e) {
				return
			}
			if t.list == nil && (i-last == atATime || i+1 == t.Len() && last > 0) {
				t.f.Release(t.table[last*t.size : i*t.size])
				t.f.Release(t.names)
				last = i
			}
		}
	}
}

// Addrs yields the value of each number, whatever it stands for. The value of a function in Thumb
// code is odd. The parts that it has read do not stay in memory.
func (t *SymbolTable) Addrs() iter.Seq2[int, Addr] {
	return func(yield func(int, Addr) bool) {
		for i := range t.list {
			if !yield(i, t.list[i].Addr) {
				return
			}
		}
		if t.list != nil {
			return
		}
		const atATime = 1 << 17 // entries
		is64, order, little := t.f.header.Wide, t.f.header.Order, t.f.header.Order == binary.ByteOrder(binary.LittleEndian)
		for from := 0; from < t.Len(); from += atATime {
			part := t.table[from*t.size : min(from+atATime, t.Len())*t.size]
			for k := 0; k < len(part); k += t.size {
				var a uint64
				switch b := part[k:]; {
				case is64 && little:
					a = binary.LittleEndian.Uint64(b[8:])
				case is64:
					a = order.Uint64(b[8:])
				default:
					a = uint64(order.Uint32(b[4:]))
				}
				if !yield(from+k/t.size, Addr(a)) {
					return
				}
			}
			t.f.Release(part)
		}
	}
}

// Release tells the system that the table, much of which may have been read, is not needed soon.
// See File.Release.
func (t *SymbolTable) Release() {
	t.f.Release(t.table)
	t.f.Release(t.names)
}

// Name returns the name of symbol i, as a slice of the mapped file.
func (t *SymbolTable) Name(i int) []byte {
	if t.list != nil {
		return []byte(t.list[i].Name)
	}
	off := uint64(t.f.header.Order.Uint32(t.table[i*t.size:]))
	if off >= uint64(len(t.names)) {
		return nil
	}
	name := t.names[off:min(uint64(len(t.names)), off+maxName)]
	if n := bytes.IndexByte(name, 0); n >= 0 {
		name = name[:n]
	}
	return name
}

// Symbol returns symbol i with a copy of its name, which outlives the mapping. It returns false
// like Entry.
func (t *SymbolTable) Symbol(i int) (Symbol, bool) {
	if t.list != nil {
		return t.list[i], true
	}
	e, ok := t.Entry(i)
	if !ok {
		return Symbol{}, false
	}
	return Symbol{Name: string(t.Name(i)), Addr: e.Addr, Size: e.Size, Section: e.Section, Kind: e.Kind, Global: e.Global, Weak: e.Weak}, true
}

// Mentioning yields the numbers of the symbols whose names contain part. It first searches all
// names as one text. If part does not occur there, it reads no symbol.
func (t *SymbolTable) Mentioning(part string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if t.list != nil || part == "" {
			for i := range t.Len() {
				if (part == "" || bytes.Contains(t.Name(i), []byte(part))) && !yield(i) {
					return
				}
			}
			return
		}
		found := t.places(part)
		if len(found) == 0 {
			return
		}
		near := newBlocks(found)
		const atATime = 1 << 17 // entries
		for i := range t.Len() {
			if i%atATime == 0 && i > 0 {
				t.f.Release(t.table[(i-atATime)*t.size : i*t.size])
			}
			off := uint64(t.f.header.Order.Uint32(t.table[i*t.size:]))
			if !near.has(off) {
				continue
			}
			// A name that begins at off contains the first place that is not before it, or none:
			// the place may be in another name's end.
			k, _ := slices.BinarySearchFunc(found, off, func(p place, off uint64) int { return cmp.Compare(p.at, off) })
			if k < len(found) && off >= found[k].begin && found[k].at-off < maxName && !yield(i) {
				return
			}
		}
	}
}

// place is an occurrence of a text in the names: its offset, and the offset where its name
// begins.
type place struct{ begin, at uint64 }

// places returns the occurrences of a text without a 0, in order. The names are not all in memory
// at once.
func (t *SymbolTable) places(part string) []place {
	const atATime = 4 << 20
	pieces := make([][]place, (len(t.names)+atATime-1)/atATime)
	var next atomic.Int64
	var wg fault.Group
	for range min(runtime.GOMAXPROCS(0), len(pieces)) {
		wg.Go(func() {
			for i := int(next.Add(1) - 1); i < len(pieces); i = int(next.Add(1) - 1) {
				pieces[i] = t.placesIn(part, i*atATime, min((i+1)*atATime+len(part)-1, len(t.names)))
			}
		})
	}
	wg.Wait()
	return slices.Concat(pieces...)
}

// placesIn returns the occurrences in one part of the names.
func (t *SymbolTable) placesIn(part string, from, to int) (found []place) {
	piece := t.names[from:to]
	for at := 0; ; {
		n := bytes.Index(piece[at:], []byte(part))
		if n < 0 {
			break
		}
		p := place{at: uint64(from + at + n)}
		first := max(0, int(p.at)-maxName)
		p.begin = uint64(first + bytes.LastIndexByte(t.names[first:p.at], 0) + 1)
		found = append(found, p)
		at += n + 1
	}
	t.f.Release(piece)
	return found
}

// blocks is a set of 64-byte blocks of the names. It holds the blocks in which the name of a
// place begins, so that most symbols need not be looked up among the places.
type blocks []uint64

const blockBits = 6

func newBlocks(found []place) blocks {
	b := make(blocks, found[len(found)-1].at>>blockBits/64+1)
	for i, p := range found {
		from := p.begin
		if i > 0 { // the bytes before the last place belong to that one
			from = max(from, found[i-1].at)
		}
		for k := from >> blockBits; k <= p.at>>blockBits; k++ {
			b[k/64] |= 1 << (k % 64)
		}
	}
	return b
}

func (b blocks) has(off uint64) bool {
	k := off >> blockBits
	return k/64 < uint64(len(b)) && b[k/64]&(1<<(k%64)) != 0
}
