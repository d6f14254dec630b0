package elfheader

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// Error is the error of Parse.
type Error struct {
	Kind   Kind
	Detail string
}

// Kind is the kind of an Error.
type Kind uint8

const (
	NotELF    Kind = iota // the magic number is missing
	Truncated             // the header is incomplete
	Malformed             // the header contradicts the specification
)

func (e *Error) Error() string { return e.Detail }

// Header holds the fields of an ELF header, and the parameters for reading numbers of its file.
type Header struct {
	Order    binary.ByteOrder
	Wide     bool // ELFCLASS64
	Type     elf.Type
	Machine  elf.Machine
	Flags    uint32 // e_flags
	Entry    uint64
	Progs    Table
	Sections Table
	Names    uint64 // index of the section with the sections' names
}

// Table is a table of headers in a file. Nothing in it has been checked.
type Table struct {
	Off       uint64
	EntrySize uint64
	Count     uint64 // according to the header; PN_XNUM and its kin are resolved
}

// Parse reads the header of an ELF file. b should have the whole file: counts that do not fit in
// 16 bits are in section header 0. All its errors are of type *Error.
func Parse(b []byte) (h Header, err error) {
	switch {
	case len(b) < 4 || string(b[:4]) != elf.ELFMAG:
		return h, &Error{NotELF, "it is not an ELF file"}
	case len(b) < 20:
		return h, &Error{Truncated, fmt.Sprintf("the ELF header has %d bytes", len(b))}
	}
	switch elf.Class(b[elf.EI_CLASS]) {
	case elf.ELFCLASS64:
		h.Wide = true
	case elf.ELFCLASS32:
	default:
		return h, &Error{Malformed, fmt.Sprintf("class %d is neither 32 nor 64 bits", b[elf.EI_CLASS])}
	}
	switch elf.Data(b[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		h.Order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		h.Order = binary.BigEndian
	default:
		return h, &Error{Malformed, fmt.Sprintf("byte order %d is unknown", b[elf.EI_DATA])}
	}
	size := 52
	if h.Wide {
		size = 64
	}
	h.Type = elf.Type(h.Order.Uint16(b[16:]))
	h.Machine = elf.Machine(h.Order.Uint16(b[18:]))
	if len(b) < size {
		return h, &Error{Truncated, fmt.Sprintf("the ELF header has %d bytes", len(b))}
	}
	w := h.WordSize()
	h.Entry = h.Word(b[24:])
	h.Progs.Off, h.Sections.Off = h.Word(b[24+w:]), h.Word(b[24+2*w:])
	h.Flags = h.Order.Uint32(b[24+3*w:])
	tail := b[24+3*w+4:]
	half := func(i int) uint64 { return uint64(h.Order.Uint16(tail[2*i:])) }
	h.Progs.EntrySize, h.Progs.Count = half(1), half(2)
	h.Sections.EntrySize, h.Sections.Count, h.Names = half(3), half(4), half(5)
	h.resolveCounts(b)
	return h, nil
}

// resolveCounts reads the counts that do not fit in 16 bits from section 0 (gABI, chapter 4,
// "Section Header Table"; PN_XNUM in elf(5)).
func (h *Header) resolveCounts(b []byte) {
	const progs = 0xffff // PN_XNUM
	if h.Sections.Off == 0 || h.Sections.Count != 0 && h.Names != uint64(elf.SHN_XINDEX) && h.Progs.Count != progs {
		return
	}
	s, ok := h.Section(b, 0)
	if !ok {
		return
	}
	if h.Sections.Count == 0 {
		h.Sections.Count = s.Size
	}
	if h.Names == uint64(elf.SHN_XINDEX) {
		h.Names = uint64(s.Link)
	}
	if h.Progs.Count == progs {
		h.Progs.Count = uint64(s.Info)
	}
}

// WordSize returns the size of an address in the file's structures, in bytes.
func (h *Header) WordSize() int {
	if h.Wide {
		return 8
	}
	return 4
}

// Word reads an Elf32_Word or an Elf64_Xword. b must be long enough.
func (h *Header) Word(b []byte) uint64 {
	if h.Wide {
		return h.Order.Uint64(b)
	}
	return uint64(h.Order.Uint32(b))
}

// Within returns how many of the table's entries are in a file of size bytes.
func (t Table) Within(size uint64) uint64 {
	if t.Off > size || t.EntrySize == 0 {
		return 0
	}
	return min(t.Count, (size-t.Off)/t.EntrySize)
}

// Segment is a program header.
type Segment struct {
	Type              elf.ProgType
	Flags             elf.ProgFlag
	Off, Addr         uint64
	FileSize, MemSize uint64
	Align             uint64
}

// SegmentSize returns the size of a program header in bytes.
func (h *Header) SegmentSize() uint64 {
	if h.Wide {
		return 56
	}
	return 32
}

// Segment returns program header i, or false if b does not have it.
func (h *Header) Segment(b []byte, i uint64) (Segment, bool) {
	p, ok := h.Progs.entry(b, i, h.SegmentSize())
	if !ok {
		return Segment{}, false
	}
	o := h.Order
	if h.Wide {
		return Segment{Type: elf.ProgType(o.Uint32(p)), Flags: elf.ProgFlag(o.Uint32(p[4:])), Off: o.Uint64(p[8:]), Addr: o.Uint64(p[16:]),
			FileSize: o.Uint64(p[32:]), MemSize: o.Uint64(p[40:]), Align: o.Uint64(p[48:])}, true
	}
	return Segment{Type: elf.ProgType(o.Uint32(p)), Flags: elf.ProgFlag(o.Uint32(p[24:])), Off: uint64(o.Uint32(p[4:])), Addr: uint64(o.Uint32(p[8:])),
		FileSize: uint64(o.Uint32(p[16:])), MemSize: uint64(o.Uint32(p[20:])), Align: uint64(o.Uint32(p[28:]))}, true
}

// Section is a section header.
type Section struct {
	Name            uint32 // offset in the section with the names
	Type            elf.SectionType
	Flags           elf.SectionFlag
	Addr, Off, Size uint64
	Link, Info      uint32
	EntrySize       uint64
}

// Section returns section header i, or false if b does not have it.
func (h *Header) Section(b []byte, i uint64) (Section, bool) {
	size := uint64(40)
	if h.Wide {
		size = 64
	}
	p, ok := h.Sections.entry(b, i, size)
	if !ok {
		return Section{}, false
	}
	w := h.WordSize()
	return Section{Name: h.Order.Uint32(p), Type: elf.SectionType(h.Order.Uint32(p[4:])),
		Flags: elf.SectionFlag(h.Word(p[8:])), Addr: h.Word(p[8+w:]), Off: h.Word(p[8+2*w:]), Size: h.Word(p[8+3*w:]),
		Link: h.Order.Uint32(p[8+4*w:]), Info: h.Order.Uint32(p[12+4*w:]), EntrySize: h.Word(p[16+5*w:])}, true
}

// entry returns the first size bytes of entry i.
func (t Table) entry(b []byte, i, size uint64) ([]byte, bool) {
	if t.EntrySize < size || i > uint64(len(b))/t.EntrySize || t.Off > uint64(len(b)) {
		return nil, false
	}
	return Cut(b, t.Off+i*t.EntrySize, size)
}

// Cut returns n bytes at off, or false if not all of them exist.
func Cut(b []byte, off, n uint64) ([]byte, bool) {
	if off > uint64(len(b)) || n > uint64(len(b))-off {
		return nil, false
	}
	return b[off : off+n], true
}

// CutSome returns up to n bytes at off.
func CutSome(b []byte, off, n uint64) []byte {
	if off >= uint64(len(b)) {
		return nil
	}
	return b[off : off+min(n, uint64(len(b))-off)]
}

// MachineName returns a description of the machine for messages: "PPC64 (64 bit, big-endian)".
func (h *Header) MachineName() string {
	name := strings.TrimPrefix(h.Machine.String(), "EM_")
	if strings.HasPrefix(name, "elf.") {
		name = fmt.Sprintf("machine %d", uint16(h.Machine))
	}
	end := "little"
	if h.Order == binary.BigEndian {
		end = "big"
	}
	return fmt.Sprintf("%s (%d bit, %s-endian)", name, 8*h.WordSize(), end)
}

// SymbolSize returns the size of an entry in a symbol table (gABI, chapter 4, "Symbol Table"), in
// bytes.
func (h *Header) SymbolSize() int {
	if h.Wide {
		return 24
	}
	return 16
}
