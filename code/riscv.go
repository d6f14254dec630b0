package code

import (
	"encoding/binary"
)

// DecodeRISCV decodes the instruction of RV64GC at the start of b: The RISC-V Instruction Set
// Manual, volume I, chapters 24 (opcode map) and 16 (C). The length is 0 if b is too short. An
// instruction that is not known in detail destroys rd.
func DecodeRISCV(b []byte) Insn {
	in := Insn{Len: 4, Dst: None, Src: None, Base: None}
	switch {
	case len(b) < 2:
		return Insn{Next: Bad}
	case b[0]&3 != 3:
		in.Len = 2
		in.compressed(uint32(binary.LittleEndian.Uint16(b)))
	case len(b) < 4 || b[0]&0x1f == 0x1f: // longer ones
		return Insn{Next: Bad}
	default:
		in.riscv(binary.LittleEndian.Uint32(b))
	}
	if in.Next == Bad {
		return Insn{Next: Bad}
	}
	return in
}

// killR destroys a register; number 0 is the zero register.
func (in *Insn) killR(n uint32) {
	if n != 0 {
		in.Kills |= 1 << n
	}
}

// addR decodes rd = rs + imm.
func (in *Insn) addR(rd, rs uint32, imm int32) {
	switch {
	case rd == 0:
	case rs == 0:
		in.Op, in.Dst, in.Imm = Const, uint8(rd), imm
	default:
		in.Op, in.Dst, in.Src, in.Imm = Add, uint8(rd), uint8(rs), imm
	}
}

// loadR and storeR decode loads and stores of 8 bytes.
func (in *Insn) loadR(rd, base uint32, imm int32) {
	if rd != 0 {
		in.Op, in.Dst, in.Base, in.Imm, in.Size = Load, uint8(rd), uint8(base), imm, 8
	}
}

func (in *Insn) storeR(src, base uint32, imm int32) {
	in.Op, in.Base, in.Imm, in.Size = Store, uint8(base), imm, 8
	in.Src = uint8(src)
}

func (in *Insn) riscv(w uint32) {
	rd, f3, rs1, rs2 := w>>7&31, w>>12&7, w>>15&31, w>>20&31
	imm := int32(w) >> 20
	switch w & 0x7f {
	case 0x13: // OP-IMM
		if f3 == 0 { // ADDI
			in.addR(rd, rs1, imm)
		} else {
			in.killR(rd)
		}
	case 0x33: // OP
		switch w >> 25 {
		case 0, 0x20:
			if f3 == 0 && rd != 0 {
				in.Op, in.Dst, in.Src, in.Base = AddReg, uint8(rd), uint8(rs1), uint8(rs2)
				if w>>25 != 0 {
					in.Op = SubReg
				}
				return
			}
		}
		in.killR(rd)
	case 0x37: // LUI
		in.addR(rd, 0, int32(w&0xfffff000))
	case 0x03: // LOAD
		if f3 == 3 {
			in.loadR(rd, rs1, imm)
		} else {
			in.killR(rd)
		}
	case 0x23: // STORE
		if f3 == 3 {
			in.storeR(rs2, rs1, imm&^31|int32(rd))
		}
	case 0x63: // BRANCH
		in.Next = Branch
		in.Imm = int32(w)>>31<<12 | int32(w<<4&0x800|w>>20&0x7e0|w>>7&0x1e) - 4
	case 0x6f: // JAL
		in.jumpR(rd, Jump, Call)
		in.Imm = int32(w)>>31<<20 | int32(w&0xff000|w>>9&0x800|w>>20&0x7fe) - 4
	case 0x67: // JALR
		if rd == 0 && rs1 == 1 {
			in.Next = Return
			return
		}
		in.jumpR(rd, Indirect, CallFar)
	case 0x73: // SYSTEM
		switch {
		case w == 0x73: // ECALL
			in.Kills = 1 << 10
		case w == 0x100073: // EBREAK
			in.Next = Trap
		case f3 != 0:
			in.killR(rd)
		}
	case 0x07, 0x27, 0x0f, 0x43, 0x47, 0x4b, 0x4f: // loads and stores of floating point and vectors, fences, FMADD and similar
	case 0x53: // OP-FP
		if op := w >> 27; op == 0x14 || op == 0x18 || op == 0x1c { // FEQ and similar, FCVT to, FMV to and FCLASS
			in.killR(rd)
		}
	case 0x57: // OP-V
		if f3 == 7 || f3 == 2 && w>>26 == 0x10 { // VSETVL, VMV.X.S and similar
			in.killR(rd)
		}
	case 0x17, 0x1b, 0x3b, 0x2f, 0x0b, 0x2b: // AUIPC, OP-IMM-32, OP-32, AMO, custom
		in.killR(rd)
	default:
		in.Next = Bad
	}
}

// jumpR decodes a jump that writes the address after it to rd. Jumps with t0 call helpers that
// push registers (-msave-restore), whose effects are unknown.
func (in *Insn) jumpR(rd uint32, jump, call Next) {
	switch rd {
	case 0:
		in.Next = jump
	case 1:
		in.Next, in.Kills = call, riscvCall
	default:
		in.Next = Bad
	}
}

// compressed decodes chapter 16, tables 16.5 to 16.7.
func (in *Insn) compressed(w uint32) {
	rd, rs2 := w>>7&31, w>>2&31
	small, small2 := 8+(w>>7&7), 8+(w>>2&7)
	imm6 := int32(w<<19)>>31<<5 | int32(w>>2&31)
	disp := int32(w>>7&0x38 | w<<1&0xc0) // of C.LD and C.SD
	switch w&3<<3 | w>>13 {
	case 0: // C.ADDI4SPN
		if w == 0 {
			in.Next = Trap
			return
		}
		in.addR(small2, 2, int32(w>>7&0x30|w>>1&0x3c0|w>>4&4|w>>2&8))
	case 2, 4: // C.LW, Zcb
		in.killR(small2)
	case 3: // C.LD
		in.loadR(small2, small, disp)
	case 7: // C.SD
		in.storeR(small2, small, disp)
	case 1, 5, 6: // C.FLD, C.FSD, C.SW
	case 8: // C.ADDI
		in.addR(rd, rd, imm6)
	case 9: // C.ADDIW
		in.killR(rd)
	case 10: // C.LI
		in.addR(rd, 0, imm6)
	case 11: // C.ADDI16SP, C.LUI
		if rd == 2 {
			in.addR(2, 2, int32(w<<19)>>31<<9|int32(w>>2&0x10|w<<1&0x40|w<<4&0x180|w<<3&0x20))
		} else {
			in.addR(rd, 0, imm6<<12)
		}
	case 12: // MISC-ALU
		in.killR(small)
	case 13: // C.J
		in.Next = Jump
		in.Imm = int32(w<<19)>>31<<11 | int32(w>>7&0x10|w>>1&0x300|w<<2&0x400|w>>1&0x40|w<<1&0x80|w>>2&0xe|w<<3&0x20) - 2
	case 14, 15: // C.BEQZ, C.BNEZ
		in.Next = Branch
		in.Imm = int32(w<<19)>>31<<8 | int32(w>>7&0x18|w<<1&0xc0|w>>2&6|w<<3&0x20) - 2
	case 16, 18: // C.SLLI, C.LWSP
		in.killR(rd)
	case 19: // C.LDSP
		in.loadR(rd, 2, int32(w>>7&0x20|w>>2&0x18|w<<4&0x1c0))
	case 20:
		in.jumpCompressed(w, rd, rs2)
	case 17, 21, 22: // C.FLDSP, C.FSDSP, C.SWSP
	case 23: // C.SDSP
		in.storeR(rs2, 2, int32(w>>7&0x38|w>>1&0x1c0))
	}
}

// jumpCompressed decodes C.JR, C.MV, C.EBREAK, C.JALR and C.ADD.
func (in *Insn) jumpCompressed(w, rd, rs2 uint32) {
	switch add := w>>12&1 != 0; {
	case rs2 != 0 && !add:
		in.addR(rd, rs2, 0)
	case rs2 != 0:
		if rd != 0 {
			in.Op, in.Dst, in.Src, in.Base = AddReg, uint8(rd), uint8(rd), uint8(rs2)
		}
	case rd == 0 && add:
		in.Next = Trap
	case rd == 0:
		in.Next = Bad
	case add:
		in.Next, in.Kills = CallFar, riscvCall
	case rd == 1:
		in.Next = Return
	default:
		in.Next = Indirect
	}
}
