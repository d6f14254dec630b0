package image

import (
	"bytes"
	"debug/elf"
	"fmt"

	"dbg/arch"
	"dbg/image/elfheader"
)

const (
	maxHead    = 64 << 10  // bytes of the ELF header and the program headers
	maxTable   = 64 << 20  // bytes of a table of an ELF image
	maxSymbols = 4 << 20   // entries of a dynamic symbol table
	maxCopied  = 160 << 20 // bytes of all tables of an image
)

// mappedELF reads an ELF image as a process has it mapped: see FromMapped. Section headers are
// not mapped. The sections are therefore made from the program headers and PT_DYNAMIC (System V
// ABI, chapter 5, "Dynamic Section"): .dynsym, .dynstr, .eh_frame_hdr, .eh_frame and the notes,
// as far as their memory can be read.
func (f *File) mappedELF(m *mappedImage) error {
	fail := func(r Reason, format string, args ...any) error {
		return &OpenError{Path: f.path, Reason: r, Detail: fmt.Sprintf(format, args...)}
	}
	head := make([]byte, 4096)
	head = head[:m.readMemory(0, head)]
	f.data = head
	if err := f.parseELF(false); err != nil {
		// The program headers may be longer.
		more := make([]byte, maxHead)
		if f.data = more[:m.readMemory(0, more)]; len(f.data) <= len(head) {
			return err
		}
		f.progs, f.loads = nil, nil
		if err := f.parseELF(false); err != nil {
			return err
		}
	}
	f.sects, f.byName = nil, nil // in memory, other data is at their offsets
	if f.header.Type != elf.ET_DYN && f.header.Type != elf.ET_EXEC {
		return fail(UnsupportedFormat, "the ELF file at 0x%x is neither a program nor a library", m.slide)
	}
	base, ok := uint64(0), false
	for _, p := range f.progs {
		if p.Type == elf.PT_LOAD && p.Off < 4096 && p.FileSize != 0 {
			base, ok = p.Addr-p.Off, true // the header is the first page of this segment
			break
		}
	}
	if !ok {
		return fail(Malformed, "no segment contains the ELF header at 0x%x", m.slide)
	}
	m.slide -= base
	f.mapped = m
	f.sects = []section{{typ: elf.SHT_NULL, done: true}}
	for _, s := range f.loads { // so that symbols have a section
		f.sects = append(f.sects, section{name: "PT_LOAD", typ: elf.SHT_NOBITS, flags: elf.SHF_ALLOC, addr: uint64(s.Lo), size: uint64(s.Hi - s.Lo), done: true})
	}
	for _, p := range f.progs {
		switch p.Type {
		case elf.PT_DYNAMIC:
			f.mapDynamic(p)
		case elf.PT_GNU_EH_FRAME:
			f.mapEHFrame(p)
		case elf.PT_ARM_EXIDX:
			if f.Arch() == arch.ARM {
				f.addMapped(exidxName, elf.SectionType(p.Type), p.Addr, m.some(p.Addr, p.MemSize), 0)
			}
		case elf.PT_NOTE:
			if b := m.some(p.Addr, min(p.FileSize, 1<<20)); len(b) > 0 {
				f.addMapped(".note", elf.SHT_NOTE, p.Addr, b, 0)
			}
		}
	}
	f.byName = map[string]int{}
	for i := range f.sects {
		if _, dup := f.byName[f.sects[i].name]; !dup && i > 0 {
			f.byName[f.sects[i].name] = i
		}
	}
	return nil
}

// some returns up to n bytes at an address of the file, as many as can be read.
func (m *mappedImage) some(addr, n uint64) []byte {
	n = min(n, maxTable, maxCopied-min(m.copied, maxCopied))
	var out []byte
	defer func() { m.copied += uint64(len(out)) }()
	for uint64(len(out)) < n {
		have := len(out)
		step := int(min(n-uint64(have), max(mappedStep, uint64(have))))
		out = append(out, make([]byte, step)...)
		if got := m.readMemory(addr+uint64(have), out[have:]); got < step {
			out = out[:have+got]
			break
		}
	}
	return out
}

// addMapped adds a section made from memory, and returns its index.
func (f *File) addMapped(name string, typ elf.SectionType, addr uint64, data []byte, link int) int {
	f.sects = append(f.sects, section{name: name, typ: typ, flags: elf.SHF_ALLOC, addr: addr, size: uint64(len(data)), data: data, done: true, link: uint32(link)})
	return len(f.sects) - 1
}

// inLoad returns the segment that contains an address of the file, or nil.
func (f *File) inLoad(addr uint64) *Segment {
	for i := range f.loads {
		if s := &f.loads[i]; Addr(addr) >= s.Lo && Addr(addr) < s.Hi {
			return s
		}
	}
	return nil
}

// pointer returns the address in the file of a pointer in PT_DYNAMIC, or false if it points
// outside the file. Dynamic linkers may have added the load address: glibc does so on most
// machines, musl does not.
func (f *File) pointer(v uint64) (uint64, bool) {
	if a := v - f.mapped.slide; f.inLoad(a) != nil {
		return a, true
	}
	return v, f.inLoad(v) != nil
}

// mapDynamic makes .dynsym and .dynstr.
func (f *File) mapDynamic(p elfheader.Segment) {
	h := &f.header
	w := h.WordSize()
	b := f.mapped.some(p.Addr, min(p.MemSize, 1<<20))
	tags := map[elf.DynTag]uint64{}
	for ; len(b) >= 2*w; b = b[2*w:] {
		tag := elf.DynTag(h.Word(b))
		if tag == elf.DT_NULL {
			break
		}
		if _, dup := tags[tag]; !dup {
			tags[tag] = h.Word(b[w:])
		}
	}
	symtab, ok1 := f.pointer(tags[elf.DT_SYMTAB])
	strtab, ok2 := f.pointer(tags[elf.DT_STRTAB])
	size := uint64(h.SymbolSize())
	if !ok1 || !ok2 || tags[elf.DT_SYMTAB] == 0 || tags[elf.DT_STRTAB] == 0 {
		return
	}
	n := f.countSymbols(tags)
	if n == 0 && strtab > symtab { // linkers put the strings after the symbols
		n = (strtab - symtab) / size
	}
	symbols := f.mapped.some(symtab, min(n, maxSymbols)*size)
	names := f.mapped.some(strtab, tags[elf.DT_STRSZ])
	if len(symbols) < int(size) || len(names) == 0 {
		return
	}
	link := f.addMapped(".dynstr", elf.SHT_STRTAB, strtab, names, 0)
	f.addMapped(".dynsym", elf.SHT_DYNSYM, symtab, f.knownSections(symbols), link)
}

// knownSections assigns defined symbols to the sections that stand for segments, because the
// symbols' own section headers are not mapped.
func (f *File) knownSections(table []byte) []byte {
	size, shndx := 16, 14
	if f.header.Wide {
		size, shndx = 24, 6
	}
	for b := table; len(b) >= size; b = b[size:] {
		if n := f.header.Order.Uint16(b[shndx:]); n == uint16(elf.SHN_UNDEF) || n >= uint16(elf.SHN_LORESERVE) {
			continue
		}
		value := uint64(f.header.Order.Uint32(b[4:]))
		if f.header.Wide {
			value = f.header.Order.Uint64(b[8:])
		}
		in := elf.SHN_ABS
		for i := range f.loads {
			if s := &f.loads[i]; Addr(value) >= s.Lo && Addr(value) < s.Hi && i+1 < int(elf.SHN_LORESERVE) {
				in = elf.SectionIndex(i + 1)
				break
			}
		}
		f.header.Order.PutUint16(b[shndx:], uint16(in))
	}
	return table
}

// countSymbols returns the number of symbols according to the hash table, or 0 if it is unknown.
func (f *File) countSymbols(tags map[elf.DynTag]uint64) uint64 {
	h := &f.header
	if a, ok := f.pointer(tags[elf.DT_HASH]); ok && tags[elf.DT_HASH] != 0 {
		if b := f.mapped.some(a, 8); len(b) == 8 {
			return uint64(h.Order.Uint32(b[4:])) // nchain
		}
	}
	a, ok := f.pointer(tags[elf.DT_GNU_HASH])
	if !ok || tags[elf.DT_GNU_HASH] == 0 {
		return 0
	}
	// DT_GNU_HASH: among the nbuckets chains, the chain with the highest first symbol is the
	// last. Bit 0 marks its end.
	b := f.mapped.some(a, 16)
	if len(b) < 16 {
		return 0
	}
	buckets, first, bloom := uint64(h.Order.Uint32(b)), uint64(h.Order.Uint32(b[4:])), uint64(h.Order.Uint32(b[8:]))
	if buckets > maxSymbols || bloom > maxSymbols {
		return 0
	}
	table := a + 16 + bloom*uint64(h.WordSize())
	b = f.mapped.some(table, 4*buckets)
	if uint64(len(b)) < 4*buckets {
		return 0
	}
	last := uint64(0)
	for ; len(b) >= 4; b = b[4:] {
		last = max(last, uint64(h.Order.Uint32(b)))
	}
	if last < first {
		return first
	}
	for chain := table + 4*buckets + 4*(last-first); last < maxSymbols; {
		b := f.mapped.some(chain, 1024)
		for ; len(b) >= 4; b = b[4:] {
			last++
			chain += 4
			if h.Order.Uint32(b)&1 != 0 {
				return last
			}
		}
		if f.inLoad(chain) == nil || len(f.mapped.some(chain, 4)) < 4 {
			return 0
		}
	}
	return 0
}

// mapEHFrame makes .eh_frame_hdr and .eh_frame.
func (f *File) mapEHFrame(p elfheader.Segment) {
	hdr := f.mapped.some(p.Addr, p.MemSize)
	addr, ok := f.ehFramePointer(hdr, p.Addr)
	if !ok {
		return
	}
	s := f.inLoad(uint64(addr))
	if s == nil {
		return
	}
	frame := f.upToTerminator(f.mapped.some(uint64(addr), uint64(s.Lo)+s.FileSize-uint64(addr)))
	if len(frame) == 0 {
		return
	}
	f.addMapped(".eh_frame_hdr", elf.SHT_PROGBITS, p.Addr, hdr, 0)
	f.addMapped(".eh_frame", elf.SHT_PROGBITS, uint64(addr), frame, 0)
}

// isELF reports whether bytes begin an ELF file.
func isELF(b []byte) bool { return bytes.HasPrefix(b, []byte(elf.ELFMAG)) }
