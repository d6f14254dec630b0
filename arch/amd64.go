package arch

import "encoding/binary"

// Registers of x86-64: System V ABI, AMD64 supplement, figure 3.36 "DWARF Register Number Mapping".
// RIP has the number of the return address column.
const (
	RAX Reg = iota
	RDX
	RCX
	RBX
	RSI
	RDI
	RBP
	RSP
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
	RIP

	XMM0   Reg = 17 // to 32
	ST0    Reg = 33 // to 40
	MM0    Reg = 41 // to 48
	RFLAGS Reg = 49
	ES     Reg = 50
	CS     Reg = 51
	SS     Reg = 52
	DS     Reg = 53
	FS     Reg = 54
	GS     Reg = 55
	FSBase Reg = 58
	GSBase Reg = 59
)

// AMD64 is x86-64.
var AMD64 = &Arch{
	Name: "amd64", PtrSize: 8, ByteOrder: binary.LittleEndian,
	PC: RIP, SP: RSP, FP: RBP, LR: NoReg, Flags: RFLAGS,
	RegNames: [MaxRegs]string{
		RAX: "rax", RDX: "rdx", RCX: "rcx", RBX: "rbx", RSI: "rsi", RDI: "rdi", RBP: "rbp", RSP: "rsp",
		R8: "r8", R9: "r9", R10: "r10", R11: "r11", R12: "r12", R13: "r13", R14: "r14", R15: "r15", RIP: "rip",
		17: "xmm0", 18: "xmm1", 19: "xmm2", 20: "xmm3", 21: "xmm4", 22: "xmm5", 23: "xmm6", 24: "xmm7",
		25: "xmm8", 26: "xmm9", 27: "xmm10", 28: "xmm11", 29: "xmm12", 30: "xmm13", 31: "xmm14", 32: "xmm15",
		33: "st0", 34: "st1", 35: "st2", 36: "st3", 37: "st4", 38: "st5", 39: "st6", 40: "st7",
		41: "mm0", 42: "mm1", 43: "mm2", 44: "mm3", 45: "mm4", 46: "mm5", 47: "mm6", 48: "mm7",
		RFLAGS: "eflags", ES: "es", CS: "cs", SS: "ss", DS: "ds", FS: "fs", GS: "gs",
		FSBase: "fs_base", GSBase: "gs_base",
	},
	General: []Reg{RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15,
		RIP, RFLAGS, CS, SS, DS, ES, FS, GS, FSBase, GSBase},
	User: []Reg{R15, R14, R13, R12, RBP, RBX, R11, R10, R9, R8, RAX, RCX, RDX, RSI, RDI, NoReg, // orig_rax
		RIP, CS, RFLAGS, RSP, SS, FSBase, GSBase, DS, ES, FS, GS},
	CalleeSaved:    []Reg{RBX, RBP, R12, R13, R14, R15},
	CalleeSavedSet: SetOf(RBX, RBP, R12, R13, R14, R15),
	Breakpoint:     []byte{0xcc}, BreakpointAdjust: 1,
	MinInstr: 1, MaxInstr: 15,
}
