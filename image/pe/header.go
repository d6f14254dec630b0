package pe

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Error is the error of Parse.
type Error struct {
	Truncated bool // the data ends too early; otherwise the headers contradict themselves
	Detail    string
}

func (e *Error) Error() string { return e.Detail }

func truncated(format string, args ...any) error { return &Error{true, fmt.Sprintf(format, args...)} }
func malformed(format string, args ...any) error { return &Error{false, fmt.Sprintf(format, args...)} }

// File holds what the headers of a PE image contain.
type File struct {
	Machine            uint16 // MachineAMD64 and so on
	Characteristics    uint16
	TimeDateStamp      uint32
	DLLCharacteristics uint16
	Wide               bool   // PE32+
	ImageBase          uint64 // the preferred load address
	Entry              uint32 // RVA of the entry point, or 0
	HeaderSize         uint32 // bytes of the file that are mapped at the image base
	ImageSize          uint32
	Sections           []Section

	directories [directoryCount]Directory
	data        []byte // the whole file
	symbolsAt   uint64 // file offset of the COFF symbol table
	symbolCount uint64
	names       []byte // the string table with its four bytes of length
}

// Directory is the place of a table in the image.
type Directory struct{ RVA, Size uint32 }

// Section is a section header.
type Section struct {
	Name            string // in full: "/4" is looked up in the string table
	RVA             uint32
	VirtualSize     uint32
	Off, FileSize   uint32 // FileSize is 0 if the section has no contents in the file
	Characteristics uint32
}

// Begins reports whether b begins like a PE file: with the header of an MS-DOS program.
func Begins(b []byte) bool { return bytes.HasPrefix(b, []byte("MZ")) }

// Parse reads the headers of an image, which must begin like a PE file: see Begins. The File keeps
// b. The error is an *Error.
func Parse(b []byte) (*File, error) {
	if len(b) < dosHeaderSize {
		return nil, truncated("the MS-DOS header has %d bytes", len(b))
	}
	at := uint64(u32(b, 0x3c))
	if at+4+fileHeaderSize > uint64(len(b)) {
		return nil, truncated("the PE header at offset 0x%x is not in the file", at)
	}
	if !bytes.Equal(b[at:at+4], []byte("PE\x00\x00")) {
		return nil, malformed("an MS-DOS program without a PE header")
	}
	f := &File{data: b}
	h := b[at+4:]
	f.Machine, f.Characteristics, f.TimeDateStamp = u16(h, 0), u16(h, 18), u32(h, 4)
	f.symbolsAt, f.symbolCount = uint64(u32(h, 8)), uint64(u32(h, 12))
	optional := h[fileHeaderSize:]
	size := uint64(u16(h, 16))
	if size > uint64(len(optional)) {
		return nil, truncated("the optional header of %d bytes is not in the file", size)
	}
	if err := f.parseOptional(optional[:size]); err != nil {
		return nil, err
	}
	f.findNames()
	return f, f.parseSections(optional[size:], int(u16(h, 2)))
}

// parseOptional reads the optional header ("PE Format", Optional Header).
func (f *File) parseOptional(b []byte) error {
	if len(b) < 2 {
		return malformed("it has no optional header")
	}
	fixed := 96
	switch magic := u16(b, 0); magic {
	case 0x10b:
	case 0x20b:
		f.Wide, fixed = true, 112
	default:
		return malformed("the optional header has magic number 0x%x", magic)
	}
	if len(b) < fixed {
		return malformed("the optional header has %d bytes, fewer than %d", len(b), fixed)
	}
	f.Entry, f.ImageSize, f.HeaderSize, f.DLLCharacteristics = u32(b, 16), u32(b, 56), u32(b, 60), u16(b, 70)
	if f.Wide {
		f.ImageBase = binary.LittleEndian.Uint64(b[24:])
	} else {
		f.ImageBase = uint64(u32(b, 28))
	}
	if f.ImageBase > 1<<64-1<<33 {
		return malformed("the image base 0x%x is too high", f.ImageBase)
	}
	for i := range min(int(u32(b, fixed-4)&0xff), directoryCount, (len(b)-fixed)/8) {
		f.directories[i] = Directory{u32(b, fixed+8*i), u32(b, fixed+8*i+4)}
	}
	return nil
}

// findNames finds the string table, which follows the symbol table.
func (f *File) findNames() {
	n := uint64(len(f.data))
	if f.symbolsAt == 0 || f.symbolsAt > n || f.symbolCount > (n-f.symbolsAt)/symbolSize {
		f.symbolCount = 0
		return
	}
	b := f.data[f.symbolsAt+f.symbolCount*symbolSize:]
	if len(b) >= 4 {
		f.names = b[:max(4, min(uint64(u32(b, 0)), uint64(len(b))))]
	}
}

func (f *File) parseSections(b []byte, count int) error {
	if count > maxSections || count*sectionHeaderSize > len(b) {
		return truncated("%d section headers are not in the file", count)
	}
	f.Sections = make([]Section, count)
	for i := range f.Sections {
		h := b[i*sectionHeaderSize:][:sectionHeaderSize]
		s := &f.Sections[i]
		*s = Section{Name: f.sectionName(h[:8]), VirtualSize: u32(h, 8), RVA: u32(h, 12), FileSize: u32(h, 16), Off: u32(h, 20),
			Characteristics: u32(h, 36)}
		if s.VirtualSize == 0 {
			s.VirtualSize = s.FileSize
		}
		// The file's part is padded to the file alignment.
		s.FileSize = min(s.FileSize, s.VirtualSize)
		if s.Off == 0 || s.Characteristics&SectionUninitialized != 0 {
			s.FileSize = 0
		}
	}
	return nil
}

// sectionName returns a name of up to eight bytes, or the long name at an offset of the string
// table: "/4" in decimal digits, "//AAAAAA" in base 64 (LLVM's extension for large tables).
func (f *File) sectionName(b []byte) string {
	short := cstring(b)
	if len(short) < 2 || short[0] != '/' {
		return short
	}
	at, ok := uint64(0), true
	if short[1] == '/' {
		at, ok = base64Offset(short[2:])
	} else {
		for _, c := range []byte(short[1:]) {
			at = 10*at + uint64(c-'0')
			ok = ok && c >= '0' && c <= '9'
		}
	}
	if name := f.nameAt(at); ok && name != "" {
		return name
	}
	return short
}

func base64Offset(s string) (v uint64, ok bool) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range len(s) {
		d := bytes.IndexByte([]byte(digits), s[i])
		if d < 0 {
			return 0, false
		}
		v = v<<6 | uint64(d)
	}
	return v, len(s) > 0
}

// nameAt returns a string of the string table, or "".
func (f *File) nameAt(off uint64) string {
	if off < 4 || off >= uint64(len(f.names)) {
		return ""
	}
	return cstring(f.names[off:min(off+maxName, uint64(len(f.names)))])
}

// Directory returns the place of a table, or the zero value if the image has none.
func (f *File) Directory(i int) Directory { return f.directories[i] }

// Bytes returns n bytes of the image at an RVA, or nil if they are not all in the file. They belong
// to the file.
func (f *File) Bytes(rva, n uint32) []byte {
	b := f.From(rva)
	if uint64(len(b)) < uint64(n) {
		return nil
	}
	return b[:n:n]
}

// From returns the bytes of the image from an RVA to the end of its section's contents, or nil.
func (f *File) From(rva uint32) []byte {
	for i := range f.Sections {
		s := &f.Sections[i]
		if rva >= s.RVA && rva-s.RVA < s.FileSize {
			lo, hi := uint64(s.Off)+uint64(rva-s.RVA), uint64(s.Off)+uint64(s.FileSize)
			if hi = min(hi, uint64(len(f.data))); lo >= hi {
				return nil
			}
			return f.data[lo:hi:hi]
		}
	}
	if end := min(uint64(f.HeaderSize), uint64(len(f.data))); uint64(rva) < end {
		return f.data[rva:end:end]
	}
	return nil
}

// SectionAt returns the index in Sections of the section at an RVA, or -1.
func (f *File) SectionAt(rva uint32) int {
	for i := range f.Sections {
		if s := &f.Sections[i]; rva >= s.RVA && rva-s.RVA < s.VirtualSize {
			return i
		}
	}
	return -1
}

func u16(b []byte, off int) uint16 { return binary.LittleEndian.Uint16(b[off:]) }
func u32(b []byte, off int) uint32 { return binary.LittleEndian.Uint32(b[off:]) }
func u64(b []byte, off int) uint64 { return binary.LittleEndian.Uint64(b[off:]) }

// cstring returns a copy of the bytes before the first zero.
func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
