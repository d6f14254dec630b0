package elfcore

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"dbg/arch"
	"dbg/image/elfheader"
	"dbg/target/corefile"
)

// ErrNotCore is wrapped by Open's error for a file that is not a core.
var ErrNotCore = corefile.ErrNotCore

// archOf returns the architecture of a machine, or nil if it is not supported.
func archOf(h *elfheader.Header) *arch.Arch {
	if h.Order != binary.LittleEndian {
		return nil
	}
	switch {
	case h.Machine == elf.EM_X86_64: // x32 has the registers of x86-64, 8 bytes each; see ptrSize
		return arch.AMD64
	case h.Machine == elf.EM_AARCH64 && h.Wide:
		return arch.ARM64
	case h.Machine == elf.EM_RISCV && h.Wide:
		return arch.RISCV64
	case h.Machine == elf.EM_386 && !h.Wide:
		return arch.I386
	case h.Machine == elf.EM_ARM && !h.Wide:
		return arch.ARM
	}
	return nil
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
