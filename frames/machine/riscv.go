package machine

import (
	"dbg/arch"
	"dbg/code"
	"dbg/target"
)

// riscv64 is 64-bit RISC-V. Instructions: The RISC-V Instruction Set Manual, volume I, 2.5 and 16.4.
//
// Frame records: the psABI has the frame pointer at the CFA. GCC and LLVM put it below the register
// arguments that a variadic function saves.
//
// Signal trampoline: a siginfo of 128 bytes, then the ucontext, whose mcontext is at 176. The
// vDSO's table entry has augmentation S, but no rules.
var riscv64 = Machine{
	FollowsCall: followsRISCVCall,
	callTarget:  riscvCallTarget,
	StubSlot:    riscvStubSlot,
	Records:     []FrameRecord{{Reg: 8, Saved: -16, RA: -8, Top: 0}},
	trampolines: []Trampoline{
		{code: []byte{0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00}, starts: []int{0, 4}, Regs: riscvContext, At: 128 + 176}, // li a7,139; ecall
	},
	ShadowPointer:   3,
	TrustTrampoline: true,
}

var riscvContext = append([]arch.Reg{arch.RISCV64.PC}, registersFrom(1, 31)...)

// followsRISCVCall recognizes JAL and JALR with rd = ra, and C.JALR.
func followsRISCVCall(b []byte, _ target.Addr, _ Permissions) Verdict {
	if len(b) < 4 {
		return Unknown
	}
	w := word32(b, len(b)-4)
	if w&0xfff == 0x0ef || w&0x7fff == 0x00e7 || w>>16&0xf07f == 0x9002 && w>>16&0xf80 != 0 {
		return Yes
	}
	return No
}

// riscvCallTarget reads JAL ra, and AUIPC ra; JALR ra, ra.
func riscvCallTarget(b []byte, pc target.Addr) target.Addr {
	n := len(b)
	w := word32(b, n-4)
	if w&0xfff == 0x0ef {
		return pc + target.Addr(int64(code.DecodeRISCV(b[n-4:]).Imm))
	}
	if hi := word32(b, n-8); w&0xfffff == 0x080e7 && hi&0xfff == 0x097 {
		return pc - 8 + target.Addr(int64(int32(hi&0xfffff000))+int64(int32(w)>>20))
	}
	return 0
}

// riscvStubSlot reads auipc t3, hi; ld t3, lo(t3); jalr t1, t3.
func riscvStubSlot(b []byte, addr target.Addr) target.Addr {
	hi, ld := word32(b, 0), word32(b, 4)
	if hi&0xfff != 0xe17 || ld&0xfffff != 0xe3e03 || word32(b, 8) != 0x000e0367 {
		return 0
	}
	return addr + target.Addr(int64(int32(hi&0xfffff000))+int64(int32(ld)>>20))
}
