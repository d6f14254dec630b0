package image

import (
	"debug/elf"
	"fmt"
	"math"
)

// relocOp is the computation of a relocation. S is the symbol's value, A the addend, and P the
// address of the place: the letters of the processor supplements of the System V ABI.
type relocOp uint8

const (
	relocNone relocOp = iota
	relocAbs          // S + A
	relocPC           // S + A - P
	relocTLS          // A + the symbol's offset in its section
	relocAdd          // add S + A to the present value
	relocSub          // subtract S + A from the present value
)

// reloc is one type of relocation: its computation, and the number of bytes that it changes. bits
// is its width if that is not a whole number of bytes.
type reloc struct {
	op   relocOp
	size int
	bits uint
}

// relocs lists the types in debug information and .eh_frame, by machine.
var relocs = map[elf.Machine]map[uint32]reloc{
	elf.EM_X86_64: {
		uint32(elf.R_X86_64_NONE): {}, uint32(elf.R_X86_64_64): {relocAbs, 8, 0}, uint32(elf.R_X86_64_PC32): {relocPC, 4, 0},
		uint32(elf.R_X86_64_PLT32): {relocPC, 4, 0}, uint32(elf.R_X86_64_32): {relocAbs, 4, 0}, uint32(elf.R_X86_64_32S): {relocAbs, 4, 0},
		uint32(elf.R_X86_64_PC64): {relocPC, 8, 0}, uint32(elf.R_X86_64_DTPOFF64): {relocTLS, 8, 0}, uint32(elf.R_X86_64_DTPOFF32): {relocTLS, 4, 0},
	},
	elf.EM_386: {
		uint32(elf.R_386_NONE): {}, uint32(elf.R_386_32): {relocAbs, 4, 0}, uint32(elf.R_386_PC32): {relocPC, 4, 0},
		uint32(elf.R_386_TLS_LDO_32): {relocTLS, 4, 0},
	},
	elf.EM_AARCH64: {
		uint32(elf.R_AARCH64_NONE): {}, 256: {}, uint32(elf.R_AARCH64_ABS64): {relocAbs, 8, 0}, uint32(elf.R_AARCH64_ABS32): {relocAbs, 4, 0},
		uint32(elf.R_AARCH64_PREL64): {relocPC, 8, 0}, uint32(elf.R_AARCH64_PREL32): {relocPC, 4, 0}, uint32(elf.R_AARCH64_TLS_DTPREL64): {relocTLS, 8, 0},
	},
	elf.EM_ARM: {
		uint32(elf.R_ARM_NONE): {}, uint32(elf.R_ARM_ABS32): {relocAbs, 4, 0}, uint32(elf.R_ARM_REL32): {relocPC, 4, 0},
		uint32(elf.R_ARM_TLS_LDO32): {relocTLS, 4, 0},
	},
	elf.EM_RISCV: {
		uint32(elf.R_RISCV_NONE): {}, uint32(elf.R_RISCV_32): {relocAbs, 4, 0}, uint32(elf.R_RISCV_64): {relocAbs, 8, 0},
		uint32(elf.R_RISCV_32_PCREL): {relocPC, 4, 0}, uint32(elf.R_RISCV_TLS_DTPREL64): {relocTLS, 8, 0},
		uint32(elf.R_RISCV_ADD8): {relocAdd, 1, 0}, uint32(elf.R_RISCV_ADD16): {relocAdd, 2, 0}, uint32(elf.R_RISCV_ADD32): {relocAdd, 4, 0}, uint32(elf.R_RISCV_ADD64): {relocAdd, 8, 0},
		uint32(elf.R_RISCV_SUB8): {relocSub, 1, 0}, uint32(elf.R_RISCV_SUB16): {relocSub, 2, 0}, uint32(elf.R_RISCV_SUB32): {relocSub, 4, 0}, uint32(elf.R_RISCV_SUB64): {relocSub, 8, 0},
		uint32(elf.R_RISCV_SET8): {relocAbs, 1, 0}, uint32(elf.R_RISCV_SET16): {relocAbs, 2, 0}, uint32(elf.R_RISCV_SET32): {relocAbs, 4, 0},
		uint32(elf.R_RISCV_SET6): {relocAbs, 1, 6}, uint32(elf.R_RISCV_SUB6): {relocSub, 1, 6},
	},
}

// relocate applies the relocations of section r to data, a copy of the contents of section s. An
// unknown relocation, or one that does not fit, is an error: a partly relocated section would
// give wrong addresses.
func (f *File) relocate(data []byte, s, r *section) error {
	h := &f.header
	types := relocs[h.Machine]
	if types == nil {
		return fmt.Errorf("relocations of %s are not supported", f.Machine())
	}
	if int(r.link) >= len(f.sects) || f.sects[r.link].typ != elf.SHT_SYMTAB {
		return fmt.Errorf("section %d is not a symbol table", r.link)
	}
	table := &f.sects[r.link]
	symbols, ok := f.bytes(table.off, table.size) // with values relative to sections
	if !ok {
		return fmt.Errorf("the symbol table is outside the file")
	}
	list, ok := f.bytes(r.off, r.size)
	if !ok {
		return fmt.Errorf("its %d bytes at offset 0x%x are not in the file", r.size, r.off)
	}
	w := h.WordSize()
	size := 2 * w
	if r.typ == elf.SHT_RELA {
		size = 3 * w
	}
	// Sections of a valid file do not overlap.
	if f.object.spent += len(list) / size; f.object.spent > len(f.data)/(2*w) {
		return fmt.Errorf("the file has more relocations than it has room for")
	}
	place := uint64(0)
	if s.flags&elf.SHF_ALLOC != 0 {
		place = s.addr
	}
	for ; len(list) >= size; list = list[size:] {
		off, info := h.Word(list), h.Word(list[w:])
		typ, num := uint32(info), info>>32
		if !h.Wide {
			typ, num = uint32(info&0xff), info>>8
		}
		x, known := types[typ]
		if !known {
			return fmt.Errorf("type %d at offset 0x%x is unknown", typ, off)
		}
		if x.op == relocNone {
			continue
		}
		if off > uint64(len(data)) || uint64(x.size) > uint64(len(data))-off {
			return fmt.Errorf("offset 0x%x is outside section %s", off, s.name)
		}
		value, inSection, defined, ok := f.relocSymbol(symbols, num)
		if !ok {
			return fmt.Errorf("symbol %d at offset 0x%x does not exist", num, off)
		}
		if !defined {
			continue // from another module, such as a personality routine: it stays zero
		}
		at := data[off : off+uint64(x.size)]
		old := f.readPlace(at)
		addend := uint64(0)
		switch {
		case r.typ == elf.SHT_RELA:
			addend = h.Word(list[2*w:])
			if !h.Wide {
				addend = uint64(int64(int32(addend)))
			}
		case x.op != relocAdd && x.op != relocSub:
			addend = signExtend(old, x.size)
		}
		value += addend
		switch x.op {
		case relocPC:
			value -= place + off
		case relocTLS:
			value = inSection + addend
		case relocAdd:
			value = old + value
		case relocSub:
			value = old - value
		}
		if x.bits != 0 {
			mask := uint64(1)<<x.bits - 1
			value = old&^mask | value&mask
		}
		if v := int64(value); x.size == 4 && h.Wide && (x.op == relocAbs && (v < math.MinInt32 || v > math.MaxUint32) || x.op == relocPC && v != int64(int32(v))) {
			return fmt.Errorf("the value 0x%x at offset 0x%x does not fit in 32 bits", value, off)
		}
		f.writePlace(at, value)
	}
	return nil
}

// relocSymbol returns the value of a symbol, and its value relative to its section. A symbol is
// undefined if it has no address in the process. ok is false if there is no such symbol.
func (f *File) relocSymbol(table []byte, num uint64) (value, inSection uint64, defined, ok bool) {
	if num == 0 {
		return 0, 0, true, true
	}
	h := &f.header
	size := uint64(h.SymbolSize())
	if num >= uint64(len(table))/size {
		return 0, 0, false, false
	}
	b := table[num*size:]
	var n uint16
	if h.Wide {
		n, inSection = h.Order.Uint16(b[6:]), h.Order.Uint64(b[8:])
	} else {
		n, inSection = h.Order.Uint16(b[14:]), uint64(h.Order.Uint32(b[4:]))
	}
	switch {
	case n == uint16(elf.SHN_ABS):
		return inSection, inSection, true, true
	case n == 0 || int(n) >= len(f.sects):
		return 0, 0, false, true
	case f.sects[n].flags&elf.SHF_ALLOC == 0: // debug sections count from 0, wherever the program loaded them
		return inSection, inSection, true, true
	case f.sects[n].addr == 0 && f.sects[n].flags&elf.SHF_TLS == 0:
		return 0, inSection, false, true
	}
	return f.sects[n].addr + inSection, inSection, true, true
}

func (f *File) readPlace(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(f.header.Order.Uint16(b))
	case 4:
		return uint64(f.header.Order.Uint32(b))
	}
	return f.header.Order.Uint64(b)
}

func (f *File) writePlace(b []byte, v uint64) {
	switch len(b) {
	case 1:
		b[0] = byte(v)
	case 2:
		f.header.Order.PutUint16(b, uint16(v))
	case 4:
		f.header.Order.PutUint32(b, uint32(v))
	default:
		f.header.Order.PutUint64(b, v)
	}
}

// signExtend sign-extends a number of size bytes.
func signExtend(v uint64, size int) uint64 {
	shift := 64 - 8*uint(size)
	return uint64(int64(v<<shift) >> shift)
}
