package unwindtable

import (
	"debug/elf"
	"encoding/binary"

	"dbg/arch"
	"dbg/image"
)

// elfWith returns an ELF file for the machine of img with one section, .sframe, at an address.
func elfWith(img *image.File, addr uint64, data []byte) []byte {
	const headerSize, sectionSize = 64, 64
	names := "\x00.sframe\x00.shstrtab\x00"
	machine := elf.EM_X86_64
	if img.Arch() == arch.ARM64 {
		machine = elf.EM_AARCH64
	}
	le := binary.LittleEndian
	dataAt := uint64(headerSize)
	namesAt := dataAt + uint64(len(data))
	tableAt := (namesAt + uint64(len(names)) + 7) &^ 7
	b := append([]byte(elf.ELFMAG), byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT))
	b = append(b, make([]byte, 16-len(b))...)
	b = le.AppendUint16(b, uint16(elf.ET_DYN))
	b = le.AppendUint16(b, uint16(machine))
	b = le.AppendUint32(b, uint32(elf.EV_CURRENT))
	b = le.AppendUint64(b, 0)       // e_entry
	b = le.AppendUint64(b, 0)       // e_phoff
	b = le.AppendUint64(b, tableAt) // e_shoff
	b = le.AppendUint32(b, 0)       // e_flags
	for _, v := range []uint16{headerSize, 56, 0, sectionSize, 3, 2} {
		b = le.AppendUint16(b, v) // e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx
	}
	b = append(append(b, data...), names...)
	b = append(b, make([]byte, tableAt-uint64(len(b)))...)
	section := func(name uint32, typ elf.SectionType, flags elf.SectionFlag, addr, at, size, align uint64) {
		b = le.AppendUint32(le.AppendUint32(b, name), uint32(typ))
		for _, v := range []uint64{uint64(flags), addr, at, size, 0, align, 0} {
			b = le.AppendUint64(b, v) // the fifth is sh_link and sh_info
		}
	}
	section(0, elf.SHT_NULL, 0, 0, 0, 0, 0)
	section(1, shtGNUSFrame, elf.SHF_ALLOC, addr, dataAt, uint64(len(data)), 8)
	section(9, elf.SHT_STRTAB, 0, 0, namesAt, uint64(len(names)), 1)
	return b
}

// shtGNUSFrame is SHT_GNU_SFRAME ("The SFrame Format", section 1.1, and binutils' include/elf/common.h).
const shtGNUSFrame elf.SectionType = 0x6ffffff4
