package image

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"dbg/arch"
)

// Slice is one of the files in a fat ("universal") Mach-O file.
type Slice struct {
	Name         string     // as lipo writes it: "x86_64", "arm64e"
	Arch         *arch.Arch // nil if dbg does not support it
	Offset, Size uint64     // in bytes

	data []byte
}

// maxFat limits the number of slices. Fat files have the same magic number as Java class files.
// Where a fat file has the number of slices, a class file has its version: 45 and above.
const maxFat = 44

// chooser returns the index of the slice to open.
type chooser func([]Slice) (int, error)

// isFat reports whether b begins like a fat file, and not like a Java class file.
func isFat(b []byte) bool {
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

// Slices lists the slices of a fat file in file order, with their architecture and place. A thin
// Mach-O file has one slice, at offset 0. The error is an *OpenError.
func Slices(path string) ([]Slice, error) {
	m, err := Map(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	data := m.Bytes()
	f := &File{path: path, data: data}
	var list []Slice
	if isFat(data) {
		list, err = f.slices()
	} else if err = f.parse(true, preferred); err == nil {
		list = []Slice{{Name: f.Machine(), Arch: f.Arch(), Size: uint64(len(data))}}
		if f.macho == nil {
			err = &OpenError{Path: path, Reason: UnknownFormat, Detail: "it is an ELF file"}
		}
	}
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].data = nil
	}
	return list, nil
}

// OpenArch is Open for one slice of a fat file. The name is that of a slice ("arm64e") or of an
// arch.Arch ("amd64": the first slice for it). A thin file or an ELF file must be for that
// architecture.
func OpenArch(path, name string) (*File, error) {
	f, err := openChosen(path, func(list []Slice) (int, error) {
		for i := range list {
			if list[i].Name == name {
				return i, nil
			}
		}
		names := ""
		for i := range list {
			if list[i].Arch != nil && list[i].Arch.Name == name {
				return i, nil
			}
			names += " " + list[i].Name
		}
		return 0, fmt.Errorf("it has no slice for %s, only%s", name, names)
	})
	if err != nil {
		return nil, err
	}
	if a := f.Arch(); f.Machine() != name && (a == nil || a.Name != name) {
		err := &OpenError{Path: path, Reason: Unreadable, Err: fmt.Errorf("it is for %s, not for %s", f.Machine(), name)}
		f.Close()
		return nil, err
	}
	return f, nil
}

// preferred chooses the slice for the processor that dbg runs on, or else the first supported
// slice, or else the first.
func preferred(list []Slice) (int, error) {
	best := 0
	for i := range list {
		switch a := list[i].Arch; {
		case a == nil:
		case a.Name == runtime.GOARCH:
			return i, nil
		case list[best].Arch == nil:
			best = i
		}
	}
	return best, nil
}

// parseFat narrows the file to the slice that choose returns, and parses it.
func (f *File) parseFat(strict bool, choose chooser) error {
	list, err := f.slices()
	if err != nil {
		return err
	}
	i, err := choose(list)
	if err != nil {
		return &OpenError{Path: f.path, Reason: Unreadable, Err: err}
	}
	f.data, f.offset = list[i].data, list[i].Offset
	if !isMachO(f.data) {
		return f.machoError(Malformed, "its slice for %s begins with %s", list[i].Name, describe(f.data))
	}
	return f.parseMachO(strict)
}

// slices reads a fat header: fat_arch or fat_arch_64 entries, big-endian.
func (f *File) slices() ([]Slice, error) {
	b := f.data
	count, each := uint64(binary.BigEndian.Uint32(b[4:])), uint64(20)
	if binary.BigEndian.Uint32(b) == fatMagic64 {
		each = 32
	}
	if count == 0 || count > maxFat {
		return nil, f.machoError(Malformed, "the fat header has %d slices", count)
	}
	if 8+count*each > uint64(len(b)) {
		return nil, f.machoError(Truncated, "the fat header has %d bytes", len(b))
	}
	var out []Slice
	for i := range count {
		e := b[8+i*each:]
		s := Slice{Offset: uint64(binary.BigEndian.Uint32(e[8:])), Size: uint64(binary.BigEndian.Uint32(e[12:]))}
		if each == 32 {
			s.Offset, s.Size = binary.BigEndian.Uint64(e[8:]), binary.BigEndian.Uint64(e[16:])
		}
		s.Name, s.Arch = machoFacts(binary.BigEndian.Uint32(e), binary.BigEndian.Uint32(e[4:]))
		data, ok := f.bytes(s.Offset, s.Size)
		if !ok || s.Offset < 8+count*each {
			return nil, f.machoError(Truncated, "the slice for %s (%d bytes at offset 0x%x) is outside the file", s.Name, s.Size, s.Offset)
		}
		s.data = data
		out = append(out, s)
	}
	return out, nil
}
