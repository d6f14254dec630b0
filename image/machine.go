package image

import (
	"debug/elf"
	"fmt"

	"dbg/arch"
)

// machines lists the processors with a name here: e_machine, the name for messages, and the facts
// that package arch has about the processor, by class.
var machines = []struct {
	machine elf.Machine
	name    string
	arch32  *arch.Arch
	arch64  *arch.Arch
}{
	{elf.EM_X86_64, "x86-64", nil, arch.AMD64},
	{elf.EM_386, "i386", arch.I386, nil},
	{elf.EM_AARCH64, "AArch64", nil, arch.ARM64},
	{elf.EM_ARM, "ARM", arch.ARM, nil},
	{elf.EM_RISCV, "RISC-V", nil, arch.RISCV64},
	{elf.EM_PPC64, "64-bit PowerPC", nil, nil},
	{elf.EM_PPC, "PowerPC", nil, nil},
	{elf.EM_S390, "IBM S/390", nil, nil},
	{elf.EM_MIPS, "MIPS", nil, nil},
	{elf.EM_SPARCV9, "SPARC V9", nil, nil},
	{elf.EM_SPARC, "SPARC", nil, nil},
	{elf.EM_LOONGARCH, "LoongArch", nil, nil},
	{elf.EM_BPF, "Linux BPF", nil, nil},
	{elf.EM_68K, "Motorola 68000", nil, nil},
	{elf.EM_IA_64, "Itanium", nil, nil},
	{elf.EM_PARISC, "HP PA-RISC", nil, nil},
	{elf.EM_ALPHA, "Alpha", nil, nil},
	{elf.EM_SH, "SuperH", nil, nil},
	{elf.EM_AVR, "AVR", nil, nil},
}

// tables lists the processors of which package arch knows enough for unwind tables, by class.
var tables = []struct {
	machine elf.Machine
	arch32  *arch.Arch
	arch64  *arch.Arch
}{
	{elf.EM_X86_64, arch.X32, nil}, {elf.EM_ARM, arch.BigARM, nil}, {elf.EM_AARCH64, nil, arch.BigARM64},
	{elf.EM_RISCV, arch.RISCV32, nil}, {elf.EM_PPC, arch.PPC32, nil}, {elf.EM_PPC64, nil, arch.PPC64},
	{elf.EM_S390, nil, arch.S390X}, {elf.EM_MIPS, arch.MIPS32, arch.MIPS64}, {elf.EM_SPARC, arch.SPARC32, nil},
	{elf.EM_SPARCV9, nil, arch.SPARC64}, {elf.EM_LOONGARCH, nil, arch.LoongArch64}, {elf.EM_68K, arch.M68K, nil},
}

// mipsABI2 is the flag of N32 (MIPS ABI, e_flags EF_MIPS_ABI2).
const mipsABI2 = 0x20

// TableArch returns the facts about the file's processor that its unwind tables need: those of Arch, or,
// for a processor that dbg can't debug, names and numbers of its registers. It is nil if nothing is known.
func (f *File) TableArch() *arch.Arch {
	a := f.Arch()
	if a == nil && f.macho != nil {
		return f.macho.TableArch()
	}
	if a != nil || f.Format() != ELF {
		return a
	}
	for _, c := range tables {
		if c.machine != f.header.Machine {
			continue
		}
		a := c.arch32
		if f.header.Wide {
			a = c.arch64
		}
		if a == arch.MIPS32 && f.header.Flags&mipsABI2 != 0 {
			a = arch.N32
		}
		return arch.WithOrder(a, f.header.Order)
	}
	return nil
}

// machineFacts returns the name of a processor, and the facts that package arch has about it, or
// nil. A byte order other than arch's makes the processor unknown.
func machineFacts(m elf.Machine, is64, big bool) (string, *arch.Arch) {
	bits := " (32-bit)"
	if is64 {
		bits = ""
	}
	for _, c := range machines {
		if c.machine != m {
			continue
		}
		a := c.arch32
		if is64 {
			a = c.arch64
		}
		if big {
			return c.name + ", big-endian", nil
		}
		if a == nil && c.arch64 != nil {
			return c.name + bits, nil
		}
		return c.name, a
	}
	return fmt.Sprintf("machine %d", uint16(m)), nil
}
