package symtab

import (
	"strings"

	"dbg/image"
)

// copyRelocation is the type of the relocation that copies a library's variable into the program
// (System V ABI supplements: R_X86_64_COPY, R_386_COPY, R_ARM_COPY, R_AARCH64_COPY, R_RISCV_COPY).
var copyRelocation = map[string]uint32{"amd64": 5, "386": 5, "arm": 20, "arm64": 1024, "riscv64": 4}

// mostRelocations bounds how many relocations are read.
const mostRelocations = 1 << 20

// Copied returns the address of the program's copy of a library's variable, by its linkage name. A
// program that is not position independent, or that refers to a variable directly, has such copies.
// All files then use them: the library's own place for the variable is never used again.
func (x *Table) Copied(linkage string) (image.Addr, bool) {
	if x.copied == nil {
		x.copied = x.readCopied()
	}
	a, ok := x.copied[linkage]
	return a, ok
}

// readCopied finds all names of all copies: a relocation has only one of the names of a variable.
func (x *Table) readCopied() map[string]image.Addr {
	out := map[string]image.Addr{}
	a := x.file.Arch()
	if x.file.Format() != image.ELF || x.file.Kind() == image.Relocatable || a == nil || copyRelocation[a.Name] == 0 {
		return out
	}
	syms, _ := x.file.Section(".dynsym")
	names, _ := x.file.Section(".dynstr")
	order, wide := a.ByteOrder, x.file.Is64()
	places := map[uint64]bool{}
	for _, section := range []struct {
		name   string
		addend uint64 // 1: there is one
	}{{".rela.dyn", 1}, {".rel.dyn", 0}} {
		list, ok := x.file.Section(section.name)
		if !ok {
			continue
		}
		size := 8 + 4*section.addend
		if wide {
			size *= 2
		}
		for b, n := list.Data, 0; uint64(len(b)) >= size && n < mostRelocations; b, n = b[size:], n+1 {
			at, kind := uint64(order.Uint32(b)), order.Uint32(b[4:])&0xff // ELF32_R_TYPE
			if wide {
				at, kind = order.Uint64(b), uint32(order.Uint64(b[8:])) // ELF64_R_TYPE
			}
			if kind == copyRelocation[a.Name] {
				places[at] = true
			}
		}
	}
	if len(places) == 0 {
		return out
	}
	size, value := 16, func(b []byte) uint64 { return uint64(order.Uint32(b[4:])) }
	if wide {
		size, value = 24, func(b []byte) uint64 { return order.Uint64(b[8:]) }
	}
	for b := syms.Data; len(b) >= size; b = b[size:] {
		off := uint64(order.Uint32(b))
		if at := value(b); places[at] && off < uint64(len(names.Data)) {
			name, _, found := strings.Cut(string(names.Data[off:min(off+maxSymbolName, uint64(len(names.Data)))]), "\x00")
			if found && name != "" {
				out[name] = image.Addr(at)
			}
		}
	}
	return out
}

// maxSymbolName bounds the name of a variable.
const maxSymbolName = 1 << 16
