package code

import "dbg/arch"

// Register numbers of x86-64.
const (
	rax, rcx, rdx, rbx = 0, 1, 2, 3
	rsp, rbp, rsi, rdi = 4, 5, 6, 7
)

// Decode decodes the instruction at the start of b. The architecture must be Supported. For arm
// it decodes ARM code; see DecodeThumb for Thumb.
func Decode(a *arch.Arch, b []byte) Insn {
	switch a {
	case arch.ARM64:
		return DecodeARM64(b)
	case arch.RISCV64:
		return DecodeRISCV(b)
	case arch.I386:
		return DecodeI386(b)
	case arch.ARM:
		return DecodeARM(b)
	}
	return DecodeX86(b)
}

// Supported reports whether Decode knows the instructions of an architecture.
func Supported(a *arch.Arch) bool { return ChangedByCall(a) != 0 }

// Registers that a called function may change, by the numbers of Insn.
const (
	amd64Call uint32 = 1<<rax | 1<<rcx | 1<<rdx | 1<<rsi | 1<<rdi | 0xf00
	i386Call  uint32 = 1<<rax | 1<<rcx | 1<<rdx
	arm64Call uint32 = 0x7ffff | 1<<30
	armCall   uint32 = 0xf | 1<<12 | 1<<14
	riscvCall uint32 = 1<<1 | 7<<5 | 0xff<<10 | 0xf<<28
)

// ChangedByCall returns the mask of the registers that a called function may change, by the numbers
// of Insn. It is 0 if the architecture is not Supported.
func ChangedByCall(a *arch.Arch) uint32 {
	switch a {
	case arch.AMD64:
		return amd64Call
	case arch.I386:
		return i386Call
	case arch.ARM64:
		return arm64Call
	case arch.ARM:
		return armCall
	case arch.RISCV64:
		return riscvCall
	}
	return 0
}
