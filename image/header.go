package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// header is the ELF header, and the parameters for reading numbers of this file.
type header struct {
	is64, big bool
	order     binary.ByteOrder
	typ       elf.Type
	machine   elf.Machine
	entry     uint64
}

// prog is a program header.
type prog struct {
	typ                               elf.ProgType
	flags                             elf.ProgFlag
	off, vaddr, filesz, memsz, palign uint64
}

func (h *header) wordSize() int {
	if h.is64 {
		return 8
	}
	return 4
}

// word reads an Elf32_Word or an Elf64_Xword; b is long enough.
func (h *header) word(b []byte) uint64 {
	if h.is64 {
		return h.order.Uint64(b)
	}
	return uint64(h.order.Uint32(b))
}

// parseELF reads the three kinds of headers. With strict, section headers outside the data are an
// error; otherwise they are ignored.
func (f *File) parseELF(strict bool) error {
	fail := func(r Reason, format string, args ...any) error {
		return &OpenError{Path: f.path, Reason: r, Detail: fmt.Sprintf(format, args...)}
	}
	b := f.data
	if len(b) < 20 {
		return fail(Truncated, "the ELF header has %d bytes", len(b))
	}
	h := &f.header
	switch elf.Class(b[elf.EI_CLASS]) {
	case elf.ELFCLASS64:
		h.is64 = true
	case elf.ELFCLASS32:
	default:
		return fail(Malformed, "class %d is neither 32 nor 64 bits", b[elf.EI_CLASS])
	}
	switch elf.Data(b[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		h.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		h.order, h.big = binary.BigEndian, true
	default:
		return fail(Malformed, "byte order %d is unknown", b[elf.EI_DATA])
	}
	size := 52
	if h.is64 {
		size = 64
	}
	if len(b) < size {
		return fail(Truncated, "the ELF header has %d bytes", len(b))
	}
	h.typ = elf.Type(h.order.Uint16(b[16:]))
	h.machine = elf.Machine(h.order.Uint16(b[18:]))
	w := h.wordSize()
	h.entry = h.word(b[24:])
	phoff, shoff := h.word(b[24+w:]), h.word(b[24+2*w:])
	tail := b[24+3*w+4:] // after e_flags
	half := func(i int) uint64 { return uint64(h.order.Uint16(tail[2*i:])) }
	phentsize, phnum := half(1), half(2)
	shentsize, shnum, shstrndx := half(3), half(4), half(5)

	// Counts that do not fit in 16 bits are in section 0 (System V ABI,
	// chapter 4, "Section Header Table").
	if shoff != 0 && (shnum == 0 || shstrndx == uint64(elf.SHN_XINDEX) || phnum == 0xffff) {
		if s, ok := f.sectionHeader(shoff, shentsize); ok {
			if shnum == 0 {
				shnum = s.size
			}
			if shstrndx == uint64(elf.SHN_XINDEX) {
				shstrndx = uint64(s.link)
			}
			if phnum == 0xffff {
				phnum = uint64(s.info)
			}
		}
	}
	if phnum != 0 && phoff != 0 {
		if err := f.parseProgs(phoff, phentsize, phnum); err != "" {
			return fail(Truncated, "%s", err)
		}
	}
	if shnum != 0 && shoff != 0 {
		if err := f.parseSections(shoff, shentsize, shnum, shstrndx); err != "" && strict {
			return fail(Truncated, "%s", err)
		}
	}
	// The section headers are near the end of a file: if they are present, so is the rest.
	// Separate debug files have segments without contents, so this check applies only to files
	// without section headers. Core files are often truncated; their reader handles that.
	if strict && len(f.sects) == 0 && h.typ != elf.ET_CORE {
		for _, s := range f.loads {
			if _, ok := f.bytes(s.FileOff, s.FileSize); !ok {
				return fail(Truncated, "the segment at %v extends beyond the end of the file", s.Lo)
			}
		}
	}
	return nil
}

func (f *File) parseProgs(off, entsize, count uint64) string {
	h := &f.header
	need := uint64(32)
	if h.is64 {
		need = 56
	}
	if entsize < need {
		return fmt.Sprintf("program headers of %d bytes are too short", entsize)
	}
	table, ok := f.table(off, entsize, count)
	if !ok {
		return fmt.Sprintf("%d program headers at offset 0x%x are not in the file", count, off)
	}
	f.progs = make([]prog, 0, count)
	for ; len(table) >= int(entsize); table = table[entsize:] {
		b := table
		p := prog{typ: elf.ProgType(h.order.Uint32(b))}
		if h.is64 {
			p.flags = elf.ProgFlag(h.order.Uint32(b[4:]))
			p.off, p.vaddr = h.word(b[8:]), h.word(b[16:])
			p.filesz, p.memsz, p.palign = h.word(b[32:]), h.word(b[40:]), h.word(b[48:])
		} else {
			p.off, p.vaddr = h.word(b[4:]), h.word(b[8:])
			p.filesz, p.memsz = h.word(b[16:]), h.word(b[20:])
			p.flags, p.palign = elf.ProgFlag(h.order.Uint32(b[24:])), h.word(b[28:])
		}
		f.progs = append(f.progs, p)
		if p.typ != elf.PT_LOAD || p.memsz == 0 || p.vaddr+p.memsz < p.vaddr {
			continue
		}
		f.loads = append(f.loads, Segment{
			Lo: Addr(p.vaddr), Hi: Addr(p.vaddr + p.memsz), FileOff: p.off, FileSize: min(p.filesz, p.memsz),
			Read: p.flags&elf.PF_R != 0, Write: p.flags&elf.PF_W != 0, Exec: p.flags&elf.PF_X != 0,
		})
	}
	return ""
}

// table returns count entries of a header table.
func (f *File) table(off, entsize, count uint64) ([]byte, bool) {
	if entsize == 0 || count > uint64(len(f.data))/entsize {
		return nil, false
	}
	return f.bytes(off, entsize*count)
}

// describe returns the first bytes of a file of another format, and names the formats that people
// mistake for programs.
func describe(b []byte) string {
	for _, m := range []struct{ magic, name string }{
		{"MZ", "the signature of a Windows program"},
		{"\xca\xfe\xba\xbe", "the signature of a Java class"},
		{"!<arch>\n", "the signature of an archive"},
		{"\x1f\x8b", "the signature of a gzip file"},
	} {
		if bytes.HasPrefix(b, []byte(m.magic)) {
			return m.name
		}
	}
	return fmt.Sprintf("%q", b[:min(len(b), 4)])
}
