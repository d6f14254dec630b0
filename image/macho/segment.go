package macho

import "bytes"

// Segment is an LC_SEGMENT or LC_SEGMENT_64.
type Segment struct {
	Name              string
	Lo, Hi            uint64 // addresses
	FileOff, FileSize uint64 // FileSize is at most Hi-Lo
	Read, Write, Exec bool
	Mapped            bool // it is in memory: not empty, and not __PAGEZERO
}

// Section is a section or section_64.
type Section struct {
	Name, Segment   string // as in the section's header
	Addr, Size, Off uint64
	Type            uint8 // S_REGULAR and so on
	Code            bool  // it has instructions only
	Contents        bool  // its bytes are in this file

	relocOff, relocs uint32 // relocations of a relocatable file

	stubIndex uint32 // of stubs: index in the indirect symbol table
	stubSize  uint32 // of stubs: size of one in bytes
}

func (s *Section) contains(a uint64) bool { return a >= s.Addr && a-s.Addr < s.Size }

// parseSegment reads an LC_SEGMENT or LC_SEGMENT_64 with its sections. at is the command's
// offset, for messages.
func (f *File) parseSegment(b []byte, is64 bool, at int) error {
	head, each := 56, 68
	if is64 {
		head, each = 72, 80
	}
	if len(b) < head {
		return malformed("the segment command at offset 0x%x has %d bytes", at, len(b))
	}
	word := func(off int) uint64 {
		if is64 {
			return f.Order.Uint64(b[24+2*off:])
		}
		return uint64(f.Order.Uint32(b[24+off:]))
	}
	addr, size, off, filesize := word(0), word(4), word(8), word(12)
	maxprot, prot := f.Order.Uint32(b[head-16:]), f.Order.Uint32(b[head-12:])
	count := uint64(f.Order.Uint32(b[head-8:]))
	seg := Segment{
		Name: cstring(b[8:24]), Lo: addr, Hi: addr + size, FileOff: off, FileSize: min(filesize, size),
		Read: prot&1 != 0, Write: prot&2 != 0, Exec: prot&4 != 0,
	}
	if addr+size < addr {
		// The last page of a core may end at exactly 2^64.
		if seg.Hi = ^uint64(0); addr+size != 0 {
			return malformed("the segment %s at 0x%x is 0x%x bytes long", seg.Name, addr, size)
		}
	}
	pageZero := addr == 0 && maxprot == 0 && prot == 0 && filesize == 0
	seg.Mapped = size != 0 && !pageZero
	f.Segments = append(f.Segments, seg)
	if count > uint64(len(b)-head)/uint64(each) {
		return malformed("the segment command at offset 0x%x has no room for %d sections", at, count)
	}
	for b = b[head:]; count > 0; count-- {
		f.addSection(b[:each], is64, &seg)
		b = b[each:]
	}
	return nil
}

// addSection reads a section or section_64, in the segment seg.
func (f *File) addSection(b []byte, is64 bool, seg *Segment) {
	s := Section{Name: cstring(b[:16]), Segment: cstring(b[16:32])}
	rest := b[40:]
	if is64 {
		s.Addr, s.Size, rest = f.Order.Uint64(b[32:]), f.Order.Uint64(b[40:]), b[48:]
	} else {
		s.Addr, s.Size = uint64(f.Order.Uint32(b[32:])), uint64(f.Order.Uint32(b[36:]))
	}
	word := func(i int) uint32 { return f.Order.Uint32(rest[4*i:]) }
	s.Off = uint64(word(0))
	s.relocOff, s.relocs = word(2), word(3)
	flags := word(4)
	s.Type, s.Code, s.Contents = uint8(flags&sectionTypeMask), flags&sectionInstructions != 0, true
	switch s.Type {
	case sectionZeroFill, sectionGBZeroFill, sectionTLZeroFill:
		s.Contents = false
	case sectionSymbolStubs:
		s.stubIndex, s.stubSize = word(5), word(6)
	}
	// A dSYM has the headers of the sections that it describes, but not their contents: their
	// offset is 0. dsymutil adds __eh_frame, and gives all of __TEXT its place in the file.
	if f.Type == TypeDSYM && s.Off == 0 || seg.FileSize == 0 && f.Type != TypeObject {
		s.Contents = false
	}
	f.Sections = append(f.Sections, s)
}

// Encrypted reports whether some of the file's bytes from off on are encrypted (LC_ENCRYPTION_INFO).
// In memory they are not.
func (f *File) Encrypted(off, size uint64) bool {
	r := f.encrypted
	return r.size != 0 && size != 0 && off < r.off+r.size && r.off < off+size
}

// cstring returns a copy of the bytes before the first zero.
func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
