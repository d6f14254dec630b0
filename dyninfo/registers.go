package dyninfo

import "dbg/arch"

// i386Registers maps libunwind's numbers of i386 (UNW_X86_EAX to UNW_X86_EIP) to DWARF's. On the other
// machines libunwind uses DWARF's numbers.
var i386Registers = [...]arch.Reg{0, 2, 1, 3, 6, 7, 5, 4, 8}

// registerOf converts a register number. It returns false for a register that package arch has no slot
// for. Where calls leave the return address in a register, the PC stands for that register.
func registerOf(a *arch.Arch, n int64) (arch.Reg, bool) {
	switch {
	case n < 0 || n >= 1<<15:
		return arch.NoReg, false
	case a == arch.I386:
		if n >= int64(len(i386Registers)) {
			return arch.NoReg, false
		}
		return i386Registers[n], true
	case a == arch.ARM && n > 16 && n < 256:
		return arch.NoReg, false // S0 and so on, which are parts of D registers
	}
	r, ok := a.FromDWARF(uint64(n))
	if ok && a.RegName(r) == "" {
		return arch.NoReg, false
	}
	if ok && r == a.PC {
		r = returnColumn(a)
	}
	return r, ok
}

// returnColumn is the column of the return address: the link register, or the PC where calls push it.
func returnColumn(a *arch.Arch) arch.Reg {
	if a.LR != arch.NoReg {
		return a.LR
	}
	return a.PC
}

// instructionSize returns the number of bytes of an instruction, by which the manual numbers the
// instructions of a region. It is 1 on x86, where the number is the offset in bytes. It is 0 where it is
// not defined: instructions have several sizes.
func instructionSize(a *arch.Arch, start uint64) uint64 {
	switch a {
	case arch.AMD64, arch.I386:
		return 1
	case arch.ARM64:
		return 4
	case arch.ARM:
		if start&1 == 0 {
			return 4
		}
	}
	return 0
}
