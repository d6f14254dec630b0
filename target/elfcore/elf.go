package elfcore

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"dbg/arch"
	"dbg/target/corefile"
)

// ErrNotCore is wrapped by Open's error for a file that is not a core.
var ErrNotCore = corefile.ErrNotCore

// header holds the required fields of an ELF file's header.
type header struct {
	order         binary.ByteOrder
	wide          bool // 64 bit
	kind          elf.Type
	machine       elf.Machine
	phoff         uint64
	phnum         uint64
	phentsize     uint64
	wantedHeaders uint64 // the full count, which may be larger than phnum in a truncated file
}

// segment is a program header.
type segment struct {
	kind          elf.ProgType
	flags         elf.ProgFlag
	off           uint64
	addr          uint64
	filesz, memsz uint64
	align         uint64
}

// parseHeader reads the header of any ELF file. The error is a clause to follow the file's name.
func parseHeader(b []byte) (h header, err error) {
	if len(b) < 4 || string(b[:4]) != elf.ELFMAG {
		return h, errors.New("is not an ELF file")
	}
	if len(b) < 20 {
		return h, errors.New("is an ELF file with a truncated header")
	}
	switch elf.Data(b[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		h.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		h.order = binary.BigEndian
	default:
		return h, fmt.Errorf("has an unknown byte order (%d)", b[elf.EI_DATA])
	}
	switch elf.Class(b[elf.EI_CLASS]) {
	case elf.ELFCLASS64:
		h.wide = true
	case elf.ELFCLASS32:
	default:
		return h, fmt.Errorf("has an unknown ELF class (%d)", b[elf.EI_CLASS])
	}
	h.kind = elf.Type(h.order.Uint16(b[16:]))
	h.machine = elf.Machine(h.order.Uint16(b[18:]))
	size, num := 52, 44
	if h.wide {
		size, num = 64, 56
	}
	if len(b) < size {
		return h, errors.New("is an ELF file with a truncated header")
	}
	var shoff uint64
	if h.wide {
		h.phoff, shoff = h.order.Uint64(b[32:]), h.order.Uint64(b[40:])
	} else {
		h.phoff, shoff = uint64(h.order.Uint32(b[28:])), uint64(h.order.Uint32(b[32:]))
	}
	h.phentsize = uint64(h.order.Uint16(b[num-2:]))
	h.phnum = uint64(h.order.Uint16(b[num:]))
	if h.phnum == 0xffff { // PN_XNUM: the count is in sh_info of section header 0
		at := uint64(28)
		if h.wide {
			at = 44
		}
		if s, ok := cut(b, shoff, at+4); ok {
			h.phnum = uint64(h.order.Uint32(s[at:]))
		}
	}
	h.wantedHeaders = h.phnum
	least := uint64(32)
	if h.wide {
		least = 56
	}
	if h.phnum > 0 && h.phentsize < least {
		return h, fmt.Errorf("has program headers of %d bytes", h.phentsize)
	}
	if h.phoff > uint64(len(b)) {
		h.phnum = 0
	} else if most := (uint64(len(b)) - h.phoff) / max(h.phentsize, 1); h.phnum > most {
		h.phnum = most
	}
	return h, nil
}

// segment returns program header i, which must be below phnum.
func (h *header) segment(b []byte, i uint64) segment {
	p := b[h.phoff+i*h.phentsize:]
	o := h.order
	if h.wide {
		return segment{elf.ProgType(o.Uint32(p)), elf.ProgFlag(o.Uint32(p[4:])), o.Uint64(p[8:]), o.Uint64(p[16:]),
			o.Uint64(p[32:]), o.Uint64(p[40:]), o.Uint64(p[48:])}
	}
	return segment{elf.ProgType(o.Uint32(p)), elf.ProgFlag(o.Uint32(p[24:])), uint64(o.Uint32(p[4:])), uint64(o.Uint32(p[8:])),
		uint64(o.Uint32(p[16:])), uint64(o.Uint32(p[20:])), uint64(o.Uint32(p[28:]))}
}

// cut returns n bytes at off, or false if not all of them exist.
func cut(b []byte, off, n uint64) ([]byte, bool) {
	if off > uint64(len(b)) || n > uint64(len(b))-off {
		return nil, false
	}
	return b[off : off+n], true
}

// cutSome returns up to n bytes at off.
func cutSome(b []byte, off, n uint64) []byte {
	if off >= uint64(len(b)) {
		return nil
	}
	return b[off : off+min(n, uint64(len(b))-off)]
}

// archOf returns the architecture of a machine, or nil if it is not supported.
func archOf(h *header) *arch.Arch {
	if h.order != binary.LittleEndian {
		return nil
	}
	switch {
	case h.machine == elf.EM_X86_64: // x32 has the registers of x86-64, 8 bytes each; see ptrSize
		return arch.AMD64
	case h.machine == elf.EM_AARCH64 && h.wide:
		return arch.ARM64
	case h.machine == elf.EM_RISCV && h.wide:
		return arch.RISCV64
	case h.machine == elf.EM_386 && !h.wide:
		return arch.I386
	case h.machine == elf.EM_ARM && !h.wide:
		return arch.ARM
	}
	return nil
}

func machineName(h *header) string {
	name := strings.TrimPrefix(h.machine.String(), "EM_")
	if strings.HasPrefix(name, "elf.") {
		name = fmt.Sprintf("machine %d", uint16(h.machine))
	}
	bits, end := 32, "little"
	if h.wide {
		bits = 64
	}
	if h.order == binary.BigEndian {
		end = "big"
	}
	return fmt.Sprintf("%s (%d bit, %s-endian)", name, bits, end)
}

func kindName(k elf.Type) string {
	switch k {
	case elf.ET_EXEC:
		return "a program"
	case elf.ET_DYN:
		return "a program or a shared library"
	case elf.ET_REL:
		return "an object file"
	}
	return fmt.Sprintf("an ELF file of type %d", uint16(k))
}

// note is one entry of a PT_NOTE segment.
type note struct {
	name string
	kind uint32
	desc []byte
}

// notes calls f for each note, up to the end of b or the first invalid note. It reports whether
// all notes were valid. Names and descriptions are padded to four bytes, also in 64-bit files, or
// to eight with an alignment of 8 (GNU property notes).
func notes(b []byte, order binary.ByteOrder, align uint64, f func(note) bool) bool {
	if align != 8 {
		align = 4
	}
	pad := func(n uint64) uint64 { return (n + align - 1) &^ (align - 1) }
	for len(b) >= 12 {
		namesz, descsz := uint64(order.Uint32(b)), uint64(order.Uint32(b[4:]))
		n := note{kind: order.Uint32(b[8:])}
		descAt := pad(12 + namesz)
		name, ok := cut(b, 12, namesz)
		if !ok || namesz > math.MaxInt32 {
			return false
		}
		n.name = strings.TrimRight(string(cutSome(name, 0, 32)), "\x00")
		if n.desc, ok = cut(b, descAt, descsz); !ok {
			return false
		}
		if !f(n) {
			return true
		}
		end := pad(descAt + descsz)
		if end >= uint64(len(b)) {
			return true
		}
		b = b[end:]
	}
	return len(b) == 0
}

// buildIDIn looks for NT_GNU_BUILD_ID in an image's notes. read returns the bytes of a program
// header's segment, as many as exist.
func buildIDIn(b []byte, read func(segment) []byte) (string, bool) {
	h, err := parseHeader(b)
	if err != nil || h.kind != elf.ET_EXEC && h.kind != elf.ET_DYN {
		return "", false
	}
	id, found := "", false
	for i := range min(h.phnum, 256) {
		s := h.segment(b, i)
		if s.kind != elf.PT_NOTE || s.filesz > 1<<20 {
			continue
		}
		notes(read(s), h.order, s.align, func(n note) bool {
			if n.kind == 3 && n.name == "GNU" && len(n.desc) > 0 && len(n.desc) <= 64 {
				id, found = fmt.Sprintf("%x", n.desc), true
			}
			return !found
		})
		if found {
			break
		}
	}
	return id, found
}
