package macho

import (
	"encoding/binary"

	"dbg/arch"
)

// Slice is one of the files in a fat ("universal") Mach-O file.
type Slice struct {
	Name         string     // as lipo writes it: "x86_64", "arm64e"
	Arch         *arch.Arch // nil if dbg does not support it
	Offset, Size uint64     // in bytes
}

// maxFat limits the number of slices. Fat files have the same magic number as Java class files.
// Where a fat file has the number of slices, a class file has its version: 45 and above.
const maxFat = 44

// BeginsFat reports whether b begins like a fat file, and not like a Java class file.
func BeginsFat(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	switch binary.BigEndian.Uint32(b) {
	case fatMagic32:
		return binary.BigEndian.Uint32(b[4:]) <= maxFat
	case fatMagic64:
		return true
	}
	return false
}

// Slices reads a fat header: fat_arch or fat_arch_64 entries, big-endian. b is the whole file and
// begins like a fat one. Every slice is inside b. An error is an *Error.
func Slices(b []byte) ([]Slice, error) {
	count, each := uint64(binary.BigEndian.Uint32(b[4:])), uint64(20)
	if binary.BigEndian.Uint32(b) == fatMagic64 {
		each = 32
	}
	if count == 0 || count > maxFat {
		return nil, malformed("the fat header has %d slices", count)
	}
	if 8+count*each > uint64(len(b)) {
		return nil, truncated("the fat header has %d bytes", len(b))
	}
	var out []Slice
	for i := range count {
		e := b[8+i*each:]
		s := Slice{Offset: uint64(binary.BigEndian.Uint32(e[8:])), Size: uint64(binary.BigEndian.Uint32(e[12:]))}
		if each == 32 {
			s.Offset, s.Size = binary.BigEndian.Uint64(e[8:]), binary.BigEndian.Uint64(e[16:])
		}
		s.Name, s.Arch = machine(binary.BigEndian.Uint32(e), binary.BigEndian.Uint32(e[4:]))
		if all := uint64(len(b)); s.Offset > all || s.Size > all-s.Offset || s.Offset < 8+count*each {
			return nil, truncated("the slice for %s (%d bytes at offset 0x%x) is outside the file", s.Name, s.Size, s.Offset)
		}
		out = append(out, s)
	}
	return out, nil
}
