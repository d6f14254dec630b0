package arch

import "encoding/binary"

// Architectures whose unwind tables can be printed, and which dbg can't debug: their entries here have
// names and numbers of registers, and nothing about their instructions. They are not in All.
//
// Numbers are those of GCC's and LLVM's .eh_frame, as the processors' ABI supplements assign them.
var (
	// MIPS32 is 32-bit MIPS: o32. MIPS64 is n64; n32 is N32.
	MIPS32 = mips("mips", 4, "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7")
	MIPS64 = mips("mips64", 8, "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3")
	N32    = mips("mipsn32", 4, "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3")

	PPC32 = powerPC("ppc", 4)
	PPC64 = powerPC("ppc64", 8)

	// S390X is 64-bit z/Architecture: "ELF Application Binary Interface, s390x Supplement", DWARF
	// register number mapping.
	S390X = tablesOnly(&Arch{Name: "s390x", PtrSize: 8, PC: 65, SP: 15, FP: 11, LR: 14, MinInstr: 2, MaxInstr: 6,
		RegNames: func() (n [MaxRegs]string) {
			numbered(n[:], 0, 16, "r")
			copy(n[16:], []string{"f0", "f2", "f4", "f6", "f1", "f3", "f5", "f7", "f8", "f10", "f12", "f14", "f9", "f11", "f13", "f15"})
			numbered(n[:], 32, 16, "c")
			numbered(n[:], 48, 16, "a")
			n[64], n[65] = "pswm", "pswa"
			return n
		}(),
		CalleeSaved: append(rangeOf(6, 8), rangeOf(24, 8)...)})

	// LoongArch64: "LoongArch ELF psABI", register convention.
	LoongArch64 = tablesOnly(&Arch{Name: "loong64", PtrSize: 8, PC: 90, SP: 3, FP: 22, LR: 1, MinInstr: 4, MaxInstr: 4,
		RegNames: func() (n [MaxRegs]string) {
			copy(n[:], []string{"zero", "ra", "tp", "sp", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
				"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "r21", "fp", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"})
			numbered(n[:], 32, 32, "f")
			numbered(n[:], 64, 8, "fcc")
			n[90] = "pc"
			return n
		}(),
		CalleeSaved: append(rangeOf(22, 10), rangeOf(56, 8)...)})

	SPARC32 = sparc("sparc", 4)
	SPARC64 = sparc("sparc64", 8)

	// M68K is the Motorola 68000 family: System V ABI supplement; GCC's numbers.
	M68K = tablesOnly(&Arch{Name: "m68k", PtrSize: 4, PC: 24, SP: 15, FP: 14, LR: NoReg, MinInstr: 2, MaxInstr: 22,
		RegNames: func() (n [MaxRegs]string) {
			numbered(n[:], 0, 8, "d")
			numbered(n[:], 8, 8, "a")
			n[14], n[15] = "fp", "sp"
			numbered(n[:], 16, 8, "fp")
			n[24] = "pc"
			return n
		}(),
		CalleeSaved: append(rangeOf(2, 6), append(rangeOf(10, 5), rangeOf(18, 6)...)...)})

	// X32 is x86-64 with addresses of 32 bits.
	X32 = variant(AMD64, "x32", 4, binary.LittleEndian)

	// ARM6432 is AArch64 with addresses of 32 bits: Apple's arm64_32 (watchOS).
	ARM6432 = variant(ARM64, "arm64_32", 4, binary.LittleEndian)

	RISCV32 = variant(RISCV64, "riscv32", 4, binary.LittleEndian)

	BigARM   = variant(ARM, "armeb", 4, binary.BigEndian)
	BigARM64 = variant(ARM64, "arm64be", 8, binary.BigEndian)
)

// WithOrder returns an architecture of tables with another byte order. The result for equal arguments is
// equal.
func WithOrder(a *Arch, order binary.ByteOrder) *Arch {
	if a == nil || a.ByteOrder == order {
		return a
	}
	return littleVariants[a]
}

// littleVariants has the little-endian variants of architectures whose tables are big-endian here.
var littleVariants = func() map[*Arch]*Arch {
	m := map[*Arch]*Arch{}
	for _, a := range []*Arch{MIPS32, MIPS64, N32, PPC32, PPC64} {
		m[a] = variant(a, a.Name+"le", a.PtrSize, binary.LittleEndian)
	}
	return m
}()

// tablesOnly completes an architecture: big-endian except LoongArch.
func tablesOnly(a *Arch) *Arch {
	a.ByteOrder, a.Flags = binary.BigEndian, NoReg
	if a.Name == "loong64" {
		a.ByteOrder = binary.LittleEndian
	}
	a.CalleeSavedSet = SetOf(a.CalleeSaved...)
	return a
}

// variant copies an architecture for tables.
func variant(a *Arch, name string, size int, order binary.ByteOrder) *Arch {
	c := *a
	c.Name, c.PtrSize, c.ByteOrder = name, size, order
	return &c
}

// mips makes an architecture of MIPS. t are the names of registers 8 to 15.
func mips(name string, size int, t ...string) *Arch {
	return tablesOnly(&Arch{Name: name, PtrSize: size, PC: 90, SP: 29, FP: 30, LR: 31, MinInstr: 2, MaxInstr: 4,
		RegNames: func() (n [MaxRegs]string) {
			copy(n[:], []string{"zero", "at", "v0", "v1", "a0", "a1", "a2", "a3"})
			copy(n[8:], t)
			copy(n[16:], []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra"})
			numbered(n[:], 32, 32, "f")
			n[64], n[65], n[90] = "hi", "lo", "pc"
			return n
		}(),
		CalleeSaved: append(rangeOf(16, 8), 28, 30)})
}

// powerPC makes an architecture of PowerPC: "64-Bit ELF V2 ABI Specification", DWARF register
// numbers. The vector registers that functions preserve, vr20 to vr31 (97 to 108), are in slots 80 to 91;
// the others (77 to 96) have none.
func powerPC(name string, size int) *Arch {
	return tablesOnly(&Arch{Name: name, PtrSize: size, PC: 92, SP: 1, FP: 31, LR: 65, MinInstr: 4, MaxInstr: 8,
		RegNames: func() (n [MaxRegs]string) {
			numbered(n[:], 0, 32, "r")
			numbered(n[:], 32, 32, "f")
			n[64], n[65], n[66], n[76], n[92] = "cr", "lr", "ctr", "xer", "pc"
			numbered(n[:], 68, 8, "cr")
			copy(n[80:], []string{"vr20", "vr21", "vr22", "vr23", "vr24", "vr25", "vr26", "vr27", "vr28", "vr29", "vr30", "vr31"})
			return n
		}(),
		CalleeSaved: append(rangeOf(14, 18), append(rangeOf(46, 18), rangeOf(80, 12)...)...),
		remapped:    true,
		fromDWARF: func(n uint64) (Reg, bool) {
			switch {
			case n < 77:
				return Reg(n), true
			case n >= 97 && n <= 108:
				return Reg(n - 97 + 80), true
			}
			return NoReg, false
		}})
}

// sparc makes an architecture of SPARC: "SPARC Compliance Definition", register names. A function that
// has got a register window has its caller's values of o0 to o7 in i0 to i7.
func sparc(name string, size int) *Arch {
	return tablesOnly(&Arch{Name: name, PtrSize: size, PC: 90, SP: 14, FP: 30, LR: 15, MinInstr: 4, MaxInstr: 4,
		RegNames: func() (n [MaxRegs]string) {
			numbered(n[:], 0, 8, "g")
			numbered(n[:], 8, 8, "o")
			numbered(n[:], 16, 8, "l")
			numbered(n[:], 24, 8, "i")
			n[14], n[30] = "sp", "fp"
			numbered(n[:], 32, 32, "f")
			n[90] = "pc"
			return n
		}(),
		CalleeSaved: rangeOf(16, 16)})
}

// HasWindows reports whether the architecture has register windows: SPARC.
func (a *Arch) HasWindows() bool { return a == SPARC32 || a == SPARC64 }
