package macho

import (
	"fmt"

	"dbg/arch"
)

// machines lists the named Mach-O processors, with the names that lipo and arch use. Subtype
// -1 matches any other subtype.
var machines = []struct {
	cpu     uint32
	subtype int64
	name    string
	arch    *arch.Arch
}{
	{cpuX8664, 8, "x86_64h", arch.AMD64},
	{cpuX8664, -1, "x86_64", arch.AMD64},
	{cpuI386, -1, "i386", arch.I386},
	{cpuARM64, 2, "arm64e", arch.ARM64},
	{cpuARM64, -1, "arm64", arch.ARM64},
	{cpuARM6432, -1, "arm64_32", nil},
	{cpuARM, 5, "armv4t", nil},
	{cpuARM, 6, "armv6", nil},
	{cpuARM, 7, "armv5", nil},
	{cpuARM, 9, "armv7", nil},
	{cpuARM, 11, "armv7s", nil},
	{cpuARM, 12, "armv7k", nil},
	{cpuARM, 14, "armv6m", nil},
	{cpuARM, 15, "armv7m", nil},
	{cpuARM, 16, "armv7em", nil},
	{cpuARM, -1, "arm", nil},
	{cpuPPC, -1, "ppc", nil},
	{cpuPPC64, -1, "ppc64", nil},
	{6, -1, "m68k", nil},
	{11, -1, "hppa", nil},
	{13, -1, "m88k", nil},
	{14, -1, "sparc", nil},
	{15, -1, "i860", nil},
}

// Machine returns the name of the file's processor, and the facts that package arch has about it, or
// nil.
func (f *File) Machine() (string, *arch.Arch) { return machine(f.CPU, f.Subtype) }

// TableArch returns the architecture of the unwind tables of a file for which Machine returns none: those of
// watchOS. It returns nil for others.
func (f *File) TableArch() *arch.Arch {
	switch name, _ := f.Machine(); name {
	case "arm64_32":
		return arch.ARM6432
	case "armv7k":
		return arch.ARM
	}
	return nil
}

func machine(cpu, subtype uint32) (string, *arch.Arch) {
	sub := int64(subtype & subtypeMask)
	for _, m := range machines {
		if m.cpu == cpu && (m.subtype == sub || m.subtype < 0) {
			return m.name, m.arch
		}
	}
	return fmt.Sprintf("cpu type 0x%x, subtype %d", cpu, sub), nil
}
