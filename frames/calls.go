package frames

import (
	"encoding/binary"

	"dbg/arch"
	"dbg/code"
	"dbg/target"
)

// followsCall reports whether a call instruction ends at pc, where before is the
// code in front of it. It is unknown where there is too little code, or for architectures that
// nobody has written it for. x86 instructions can't be read backwards: a yes
// may be chance (about one in 30 positions of ordinary code is one), a no is certain.
func (u *Unwinder) followsCall(before []byte, pc target.Addr) verdict {
	if len(before) >= codeBefore && blank(before[len(before)-codeBefore:]) {
		return unknown
	}
	switch u.arch {
	case arch.AMD64, arch.I386:
		return x86Call(before, u.arch == arch.AMD64, uint64(pc), u.space)
	case arch.ARM64:
		if len(before) < 4 {
			return unknown
		}
		w := arch.ARM64.ByteOrder.Uint32(before[len(before)-4:])
		switch {
		case w&0xfc000000 == 0x94000000, // BL
			w&0xfffffc1f == 0xd63f0000, // BLR
			w&0xfefff800 == 0xd63f0800: // BLRAA, BLRAB and their Z forms
			return yes
		}
		return no
	case arch.RISCV64:
		return riscvCall(before)
	case arch.ARM:
		return armCall(before, pc)
	}
	return unknown
}

// blank reports whether code is nothing but zeros: its bytes were left out of a core or of a file. No code ends in eight zeros.
func blank(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// directCall is the address that the call that ends at pc has in its instruction, 0 if it has none: CALL rel32, BL,
// JAL, AUIPC with JALR.
func directCall(a *arch.Arch, b []byte, pc target.Addr) target.Addr {
	n := len(b)
	switch {
	case (a == arch.AMD64 || a == arch.I386) && n >= 5 && b[n-5] == 0xe8:
		to := pc + target.Addr(int64(int32(binary.LittleEndian.Uint32(b[n-4:]))))
		if a == arch.I386 {
			to &= 0xffffffff
		}
		return to
	case a == arch.ARM64 && n >= 4:
		if w := binary.LittleEndian.Uint32(b[n-4:]); w&0xfc000000 == 0x94000000 {
			return pc - 4 + target.Addr(int64(int32(w<<6)>>6)*4)
		}
	case a == arch.ARM:
		return armCallTarget(b, pc)
	case a == arch.RISCV64 && n >= 4:
		w := binary.LittleEndian.Uint32(b[n-4:])
		if w&0xfff == 0x0ef { // JAL ra
			return pc + target.Addr(int64(code.DecodeRISCV(b[n-4:]).Imm))
		}
		if n < 8 || w&0xfffff != 0x080e7 { // AUIPC ra; JALR ra, ra
			return 0
		}
		if hi := binary.LittleEndian.Uint32(b[n-8:]); hi&0xfff == 0x097 {
			return pc - 8 + target.Addr(int64(int32(hi&0xfffff000))+int64(int32(w)>>20))
		}
	}
	return 0
}

// riscvCall: JAL and JALR with rd = ra, and C.JALR; The RISC-V Instruction Set
// Manual, volume I, 2.5 and 16.4.
func riscvCall(b []byte) verdict {
	n := len(b)
	if n < 4 {
		return unknown
	}
	w := uint32(b[n-4]) | uint32(b[n-3])<<8 | uint32(b[n-2])<<16 | uint32(b[n-1])<<24
	if w&0xfff == 0x0ef || w&0x7fff == 0x00e7 || w>>16&0xf07f == 0x9002 && w>>16&0xf80 != 0 {
		return yes
	}
	return no
}

// armCall: BL and BLX of ARM and of Thumb (Arm ARM, A8.8.25 and A8.8.26). pc has
// no Thumb bit any more, so that both are looked for.
func armCall(b []byte, pc target.Addr) verdict {
	n := len(b)
	if n < 4 {
		return unknown
	}
	w := uint32(b[n-4]) | uint32(b[n-3])<<8 | uint32(b[n-2])<<16 | uint32(b[n-1])<<24
	if pc%4 == 0 && (w&0x0f000000 == 0x0b000000 || w&0xfe000000 == 0xfa000000 || w&0x0ffffff0 == 0x012fff30) {
		return yes
	}
	first, second := w&0xffff, w>>16
	if first&0xf800 == 0xf000 && second&0xc000 == 0xc000 || second&0xff87 == 0x4780 {
		return yes
	}
	return no
}

// x86Call looks for E8 rel32 with a target that is code, and for FF /2
// with each of its lengths: Intel SDM volume 2, CALL.
func x86Call(b []byte, long bool, pc uint64, space Space) verdict {
	n := len(b)
	if n >= 5 && b[n-5] == 0xe8 {
		rel := int32(uint32(b[n-4]) | uint32(b[n-3])<<8 | uint32(b[n-2])<<16 | uint32(b[n-1])<<24)
		to := pc + uint64(int64(rel))
		if !long {
			to &= 0xffffffff
		}
		if space.Executable(target.Addr(to)) {
			return yes
		}
	}
	for l := 2; l <= 7 && l <= n; l++ {
		if rest := b[n-l+1:]; b[n-l] == 0xff && rest[0]>>3&7 == 2 && code.ModRMLength(rest) == l-1 {
			return yes
		}
	}
	if n < 7 {
		return unknown
	}
	return no
}
