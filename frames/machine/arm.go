package machine

import (
	"dbg/arch"
	"dbg/code"
	"dbg/target"
)

// arm is 32-bit ARM, with Thumb. Instructions: Arm Architecture Reference Manual, ARMv7-A, A8.8.
//
// Frame records: GCC's ARM code has r11 at the return address, LLVM's at the saved r11. Thumb code
// has r7: LLVM's at the saved r7, GCC's at the bottom of the frame, which leads nowhere. A variadic
// function saves its arguments above the record.
//
// Signal trampolines: the ucontext's mcontext is at 20, and R0 after three words. New frames have a
// siginfo of 128 bytes before it.
var arm = Machine{
	FollowsCall: followsARMCall,
	callTarget:  armCallTarget,
	Records:     []FrameRecord{{Reg: 11, Saved: -4, RA: 0, Top: 4}, {Reg: 11, Saved: 0, RA: 4, Top: 8}, {Reg: 7, Saved: 0, RA: 4, Top: 8}},
	trampolines: []Trampoline{
		{code: []byte{0x77, 0x70, 0xa0, 0xe3, 0x77, 0x00, 0x90, 0xef}, starts: []int{0, 4}, Regs: armContext, At: 20 + 12},       // the kernel's: mov r7,#119; svc #0x900077
		{code: []byte{0xad, 0x70, 0xa0, 0xe3, 0xad, 0x00, 0x90, 0xef}, starts: []int{0, 4}, Regs: armContext, At: 128 + 20 + 12}, // mov r7,#173; svc #0x9000ad
		{code: []byte{0x77, 0x27, 0x00, 0xdf}, starts: []int{0, 2}, Regs: armContext, At: 20 + 12},                               // the same of Thumb, movs
		{code: []byte{0xad, 0x27, 0x00, 0xdf}, starts: []int{0, 2}, Regs: armContext, At: 128 + 20 + 12},
		{code: []byte{0x77, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, starts: []int{0, 4}, Regs: armContext, At: 20 + 12},       // C libraries': mov r7,#119; svc #0
		{code: []byte{0xad, 0x70, 0xa0, 0xe3, 0x00, 0x00, 0x00, 0xef}, starts: []int{0, 4}, Regs: armContext, At: 128 + 20 + 12}, // mov r7,#173; svc #0
		{code: []byte{0x4f, 0xf0, 0x77, 0x07, 0x00, 0xdf}, starts: []int{0, 4}, Regs: armContext, At: 20 + 12},                   // the same of Thumb, mov.w
		{code: []byte{0x4f, 0xf0, 0xad, 0x07, 0x00, 0xdf}, starts: []int{0, 4}, Regs: armContext, At: 128 + 20 + 12},
	},
	ShadowPointer: arch.NoReg,
	CodeAddress:   func(v uint64) uint64 { return v &^ 1 }, // bit 0 means Thumb code
}

var armContext = registersFrom(0, 17)

// followsARMCall recognizes BL and BLX of ARM and of Thumb (A8.8.25 and A8.8.26). pc has lost its
// Thumb bit, so it looks for both.
func followsARMCall(b []byte, pc target.Addr, _ Permissions) Verdict {
	if len(b) < 4 {
		return Unknown
	}
	w := word32(b, len(b)-4)
	if pc%4 == 0 && (w&0x0f000000 == 0x0b000000 || w&0xfe000000 == 0xfa000000 || w&0x0ffffff0 == 0x012fff30) {
		return Yes
	}
	first, second := w&0xffff, w>>16
	if first&0xf800 == 0xf000 && second&0xc000 == 0xc000 || second&0xff87 == 0x4780 {
		return Yes
	}
	return No
}

// armCallTarget reads BL and BLX of ARM and Thumb. The address is odd if it leads to Thumb code.
func armCallTarget(b []byte, pc target.Addr) target.Addr {
	n := len(b)
	if n < 4 {
		return 0
	}
	w := word32(b, n-4)
	imm := target.Addr(int64(int32(w<<8) >> 6))
	switch {
	case pc%4 == 0 && w>>24 == 0xeb: // BL
		return (pc + 4 + imm) & 0xffffffff
	case pc%4 == 0 && w>>25 == 0x7d: // BLX
		return (pc+4+imm+target.Addr(w>>23&2))&0xffffffff | 1
	}
	in := code.DecodeThumb(b[n-4:])
	switch {
	case in.Len != 4:
		return 0
	case in.Next == code.Call: // BL
		return (pc+target.Addr(int64(in.Imm)))&0xffffffff | 1
	case in.Next == code.CallFar && w>>16&0xd001 == 0xc000: // BLX: the same offset from the word that PC is in
		to := code.DecodeThumb([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w>>24) | 0x10})
		return (pc&^3 + target.Addr(int64(to.Imm))) & 0xfffffffc
	}
	return 0
}
