package arch

import "encoding/binary"

// I386 is 32-bit x86: System V ABI, Intel386 supplement, table 2.14.
var I386 = &Arch{
	Name: "386", PtrSize: 4, ByteOrder: binary.LittleEndian,
	PC: 8, SP: 4, FP: 5, LR: NoReg, Flags: 9,
	RegNames: [MaxRegs]string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", "eflags",
		11: "st0", 12: "st1", 13: "st2", 14: "st3", 15: "st4", 16: "st5", 17: "st6", 18: "st7",
		21: "xmm0", 22: "xmm1", 23: "xmm2", 24: "xmm3", 25: "xmm4", 26: "xmm5", 27: "xmm6", 28: "xmm7",
		29: "mm0", 30: "mm1", 31: "mm2", 32: "mm3", 33: "mm4", 34: "mm5", 35: "mm6", 36: "mm7",
		40: "es", 41: "cs", 42: "ss", 43: "ds", 44: "fs", 45: "gs"},
	General:        []Reg{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 41, 42, 43, 40, 44, 45},
	User:           []Reg{3, 1, 2, 6, 7, 5, 0, 43, 40, 44, 45, NoReg, 8, 41, 9, 4, 42}, // NoReg: orig_eax
	CalleeSaved:    []Reg{3, 5, 6, 7},
	CalleeSavedSet: SetOf(3, 5, 6, 7),
	Breakpoint:     []byte{0xcc}, BreakpointAdjust: 1,
	MinInstr: 1, MaxInstr: 15,
}

// ARM64 is AArch64: DWARF for the Arm 64-bit Architecture (aadwarf64), 4.1.
// 34 is RA_SIGN_STATE, 64..95 are V0..V31.
var ARM64 = &Arch{
	Name: "arm64", PtrSize: 8, ByteOrder: binary.LittleEndian,
	PC: 32, SP: 31, FP: 29, LR: 30, Flags: 40,
	RegNames: func() (n [MaxRegs]string) {
		numbered(n[:], 0, 31, "x")
		n[31], n[32], n[34], n[40] = "sp", "pc", "ra_sign_state", "cpsr"
		numbered(n[:], 64, 32, "v")
		return n
	}(),
	General:        rangeOf(0, 31, 31, 32, 40),
	User:           rangeOf(0, 31, 31, 32, 40),
	CalleeSaved:    append(rangeOf(19, 12), rangeOf(72, 8)...),
	CalleeSavedSet: SetOf(append(rangeOf(19, 12), rangeOf(72, 8)...)...),
	Breakpoint:     []byte{0x00, 0x00, 0x20, 0xd4}, // brk #0
	MinInstr:       4, MaxInstr: 4,
}

// ARM is 32-bit ARM: DWARF for the Arm Architecture (aadwarf32), table 1. Its D0..D31 (256..287)
// are in slots 64..95.
var ARM = &Arch{
	Name: "arm", PtrSize: 4, ByteOrder: binary.LittleEndian,
	PC: 15, SP: 13, FP: 11, LR: 14, Flags: 16,
	RegNames: func() (n [MaxRegs]string) {
		numbered(n[:], 0, 13, "r")
		n[13], n[14], n[15], n[16] = "sp", "lr", "pc", "cpsr"
		numbered(n[:], 64, 32, "d")
		return n
	}(),
	General:        rangeOf(0, 17),
	User:           rangeOf(0, 17, NoReg), // orig_r0
	CalleeSaved:    append(rangeOf(4, 8), rangeOf(72, 8)...),
	CalleeSavedSet: SetOf(append(rangeOf(4, 8), rangeOf(72, 8)...)...),
	Breakpoint:     []byte{0xf0, 0x01, 0xf0, 0xe7}, // udf #16, the kernel's choice
	MinInstr:       2, MaxInstr: 4,
	fromDWARF: func(n uint64) (Reg, bool) {
		if n >= 256 && n < 288 {
			return Reg(n - 256 + 64), true
		}
		return NoReg, false
	},
}

// RISCV64 is 64-bit RISC-V: RISC-V DWARF Specification, table 1. DWARF has no
// number for its PC; slot 64 (the alternate frame return column) holds it.
var RISCV64 = &Arch{
	Name: "riscv64", PtrSize: 8, ByteOrder: binary.LittleEndian,
	PC: 64, SP: 2, FP: 8, LR: 1, Flags: NoReg,
	RegNames: func() (n [MaxRegs]string) {
		copy(n[:], []string{"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1",
			"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
			"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"})
		numbered(n[:], 32, 32, "f")
		n[64] = "pc"
		return n
	}(),
	General:        rangeOf(0, 32, 64),
	User:           append([]Reg{64}, rangeOf(1, 31)...),
	CalleeSaved:    append([]Reg{8, 9}, append(rangeOf(18, 10), append([]Reg{40, 41}, rangeOf(50, 10)...)...)...),
	CalleeSavedSet: SetOf(append([]Reg{8, 9}, append(rangeOf(18, 10), append([]Reg{40, 41}, rangeOf(50, 10)...)...)...)...),
	Breakpoint:     []byte{0x73, 0x00, 0x10, 0x00}, // ebreak
	MinInstr:       2, MaxInstr: 4,
}

// numbered gives n slots, from first on, the names prefix0, prefix1, and so on.
func numbered(names []string, first, n int, prefix string) {
	for i := range n {
		d := string(rune('0' + i%10))
		if i >= 10 {
			d = string(rune('0'+i/10)) + d
		}
		names[first+i] = prefix + d
	}
}

// rangeOf returns n registers from first on, followed by the others.
func rangeOf(first Reg, n int, others ...Reg) []Reg {
	var out []Reg
	for i := range n {
		out = append(out, first+Reg(i))
	}
	return append(out, others...)
}
