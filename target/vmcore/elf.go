package vmcore

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"

	"dbg/target"
)

// symbolSize is the number of bytes of Elf64_Sym (System V ABI, chapter 4, "Symbol Table").
const symbolSize = 24

// elfSymbol is a symbol of the file that is made.
type elfSymbol struct {
	name string
	addr uint64
	size uint64
	code bool
}

// rawSymbol is a symbol in memory.
type rawSymbol struct {
	nameAt, addr, size uint64
	code               bool
}

func parseSymbol(b []byte) rawSymbol {
	le := binary.LittleEndian
	return rawSymbol{uint64(le.Uint32(b)), le.Uint64(b[8:]), le.Uint64(b[16:]), elf.ST_TYPE(b[4]) == elf.STT_FUNC}
}

func sortMappings(list []target.Mapping) {
	slices.SortFunc(list, func(a, b target.Mapping) int { return cmp.Compare(a.Lo, b.Lo) })
}

// section is a section of the file that is made.
type section struct {
	name       string
	typ        elf.SectionType
	flags      elf.SectionFlag
	addr       uint64
	data       []byte
	link, info uint32
	entrySize  uint64
}

// elf makes an ELF file of the parts: code, ORC, symbols, with the addresses that they have in memory.
func (p *plan) elf() []byte {
	symtab, strtab := p.symbolTable()
	const alloc = elf.SHF_ALLOC
	list := []section{{},
		{name: ".text", typ: elf.SHT_PROGBITS, flags: alloc | elf.SHF_EXECINSTR, addr: p.text, data: p.code},
		{name: ".symtab", typ: elf.SHT_SYMTAB, data: symtab, link: 3, info: 1, entrySize: symbolSize},
		{name: ".strtab", typ: elf.SHT_STRTAB, data: strtab},
		{name: ".rodata", typ: elf.SHT_PROGBITS, data: []byte(p.banner + "\x00")}}
	if len(p.ip) > 0 {
		list = append(list, section{name: ".orc_unwind_ip", typ: elf.SHT_PROGBITS, flags: alloc,
			addr: p.ipAddr, data: p.ip}, section{name: ".orc_unwind", typ: elf.SHT_PROGBITS, data: p.unwind})
		if len(p.header) > 0 {
			list = append(list, section{name: ".orc_header", typ: elf.SHT_PROGBITS, data: p.header})
		}
	}
	return writeELF(list)
}

func (p *plan) symbolTable() (symtab, strtab []byte) {
	le := binary.LittleEndian
	symtab, strtab = make([]byte, symbolSize, symbolSize*(len(p.symbols)+1)), []byte{0}
	for _, s := range p.symbols {
		kind := elf.STT_NOTYPE
		if s.code {
			kind = elf.STT_FUNC
		}
		symtab = le.AppendUint32(symtab, uint32(len(strtab)))
		symtab = append(symtab, elf.ST_INFO(elf.STB_GLOBAL, kind), 0, 1, 0)
		symtab = le.AppendUint64(le.AppendUint64(symtab, s.addr), s.size)
		strtab = append(append(strtab, s.name...), 0)
	}
	return symtab, strtab
}

// writeELF writes an executable of sections; the second one is its code.
func writeELF(list []section) []byte {
	const head, program, header = 64, 56, 64
	le := binary.LittleEndian
	names := []byte{0}
	list = append(list, section{name: ".shstrtab", typ: elf.SHT_STRTAB})
	nameAt := make([]uint32, len(list))
	for i, s := range list {
		nameAt[i] = uint32(len(names))
		names = append(append(names, s.name...), 0)
	}
	list[len(list)-1].data = names
	out := make([]byte, head+program)
	offsets := make([]uint64, len(list))
	for i, s := range list {
		for len(out)%16 != 0 {
			out = append(out, 0)
		}
		offsets[i] = uint64(len(out))
		out = append(out, s.data...)
	}
	for len(out)%16 != 0 {
		out = append(out, 0)
	}
	table := uint64(len(out))
	for i, s := range list {
		out = le.AppendUint32(le.AppendUint32(out, nameAt[i]), uint32(s.typ))
		for _, v := range []uint64{uint64(s.flags), s.addr, offsets[i], uint64(len(s.data))} {
			out = le.AppendUint64(out, v)
		}
		out = le.AppendUint32(le.AppendUint32(out, s.link), s.info)
		out = le.AppendUint64(le.AppendUint64(out, 1), s.entrySize)
	}
	copy(out, elf.ELFMAG+"\x02\x01\x01")
	le.PutUint16(out[16:], uint16(elf.ET_EXEC))
	le.PutUint16(out[18:], uint16(elf.EM_X86_64))
	le.PutUint32(out[20:], 1)
	le.PutUint64(out[32:], head)
	le.PutUint64(out[40:], table)
	n := uint16(len(list))
	for at, v := range map[int]uint16{52: head, 54: program, 56: 1, 58: header, 60: n, 62: n - 1} {
		le.PutUint16(out[at:], v)
	}
	code := list[1]
	le.PutUint32(out[head:], uint32(elf.PT_LOAD))
	le.PutUint32(out[head+4:], uint32(elf.PF_R|elf.PF_X))
	for i, v := range []uint64{offsets[1], code.addr, code.addr, uint64(len(code.data)), uint64(len(code.data)), 1} {
		le.PutUint64(out[head+8+8*i:], v)
	}
	return out
}
