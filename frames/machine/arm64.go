package machine

import (
	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// arm64 is AArch64. Instructions: Arm Architecture Reference Manual for A-profile, C6.2.
//
// Frame records: AAPCS64 6.4.6 leaves open where in the frame the record is, and compilers put it
// at the bottom. So the CFA, which is the caller's stack pointer, is unknown.
//
// Signal trampoline: a siginfo of 128 bytes, then the ucontext, whose mcontext is at 176 (the
// sigmask has 128 bytes, and the mcontext is aligned to 16). fault_address precedes the registers.
// The vDSO's table entry in older kernels leads along the kernel's frame record to the link register
// of the interrupted code.
var arm64 = Machine{
	FollowsCall: followsARM64Call,
	callTarget:  arm64CallTarget,
	StubSlot:    arm64StubSlot,
	EntryOrExit: arm64EntryOrExit,
	Records:     []FrameRecord{{Reg: 29, Saved: 0, RA: 8, Top: 16}},
	trampolines: []Trampoline{
		{code: []byte{0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}, starts: []int{0, 4}, Regs: arm64Context, At: 128 + 176 + 8}, // mov x8,#139; svc #0
	},
	ShadowPointer:   18,
	TrustTrampoline: true,
	SignalFrame:     arm64Sigframe,
	CodeAddress:     row.StripPAC,
}

var arm64Context = append(registersFrom(0, 31), arch.ARM64.SP, arch.ARM64.PC, arch.ARM64.Flags)

func followsARM64Call(b []byte, _ target.Addr, _ Permissions) Verdict {
	if len(b) < 4 {
		return Unknown
	}
	w := word32(b, len(b)-4)
	switch {
	case w&0xfc000000 == 0x94000000, // BL
		w&0xfffffc1f == 0xd63f0000, // BLR
		w&0xfefff800 == 0xd63f0800: // BLRAA, BLRAB and their Z forms
		return Yes
	}
	return No
}

// arm64CallTarget reads BL.
func arm64CallTarget(b []byte, pc target.Addr) target.Addr {
	if w := word32(b, len(b)-4); w&0xfc000000 == 0x94000000 {
		return pc - 4 + target.Addr(int64(int32(w<<6)>>6)*4)
	}
	return 0
}

// arm64StubSlot reads [bti c;] adrp x16, page; ldr x17, [x16, #offset]; add x16, x16, #offset;
// br x17.
func arm64StubSlot(b []byte, addr target.Addr) target.Addr {
	if word32(b, 0) == 0xd503245f { // bti c
		addr, b = addr+4, b[4:]
	}
	adrp, ldr := word32(b, 0), word32(b, 4)
	if adrp&0x9f00001f != 0x90000010 || ldr&0xffc003ff != 0xf9400211 {
		return 0
	}
	pages := int64(int32(adrp<<8)>>13)<<2 | int64(adrp>>29&3)
	return addr&^0xfff + target.Addr(pages<<12) + target.Addr(ldr>>10&0xfff*8)
}

func arm64EntryOrExit(_, at []byte) (pushedFP, ok bool) {
	switch op := word32(at, 0); {
	case op == 0xd65f03c0, op == 0xd65f0bff, op == 0xd65f0fff, // ret, retaa, retab
		op&0xffc07fff == 0xa9807bfd,        // stp x29, x30, [sp, #-n]!
		op == 0xd503233f, op == 0xd503237f, // paciasp, pacibsp
		op == 0xd503245f, op == 0xd50324df: // bti c, bti jc
		return false, true
	}
	return false, false
}

// Sizes in struct rt_sigframe, from the kernel's signal.c and asm/sigcontext.h.
const (
	arm64FrameSize = 128 + 176 + 288 + 4096 // siginfo, ucontext up to its mcontext, the registers, and the state of extensions
	arm64Extra     = 16 << 10               // what SVE may need beyond that
)

// arm64Sigframe finds the signal frame where SP is unknown, because the handler's caller was
// found with the frame pointer. The kernel sets X29 for the handler to a frame record at the top of
// the saved state, which has the interrupted X29 and X30. The signal frame is below it, and has
// saved the same two values.
func arm64Sigframe(t *Trampoline, record uint64, stack row.Words) (sp uint64, found bool) {
	if record%16 != 0 || record < arm64FrameSize+arm64Extra {
		return 0, false
	}
	word := func(at uint64) (uint64, bool) {
		v, err := stack.Word(target.Addr(at), 8)
		return v, err == nil
	}
	fp, ok1 := word(record)
	lr, ok2 := word(record + 8)
	if !ok1 || !ok2 || fp == 0 && lr == 0 {
		return 0, false
	}
	for sp = record - arm64FrameSize; sp >= record-arm64FrameSize-arm64Extra; sp -= 16 {
		regs := sp + uint64(t.At)
		savedFP, ok1 := word(regs + 8*uint64(arch.ARM64.FP))
		savedLR, ok2 := word(regs + 8*uint64(arch.ARM64.LR))
		switch {
		case !ok1 || !ok2:
			return 0, false
		case savedFP == fp && savedLR == lr:
			return sp, true
		}
	}
	return 0, false
}
