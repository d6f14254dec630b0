package image

import (
	"dbg/image/macho"
	"fmt"
)

// mappedImage gives access to the memory of a mapped image.
type mappedImage struct {
	memory func(addr uint64, buf []byte) (int, error)
	slide  uint64 // address in memory less address in the file
	copied uint64 // in bytes; see some
}

const (
	maxCommands = 1 << 20 // bytes of load commands of a mapped image; dyld has no image with more
	maxMapped   = 1 << 30 // bytes of a section or table of a mapped image
	mappedStep  = 1 << 20 // large sizes are read in steps of this size
)

// FromMapped reads an ELF or Mach-O image that a process has mapped: in a core, or where the file
// is not available. header is the address of its header in the process. read reads the process's
// memory; it may return fewer bytes than requested, with or without an error. The name stands for
// a path.
//
// The File's addresses are the file's own, as with Open; Slide converts them. The header and the
// load commands are read now. Sections, symbols and function starts are read on demand through
// read, which must work as long as the File is used. The contents of a segment are the current
// contents in the process, so pointers in it are relocated. Data that is not mapped, such as
// debug information, is missing. For an ELF image the dynamic symbols and the unwind tables are
// read and copied at once. The error is an *OpenError.
func FromMapped(name string, read func(addr uint64, buf []byte) (int, error), header uint64) (*File, error) {
	f := &File{path: name}
	m := &mappedImage{memory: read, slide: header}
	head := make([]byte, 32)
	n := m.readMemory(0, head)
	if isELF(head[:n]) {
		if err := f.mappedELF(m); err != nil {
			return nil, err
		}
		return f, nil
	}
	if !macho.Begins(head[:n]) {
		return nil, f.machoFailure(UnknownFormat, "memory at 0x%x begins with %s", header, describe(head[:n]))
	} else if n < len(head) {
		return nil, f.machoFailure(Truncated, "only %d bytes of the header at 0x%x can be read", n, header)
	}
	need, err := macho.Size(head)
	if err != nil {
		return nil, f.machoError(err)
	}
	if need > maxCommands {
		return nil, f.machoFailure(Malformed, "it has %d bytes of load commands", need)
	}
	all, err := m.read(0, need)
	if err != nil {
		return nil, f.machoFailure(Truncated, "load commands at 0x%x: %v", header, err)
	}
	info, err := macho.Parse(all)
	if err != nil {
		return nil, f.machoError(err)
	}
	f.setMachO(info)
	m.slide = header - info.HeaderAddr()
	info.Copies, f.mapped = true, m
	return f, nil
}

// Slide returns the number to add to the file's addresses to get addresses in the process where
// the image is mapped. It is 0 unless the File is from FromMapped.
func (f *File) Slide() uint64 {
	if f.mapped == nil {
		return 0
	}
	return f.mapped.slide
}

// readMemory reads at an address of the file and returns the number of bytes read.
func (m *mappedImage) readMemory(addr uint64, buf []byte) int {
	n, _ := m.memory(addr+m.slide, buf)
	return max(0, min(n, len(buf)))
}

// read returns n bytes at an address of the file. They are copied in steps, so that a size larger
// than the readable memory is noticed before much is allocated.
func (m *mappedImage) read(addr, n uint64) ([]byte, error) {
	if n > maxMapped {
		return nil, fmt.Errorf("implausible size of %d bytes", n)
	}
	out := make([]byte, 0, min(n, mappedStep))
	for uint64(len(out)) < n {
		have := len(out)
		step := int(min(n-uint64(have), max(mappedStep, uint64(have))))
		out = append(out, make([]byte, step)...)
		if got := m.readMemory(addr+uint64(have), out[have:]); got < step {
			return nil, fmt.Errorf("no memory at 0x%x", addr+m.slide+uint64(have+got))
		}
	}
	return out, nil
}

// linked returns n bytes at an offset in the file, from the segment that contains them. It
// returns false if none does.
func (m *mappedImage) linked(segments []macho.Segment, off, n uint64) ([]byte, bool) {
	for _, s := range segments {
		if off >= s.FileOff && off-s.FileOff < s.FileSize && n <= s.FileSize-(off-s.FileOff) {
			b, err := m.read(s.Lo+off-s.FileOff, n)
			return b, err == nil
		}
	}
	return nil, false
}
