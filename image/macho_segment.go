package image

import "fmt"

// sectionKind holds the contents of section.flags and the reserved words.
type sectionKind struct {
	segment string
	typ     uint8 // S_REGULAR and so on
	code    bool
	first   uint32 // for stubs: index in the indirect symbol table
	size    uint32 // size of one stub
}

// parseSegment reads an LC_SEGMENT or LC_SEGMENT_64 with its sections. at is the command's
// offset, for messages.
func (f *File) parseSegment(b []byte, is64 bool, at int) error {
	m, h := f.macho, &f.header
	head, each := 56, 68
	if is64 {
		head, each = 72, 80
	}
	if len(b) < head {
		return f.machoError(Malformed, "the segment command at offset 0x%x has %d bytes", at, len(b))
	}
	word := func(off int) uint64 {
		if is64 {
			return h.Order.Uint64(b[24+2*off:])
		}
		return uint64(h.Order.Uint32(b[24+off:]))
	}
	addr, size, off, filesize := word(0), word(4), word(8), word(12)
	maxprot, prot := h.Order.Uint32(b[head-16:]), h.Order.Uint32(b[head-12:])
	count := uint64(h.Order.Uint32(b[head-8:]))
	seg := Segment{
		Name: cstring(b[8:24]), Lo: Addr(addr), Hi: Addr(addr + size), FileOff: off, FileSize: min(filesize, size),
		Read: prot&1 != 0, Write: prot&2 != 0, Exec: prot&4 != 0,
	}
	if addr+size < addr {
		// The last page of a core may end at exactly 2^64.
		if seg.Hi = ^Addr(0); addr+size != 0 {
			return f.machoError(Malformed, "the segment %s at 0x%x is 0x%x bytes long", seg.Name, addr, size)
		}
	}
	m.segments = append(m.segments, seg)
	pageZero := addr == 0 && maxprot == 0 && prot == 0 && filesize == 0
	if size != 0 && !pageZero {
		f.loads = append(f.loads, seg)
	}
	if count > uint64(len(b)-head)/uint64(each) {
		return f.machoError(Malformed, "the segment command at offset 0x%x has no room for %d sections", at, count)
	}
	for b = b[head:]; count > 0; count-- {
		f.addSection(b[:each], is64, &seg)
		b = b[each:]
	}
	return nil
}

// addSection reads a section or section_64, in the segment seg.
func (f *File) addSection(b []byte, is64 bool, seg *Segment) {
	h := &f.header
	s := section{name: cstring(b[:16]), typ: machoHasContents}
	rest := b[40:]
	if is64 {
		s.addr, s.size, rest = h.Order.Uint64(b[32:]), h.Order.Uint64(b[40:]), b[48:]
	} else {
		s.addr, s.size = uint64(h.Order.Uint32(b[32:])), uint64(h.Order.Uint32(b[36:]))
	}
	word := func(i int) uint32 { return h.Order.Uint32(rest[4*i:]) }
	s.off = uint64(word(0))
	flags := word(4)
	k := sectionKind{segment: cstring(b[16:32]), typ: uint8(flags & sectionTypeMask), code: flags&sectionInstructions != 0}
	switch k.typ {
	case sectionZeroFill, sectionGBZeroFill, sectionTLZeroFill:
		s.typ = machoNoContents
	case sectionSymbolStubs:
		k.first, k.size = word(5), word(6)
	}
	// A dSYM has the headers of the sections that it describes, but not their contents: their
	// offset is 0. dsymutil adds __eh_frame, and gives all of __TEXT its place in the file.
	if f.macho.filetype == machDSYM && s.off == 0 || seg.FileSize == 0 && f.macho.filetype != machObject {
		s.typ = machoNoContents
	}
	f.sects = append(f.sects, s)
	f.macho.kinds = append(f.macho.kinds, k)
}

// Section types, translated to ELF.
const (
	machoHasContents = 1 // SHT_PROGBITS
	machoNoContents  = 8 // SHT_NOBITS
)

// nameSections indexes the sections by name, and by "segment,name".
func (f *File) nameSections() {
	add := func(name string, i int) {
		if _, dup := f.byName[name]; !dup {
			f.byName[name] = i
		}
	}
	for i := 1; i < len(f.sects); i++ {
		s := &f.sects[i]
		add(s.name, i)
		add(f.segmentOf(i)+","+s.name, i)
	}
}

// findDWARF finds the section .debug_NAME. A section's name has 16 bytes:
// .debug_str_offsets is "__debug_str_offs". Compressed ones, as Go's linker
// writes them, are "__zdebug_NAME".
func (f *File) findDWARF(name string) int {
	for _, prefix := range []string{"__debug_", "__zdebug_"} {
		full := prefix + name
		if i, ok := f.byName["__DWARF,"+full[:min(len(full), 16)]]; ok {
			return i
		}
	}
	return -1
}

// segmentOf returns the segment name in the header of section i, or "" in an ELF file.
func (f *File) segmentOf(i int) string {
	if f.macho == nil {
		return ""
	}
	return f.macho.kinds[i].segment
}

// machoContents returns the bytes of a section that has contents.
func (f *File) machoContents(s *section) ([]byte, error) {
	if m := f.macho.mapped; m != nil {
		return m.read(s.addr, s.size)
	}
	if f.macho.encrypted.overlaps(s.off, s.size) {
		return nil, fmt.Errorf("it is encrypted in this file")
	}
	raw, ok := f.bytes(s.off, s.size)
	if !ok {
		return nil, fmt.Errorf("its %d bytes at offset 0x%x are not in the file", s.size, s.off)
	}
	return raw, nil
}

func (r fileRange) overlaps(off, size uint64) bool {
	return r.size != 0 && size != 0 && off < r.off+r.size && r.off < off+size
}

// readMachO is readSegment for a Mach-O file. It returns -1 for an address without contents in
// the file.
func (f *File) readMachO(addr Addr, buf []byte) int {
	if f.macho.filetype == machDSYM {
		return f.readSections(addr, buf)
	}
	for i := range f.loads {
		s := &f.loads[i]
		if addr < s.Lo || addr >= s.Hi {
			continue
		}
		off := uint64(addr - s.Lo)
		if m := f.macho.mapped; m != nil {
			n := int(min(uint64(s.Hi-addr), uint64(len(buf))))
			if got := m.readMemory(uint64(addr), buf[:n]); got > 0 {
				return got
			}
			return -1
		}
		if off < s.FileSize {
			n := min(s.FileSize-off, uint64(len(buf)))
			b, ok := f.bytes(s.FileOff+off, n)
			if !ok || f.macho.encrypted.overlaps(s.FileOff+off, n) {
				return -1
			}
			return copy(buf, b)
		}
		n := int(min(uint64(s.Hi-addr), uint64(len(buf))))
		clear(buf[:n])
		return n
	}
	return 0
}

// readSections reads an address of a dSYM. The segments of a dSYM do not tell where the contents
// are.
func (f *File) readSections(addr Addr, buf []byte) int {
	for i := range f.sects {
		s := &f.sects[i]
		if s.typ != machoHasContents || !f.inSection(int32(i), addr) {
			continue
		}
		off := uint64(addr) - s.addr
		if b, ok := f.bytes(s.off+off, min(s.size-off, uint64(len(buf)))); ok {
			return copy(buf, b)
		}
	}
	return -1
}
