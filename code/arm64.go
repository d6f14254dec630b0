package code

import "encoding/binary"

// DecodeARM64 decodes the instruction at the start of b: Arm Architecture Reference Manual, C4.1.
// The length is 0 if b is too short. For every class of instructions, the general registers and
// the registers D8 to D15 that it writes are known. The values that it writes are known only for
// instructions that set up and take down frames.
func DecodeARM64(b []byte) Insn {
	in := Insn{Len: 4, Dst: None, Src: None, Base: None}
	if len(b) < 4 {
		return Insn{Next: Bad}
	}
	w := binary.LittleEndian.Uint32(b)
	switch w >> 25 & 15 {
	case 8, 9:
		in.immediate(w)
	case 10, 11:
		in.branch(w)
	case 4, 6, 12, 14:
		in.loadStore(w)
	case 5, 13:
		in.register(w)
	case 7, 15:
		in.vector(w)
	case 2: // SVE
		in.killX(w & 31)
		in.killV(w & 31)
		if w&0xffa0f01f == 0x0420501f { // ADDVL, ADDPL of SP
			in.Kills |= 1 << 31
		}
	case 0:
		if w>>16 == 0 { // UDF
			in.Next = Trap
		} else {
			in.killX(w & 31)
		}
	default:
		in.Next = Bad
	}
	return in
}

// killX destroys a register; number 31 is the zero register.
func (in *Insn) killX(n uint32) {
	if n != 31 {
		in.Kills |= 1 << n
	}
}

func (in *Insn) killV(n uint32) {
	if 8 <= n && n < 16 {
		in.KillD |= 1 << (n - 8)
	}
}

// immediate decodes C4.1.92, data processing with an immediate.
func (in *Insn) immediate(w uint32) {
	rd, rn := w&31, w>>5&31
	wide := w>>31 != 0
	switch w >> 23 & 7 {
	case 2: // ADD, SUB
		imm := int32(w >> 10 & 0xfff)
		if w>>22&1 != 0 {
			imm <<= 12
		}
		if w>>30&1 != 0 {
			imm = -imm
		}
		switch sets := w>>29&1 != 0; {
		case rd == 31 && sets: // CMP
		case wide:
			in.Op, in.Dst, in.Src, in.Imm = Add, uint8(rd), uint8(rn), imm
		default:
			in.Kills = 1 << rd
		}
	case 3: // ADDG, SUBG
		in.Kills = 1 << rd
	case 4: // AND and similar: they can set SP, except ANDS
		if w>>29&3 == 3 {
			in.killX(rd)
		} else {
			in.Kills = 1 << rd
		}
	case 5: // MOVN, MOVZ, MOVK
		in.move(w)
	default:
		in.killX(rd)
	}
}

func (in *Insn) move(w uint32) {
	rd, imm, shift := w&31, int64(w>>5&0xffff), w>>21&3*16
	if rd == 31 {
		return
	}
	switch w >> 29 & 3 {
	case 3:
		in.Op, in.Dst, in.Imm, in.Shift = ConstPart, uint8(rd), int32(imm), uint8(shift)
		return
	case 0:
		if imm = ^(imm << shift); w>>31 == 0 {
			imm &= 0xffffffff
		}
	default:
		imm <<= shift
	}
	if int64(int32(imm)) == imm {
		in.Op, in.Dst, in.Imm = Const, uint8(rd), int32(imm)
	} else {
		in.Kills = 1 << rd
	}
}

// signed returns an n-bit field of w at a bit, converted from words to bytes.
func signed(w uint32, at, n uint) int32 { return int32(w<<(32-n-at)) >> (32 - n) * 4 }

// branch decodes C4.1.93, branches, exceptions and system instructions. Immediates are made
// relative to the end of the instruction.
func (in *Insn) branch(w uint32) {
	switch {
	case w>>26&0x1f == 5: // B, BL
		in.Imm = signed(w, 0, 26) - 4
		if in.Next = Jump; w>>31 != 0 {
			in.Next, in.Kills = Call, arm64Call
		}
	case w>>24 == 0x54: // B.cond
		in.Next, in.Imm = Branch, signed(w, 5, 19)-4
		switch w & 15 {
		case 0:
			in.Cond = Equal
		case 1:
			in.Cond = NotEqual
		case 14, 15:
			in.Next = Jump
		}
	case w>>25&0x3f == 0x1a: // CBZ, CBNZ
		in.Next, in.Imm = Branch, signed(w, 5, 19)-4
	case w>>25&0x3f == 0x1b: // TBZ, TBNZ
		in.Next, in.Imm = Branch, signed(w, 5, 14)-4
	case w>>24 == 0xd4:
		switch {
		case w>>21&7 == 0: // SVC, HVC, SMC
			in.Kills = 0x3ffff
		case w>>21&7 <= 2: // BRK, HLT
			in.Next = Trap
		}
	case w>>25 == 0x6b: // BR, BLR, RET and their authenticating variants
		switch w >> 21 & 7 {
		case 0:
			in.Next = Indirect
		case 1:
			in.Next, in.Kills = CallFar, arm64Call
		default:
			in.Next = Return
		}
	case w>>20 == 0xd53, w>>20 == 0xd57: // MRS, MRRS
		in.killX(w & 31)
	case w>>19 == 0xd528>>3: // SYSL
		in.killX(w & 31)
	case w&0xfffff01f == 0xd503201f: // hints
		switch w >> 5 & 0x7f {
		case 24, 25, 26, 27, 28, 29, 30, 31: // PACIAZ, PACIASP and so on to AUTIBSP
			in.Op = Sign
		case 8, 10, 12, 14: // PACIA1716 and similar
			in.Kills = 1 << 17
		}
	}
}

// register decodes C4.1.95, data processing of registers.
func (in *Insn) register(w uint32) {
	rd, rn, rm := w&31, w>>5&31, w>>16&31
	wide, sets := w>>31 != 0, w>>29&1 != 0
	switch {
	case w>>28&1 != 0:
		switch {
		case w>>21&0xff == 0xd2, w>>21&0xff == 0xd0 && w>>10&0x3f != 0: // CCMP, RMIF, SETF
		case w&0xffff8000 == 0xdac10000 && rd == 30 && w>>10&0x3f < 16: // PACIA X30 and similar
			in.Op = Sign
		case w&0xffff8000 == 0xdac10000 && rd == 30: // XPACI
		default:
			in.killX(rd)
		}
	case w>>24&1 == 0: // AND, ORR and similar
		if w&0xffe0ffe0 == 0xaa0003e0 && rd != 31 { // MOV
			if rm == 31 {
				in.Op, in.Dst, in.Imm = Const, uint8(rd), 0
			} else {
				in.Op, in.Dst, in.Src = Add, uint8(rd), uint8(rm)
			}
			return
		}
		in.killX(rd)
	case w>>21&1 == 0: // ADD, SUB, shifted
		in.sum(w, rd != 31 || !sets, wide && w>>10&0x3f == 0 && rn != 31 && rm != 31)
		if rd == 31 {
			in.Kills = 0
			if !sets {
				in.Op = Nothing
			}
		}
	default: // extended: 31 is SP, except as a destination that sets flags
		in.sum(w, rd != 31 || !sets, wide && w>>13&3 == 3 && w>>10&7 == 0 && rm != 31)
	}
}

// sum decodes an addition or a subtraction. kept means that the result is written, and plain that
// the operands can be tracked.
func (in *Insn) sum(w uint32, kept, plain bool) {
	minus := w>>30&1 != 0
	in.Src, in.Base = uint8(w>>5&31), uint8(w>>16&31)
	switch {
	case kept && plain:
		if in.Dst, in.Op = uint8(w&31), AddReg; minus {
			in.Op = SubReg
		}
	case kept:
		in.Kills = 1 << (w & 31)
	case plain && minus:
		in.Op, in.Dst, in.Src = Compare, in.Src, in.Base
	}
}

// vector decodes C4.1.96, SIMD and floating point: the instructions write a vector register, a
// general register, or neither.
func (in *Insn) vector(w uint32) {
	rd := w & 31
	switch {
	case w&0x5f20fc00 == 0x1e200000: // floating point and integers
		if op := w >> 16 & 7; op == 2 || op == 3 || op == 7 {
			in.killV(rd)
		} else {
			in.killX(rd)
		}
	case w&0x5f200000 == 0x1e000000: // fixed point
		if op := w >> 16 & 7; op == 2 || op == 3 {
			in.killV(rd)
		} else {
			in.killX(rd)
		}
	case w&0xbfe0fc00 == 0x0e003c00, w&0xbfe0fc00 == 0x0e002c00: // UMOV, SMOV
		in.killX(rd)
	case w&0xff20fc00 == 0x1e202000, w&0xff200c00 == 0x1e200400: // FCMP, FCCMP
	default:
		in.killV(rd)
	}
}
