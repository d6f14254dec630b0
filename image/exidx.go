package image

import (
	"debug/elf"

	"dbg/arch"
)

const exidxName = ".ARM.exidx"

// ExceptionIndex returns .ARM.exidx of a linked file for 32-bit ARM: the section, or what the program
// header PT_ARM_EXIDX covers (ELF for the Arm Architecture, section 5.2) if the file has no section
// headers. Data is nil in a separate debug file.
func (f *File) ExceptionIndex() (s Section, ok bool) {
	if f.macho != nil || f.Arch() != arch.ARM || f.Kind() == Relocatable {
		return s, false
	}
	if s, ok = f.Section(exidxName); ok || f.mapped != nil {
		return s, ok
	}
	for _, p := range f.progs {
		if p.Type != elf.PT_ARM_EXIDX {
			continue
		}
		s = Section{Name: exidxName, Addr: Addr(p.Addr), Offset: p.Off, Size: p.FileSize}
		b, off := f.fromAddr(s.Addr)
		if uint64(len(b)) < p.FileSize {
			return s, false
		}
		s.Data, s.Offset = b[:p.FileSize:p.FileSize], off
		return s, true
	}
	return s, false
}

// BytesAt returns the bytes from an address on, at most n and as many as the file has, or nil if there
// are none. They may belong to the file, and are valid until it is closed. Of an image in a process's
// memory they are a copy.
func (f *File) BytesAt(addr Addr, n int) []byte {
	if f.mapped == nil {
		b := f.ContentsFrom(addr)
		return b[:min(n, len(b))]
	}
	s := f.inLoad(uint64(addr))
	if s == nil {
		return nil
	}
	b := make([]byte, min(uint64(n), uint64(s.Hi-addr)))
	return b[:f.mapped.readMemory(uint64(addr), b)]
}
