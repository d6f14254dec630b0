package image

import "bytes"

// maxRelocations limits the dynamic relocations that are read.
const maxRelocations = 1 << 20

// SymbolicPointers calls yield with each word of an ELF file that the dynamic linker sets with the
// address of a symbol, and the symbol's name, until it returns false. It reads .rela.dyn and .rel.dyn
// (System V ABI, "Relocation"). The name aliases the file.
func (f *File) SymbolicPointers(yield func(at Addr, name []byte) bool) {
	if f.Format() != ELF || f.Kind() == Relocatable {
		return
	}
	syms, _ := f.Section(".dynsym")
	names, _ := f.Section(".dynstr")
	order, wide := f.header.Order, f.Is64()
	symbolSize := uint64(f.header.SymbolSize())
	left := maxRelocations
	for _, name := range []string{".rela.dyn", ".rel.dyn"} {
		s, ok := f.Section(name)
		if !ok {
			continue
		}
		size := relocationSize(wide, name == ".rela.dyn")
		for b := s.Data; len(b) >= size && left > 0; b, left = b[size:], left-1 {
			at, index := uint64(order.Uint32(b)), uint64(order.Uint32(b[4:])>>8) // ELF32_R_SYM
			if wide {
				at, index = order.Uint64(b), order.Uint64(b[8:])>>32 // ELF64_R_SYM
			}
			if index == 0 || index >= uint64(len(syms.Data))/symbolSize {
				continue
			}
			off := order.Uint32(syms.Data[index*symbolSize:]) // st_name comes first in both classes
			if uint64(off) >= uint64(len(names.Data)) {
				continue
			}
			text := names.Data[off:]
			if end := bytes.IndexByte(text, 0); end > 0 && !yield(Addr(at), text[:end]) {
				return
			}
		}
	}
}

func relocationSize(wide, addend bool) int {
	switch {
	case wide && addend:
		return 24
	case wide:
		return 16
	case addend:
		return 12
	}
	return 8
}
