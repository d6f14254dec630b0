package unwindtable

import (
	"debug/elf"
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/image"
)

// fixup is how a relocation changes the bytes at its place.
type fixup struct {
	size int // bytes
	kind byte
}

// Kinds of fixups.
const (
	absolute = iota // S + A
	relative        // S + A - P
	add             // adds S + A to what is there
	subtract
	low6set // the low six bits: DW_CFA_advance_loc
	low6subtract
)

// fixups lists the relocations that assemblers write in unwind tables, by the numbers of
// the processors' ELF supplements. Others leave the bytes as they are.
var fixups = map[*arch.Arch]map[uint32]fixup{
	arch.AMD64:   {1: {8, absolute}, 2: {4, relative}, 4: {4, relative}, 10: {4, absolute}, 11: {4, absolute}, 24: {8, relative}},
	arch.X32:     {1: {8, absolute}, 2: {4, relative}, 4: {4, relative}, 10: {4, absolute}, 11: {4, absolute}, 24: {8, relative}},
	arch.I386:    {1: {4, absolute}, 2: {4, relative}},
	arch.ARM64:   {257: {8, absolute}, 258: {4, absolute}, 260: {8, relative}, 261: {4, relative}},
	arch.ARM:     {2: {4, absolute}, 3: {4, relative}},
	arch.M68K:    {1: {4, absolute}, 4: {4, relative}},
	arch.SPARC32: {3: {4, absolute}, 6: {4, relative}, 23: {4, absolute}},
	arch.RISCV64: {1: {4, absolute}, 2: {8, absolute}, 33: {1, add}, 34: {2, add}, 35: {4, add}, 36: {8, add}, 37: {1, subtract}, 38: {2, subtract}, 39: {4, subtract}, 40: {8, subtract}, 52: {1, low6subtract}, 53: {1, low6set}, 54: {1, absolute}, 55: {2, absolute}, 56: {4, absolute}, 57: {4, relative}},
}

// relocated gives the bytes of a relocatable file's section as a linker would leave them if it put every section
// at its own address, which is mostly 0; and, for each place that refers to a section, which one.
func relocated(f *image.File, s image.Section) ([]byte, map[uint64]int) {
	data, places := slices.Clone(s.Data), map[uint64]int{}
	symtab, ok := f.Section(".symtab")
	kinds := fixups[f.TableArch()]
	if !ok {
		return data, places
	}
	rel := relocations{is64: f.Is64(), order: binary.LittleEndian}
	if f.BigEndian() {
		rel.order = binary.BigEndian
	}
	for _, name := range []string{".rela" + s.Name, ".rel" + s.Name} {
		table, ok := f.Section(name)
		if !ok {
			continue
		}
		rel.addends = name == ".rela"+s.Name
		for b := table.Data; len(b) >= rel.size(); b = b[rel.size():] {
			off, typ, sym, addend := rel.decode(b)
			value, section, ok := rel.symbol(symtab.Data, sym)
			fix := kinds[typ]
			if !ok || fix.size == 0 || off > uint64(len(data)) || uint64(len(data))-off < uint64(fix.size) {
				continue
			}
			at := data[off : off+uint64(fix.size)]
			if !rel.addends {
				addend = rel.number(at)
			}
			rel.store(at, fix.kind, value+addend, uint64(s.Addr)+off)
			if fix.kind == absolute || fix.kind == relative {
				places[off] = section
			}
		}
	}
	return data, places
}

// relocations decodes Elf32_Rel, Elf32_Rela, Elf64_Rel or Elf64_Rela.
type relocations struct {
	is64, addends bool
	order         binary.ByteOrder
}

func (r relocations) size() int {
	n := 8
	if r.addends {
		n += 4
	}
	if r.is64 {
		n *= 2
	}
	return n
}

func (r relocations) decode(b []byte) (off uint64, typ, sym uint32, addend uint64) {
	o := r.order
	if r.is64 {
		if r.addends {
			addend = o.Uint64(b[16:])
		}
		info := o.Uint64(b[8:])
		return o.Uint64(b), uint32(info), uint32(info >> 32), addend
	}
	if r.addends {
		addend = uint64(int64(int32(o.Uint32(b[8:]))))
	}
	info := o.Uint32(b[4:])
	return uint64(o.Uint32(b)), info & 0xff, info >> 8, addend
}

// symbol is the value of a symbol and the section that it is in.
func (r relocations) symbol(symtab []byte, n uint32) (value uint64, section int, ok bool) {
	o, size := r.order, uint64(16)
	if r.is64 {
		size = 24
	}
	if at := uint64(n) * size; at+size <= uint64(len(symtab)) {
		symtab = symtab[at:]
	} else {
		return 0, 0, false
	}
	if r.is64 {
		value, section = o.Uint64(symtab[8:]), int(o.Uint16(symtab[6:]))
	} else {
		value, section = uint64(o.Uint32(symtab[4:])), int(o.Uint16(symtab[14:]))
	}
	return value, section, section != int(elf.SHN_UNDEF)
}

// store writes a value of the bytes' size.
func (r relocations) store(b []byte, kind byte, v, place uint64) {
	switch kind {
	case relative:
		v -= place
	case add:
		v = r.number(b) + v
	case subtract:
		v = r.number(b) - v
	case low6set:
		v = r.number(b)&^0x3f | v&0x3f
	case low6subtract:
		v = r.number(b)&^0x3f | (r.number(b)-v)&0x3f
	}
	for i := range b {
		b[r.index(i, b)] = byte(v >> (8 * i))
	}
}

// number reads a number of any size.
func (r relocations) number(b []byte) (v uint64) {
	for i := range b {
		v |= uint64(b[r.index(i, b)]) << (8 * i)
	}
	return v
}

// index returns the index of byte i of a number, from the least significant one on.
func (r relocations) index(i int, b []byte) int {
	if r.order == binary.BigEndian {
		return len(b) - 1 - i
	}
	return i
}
