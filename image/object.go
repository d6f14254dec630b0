package image

import (
	"debug/elf"
	"fmt"
)

// object is the state of a File made by FromObject.
type object struct {
	relocatable bool
	spent       int // relocations applied so far, over all sections
}

// FromObject reads an ELF file that a program made in its own memory for a debugger (GDB manual,
// "JIT Interface"). The name stands for its path. The File keeps the data, which must not change.
//
// All addresses of the File are addresses in the process. Its Segments are the sections that
// occupy memory (SHF_ALLOC) and have an address: such files often have no program headers. In a
// relocatable file (ET_REL), sh_addr is the address to which the program loaded a section.
// Symbols are then relative to their section, and debug information and .eh_frame need their
// relocations (System V ABI, chapter 4, "Relocation"). Both are resolved when the section is
// first requested.
//
// The contents of other sections are those of the data, not those of the process. The error is an
// *OpenError.
func FromObject(name string, data []byte) (*File, error) {
	f, err := FromMemory(name, data)
	if err != nil {
		return nil, err
	}
	fail := func(r Reason, format string, args ...any) (*File, error) {
		return nil, &OpenError{Path: name, Reason: r, Detail: fmt.Sprintf(format, args...)}
	}
	if f.Format() != ELF {
		return fail(UnsupportedFormat, "it is not an ELF file")
	}
	f.object = &object{relocatable: f.header.Type == elf.ET_REL}
	if len(f.sects) == 0 {
		if f.object.relocatable || len(f.loads) == 0 {
			return fail(Malformed, "it has no sections")
		}
		return f, nil
	}
	f.loads = nil
	var code uint64 // the lowest address of code
	for i := range f.sects {
		s := &f.sects[i]
		if !s.placed() || s.addr+s.size < s.addr {
			continue
		}
		seg := Segment{Lo: Addr(s.addr), Hi: Addr(s.addr + s.size), FileOff: s.off, FileSize: s.size,
			Read: true, Write: s.flags&elf.SHF_WRITE != 0, Exec: s.flags&elf.SHF_EXECINSTR != 0}
		if s.typ == elf.SHT_NOBITS {
			seg.FileSize = 0
		}
		if seg.Exec && (code == 0 || s.addr < code) {
			code = s.addr
		}
		f.loads = append(f.loads, seg)
	}
	if code == 0 {
		return fail(Malformed, "no section of code has an address")
	}
	// Tables that the program did not load have no address. Any address will do, since they are
	// only read here, but differences to the code must fit in 32 bits.
	for i := range f.sects {
		if s := &f.sects[i]; f.object.relocatable && s.name == ".eh_frame" && s.addr == 0 {
			s.addr = code
		}
	}
	return f, nil
}

// placed reports whether a section occupies memory in the process.
func (s *section) placed() bool {
	return s.flags&elf.SHF_ALLOC != 0 && s.addr != 0 && s.size != 0 && s.typ != elf.SHT_NULL
}

// contents returns the data of section i in the form that a debugger needs. It returns data
// itself if nothing needs to be changed.
func (o *object) contents(f *File, i int, data []byte) ([]byte, error) {
	s := &f.sects[i]
	switch {
	case !o.relocatable || len(data) == 0:
		return data, nil
	case s.typ == elf.SHT_SYMTAB:
		return f.placeSymbols(data), nil
	case s.flags&elf.SHF_ALLOC != 0 && s.name != ".eh_frame":
		return data, nil // the process has it
	}
	out := data
	for j := range f.sects {
		r := &f.sects[j]
		if r.typ != elf.SHT_REL && r.typ != elf.SHT_RELA || uint64(r.info) != uint64(i) || r.size == 0 {
			continue
		}
		if &out[0] == &data[0] {
			out = append([]byte(nil), data...)
		}
		if err := f.relocate(out, s, r); err != nil {
			return nil, fmt.Errorf("relocation section %s: %w", r.name, err)
		}
	}
	return out, nil
}

// placeSymbols returns a copy of the symbol table of a relocatable file, with addresses as
// values. Symbols without an address become undefined.
func (f *File) placeSymbols(table []byte) []byte {
	out := append([]byte(nil), table...)
	h := &f.header
	size, shndx := 16, 14
	if h.Wide {
		size, shndx = 24, 6
	}
	for b := out; len(b) >= size; b = b[size:] {
		n := h.Order.Uint16(b[shndx:])
		switch {
		case n == uint16(elf.SHN_ABS):
		case int(n) >= len(f.sects) || !f.sects[n].placed():
			h.Order.PutUint16(b[shndx:], uint16(elf.SHN_UNDEF))
		case h.Wide:
			h.Order.PutUint64(b[8:], h.Order.Uint64(b[8:])+f.sects[n].addr)
		default:
			h.Order.PutUint32(b[4:], h.Order.Uint32(b[4:])+uint32(f.sects[n].addr))
		}
	}
	return out
}
