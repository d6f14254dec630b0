package code

import (
	"encoding/binary"
	"math/bits"
)

// DecodeThumb decodes the Thumb instruction at the start of b: Arm Architecture Reference Manual
// for A-profile (DDI 0406), A6. The length is 0 if b is too short. For an IT instruction, Size is
// the number of following instructions that depend on a condition: call Insn.Conditional for each
// of them.
func DecodeThumb(b []byte) Insn {
	if len(b) < 2 {
		return Insn{Next: Bad}
	}
	in := Insn{Len: 2, Dst: None, Src: None, Base: None}
	w := uint32(binary.LittleEndian.Uint16(b))
	if w>>11 < 0x1d {
		in.thumb16(w)
		return in
	}
	if len(b) < 4 {
		return Insn{Next: Bad}
	}
	in.Len = 4
	in.thumb32(w, uint32(binary.LittleEndian.Uint16(b[2:])))
	return in
}

// IsIT reports whether in is Thumb's IT, and the number of instructions that depend on it.
func (in *Insn) IsIT() (int, bool) { return int(in.Size), in.Op == Nothing && in.Size != 0 }

// Conditional marks in as an instruction that may not be executed.
func (in *Insn) Conditional() { in.conditional() }

func (in *Insn) thumb16(w uint32) {
	low, mid, high := w&7, w>>3&7, w>>8&7
	switch w >> 11 {
	case 0, 1, 2: // shifts; LSL #0 is MOV
		if w>>6 == 0 {
			in.sumRegsARM(13, low, 0, mid, true)
		} else {
			in.killARM(low)
		}
	case 3: // ADD, SUB
		switch {
		case w>>10&1 == 0:
			in.sumRegsARM(4-w>>9&1*2, low, mid, w>>6&7, true)
		case w>>9&1 == 0:
			in.sumARM(4, low, mid, int32(w>>6&7))
		default:
			in.sumARM(2, low, mid, int32(w>>6&7))
		}
	case 4: // MOV
		in.Op, in.Dst, in.Imm = Const, uint8(high), int32(w&0xff)
	case 5: // CMP
	case 6:
		in.sumARM(4, high, high, int32(w&0xff))
	case 7:
		in.sumARM(2, high, high, int32(w&0xff))
	case 8:
		in.thumbData(w)
	case 9: // LDR of a literal
		in.killARM(high)
	case 10, 11: // with a register
		if w>>9&7 >= 3 {
			in.killARM(low)
		}
	case 12:
		in.wordsARM(false, low, 16, mid, int32(w>>6&31*4), true, false)
	case 13:
		in.wordsARM(true, low, 16, mid, int32(w>>6&31*4), true, false)
	case 15, 17: // LDRB, LDRH
		in.killARM(low)
	case 18:
		in.wordsARM(false, high, 16, armSP, int32(w&0xff*4), true, false)
	case 19:
		in.wordsARM(true, high, 16, armSP, int32(w&0xff*4), true, false)
	case 20: // ADR
		in.killARM(high)
	case 21:
		in.sumARM(4, high, armSP, int32(w&0xff*4))
	case 22, 23:
		in.thumbMisc(w)
	case 24: // STMIA
		in.killARM(high)
	case 25: // LDMIA
		in.Kills |= w & 0xff
		in.killARM(high)
	case 26, 27:
		switch w >> 8 & 15 {
		case 14: // UDF
			in.Next = Trap
		case 15: // SVC
			in.killARM(0)
		default:
			in.Next, in.Imm = Branch, int32(w<<24)>>23+2
		}
	case 28: // B
		in.Next, in.Imm = Jump, int32(w<<21)>>20+2
	}
}

// thumbData decodes A6.2.2 and A6.2.3: data processing, also of high registers.
func (in *Insn) thumbData(w uint32) {
	rd, rm := w&7|w>>4&8, w>>3&15
	switch op := w >> 6 & 15; {
	case w>>10 == 0x10:
		if op != 8 && op != 10 && op != 11 { // TST, CMP, CMN
			in.killARM(w & 7)
		}
	case w>>8 == 0x44 && rd == armPC:
		in.Next = Indirect
	case w>>8 == 0x44: // ADD
		in.sumRegsARM(4, rd, rd, rm, true)
	case w>>8 == 0x46 && rd == armPC:
		in.jumpARM(rm)
	case w>>8 == 0x46: // MOV
		in.sumRegsARM(13, rd, 0, rm, true)
	case w>>7 == 0x8e: // BX
		in.jumpARM(rm)
	case w>>7 == 0x8f: // BLX
		in.Next, in.Kills = CallFar, armCall
	}
}

// thumbMisc decodes A6.2.5.
func (in *Insn) thumbMisc(w uint32) {
	switch op := w >> 8 & 15; op {
	case 0:
		imm := int32(w & 0x7f * 4)
		if w>>7&1 != 0 {
			imm = -imm
		}
		in.Op, in.Dst, in.Src, in.Imm = Add, armSP, armSP, imm
	case 1, 3, 9, 11: // CBZ, CBNZ
		in.Next, in.Imm = Branch, int32(w>>2&0x3e|w>>3&0x40)+2
	case 2, 10: // SXTH, REV and similar
		in.killARM(w & 7)
	case 4, 5: // PUSH
		in.multiple(0x12, armSP, w&0xff|w&0x100<<6)
	case 12, 13: // POP
		in.multiple(0x0b, armSP, w&0xff|w&0x100<<7)
	case 14: // BKPT
		in.Next = Trap
	case 15: // IT, hints
		if w&15 != 0 {
			in.Size = uint8(4 - bits.TrailingZeros32(w&15))
		}
	}
}

func (in *Insn) thumb32(w, v uint32) {
	switch {
	case w>>9 == 0x74: // multiple, two words, exclusive, table branches
		in.thumbMultiple(w, v)
	case w>>9 == 0x75: // data processing of registers
		in.thumbRegisters(w, v)
	case w>>10 == 0x3b, w>>10 == 0x3f: // coprocessor
		in.coprocessor(w<<16 | v)
	case w>>11 == 0x1e && v>>15 == 0:
		in.thumbImmediate(w, v)
	case w>>11 == 0x1e:
		in.thumbBranch(w, v)
	case w>>9 == 0x7c:
		in.thumbWord(w, v)
	case w>>7 == 0x1f7: // long multiplies, divisions
		in.killARM(v>>8&15, v>>12)
	default: // data processing, multiplies
		in.killARM(v >> 8 & 15)
	}
}

func (in *Insn) thumbMultiple(w, v uint32) {
	rn := w & 15
	load, wrap := w>>4&1 != 0, w>>5&1 != 0
	switch {
	case w>>6&1 == 0: // bits 8 and 7 are P and U
		in.multiple(w>>4&1|w>>4&2|w>>4&0x18, rn, v)
	case w&0xfff0 == 0xe8d0 && v&0xffe0 == 0xf000: // TBB, TBH
		in.Next = Indirect
	case w>>8&1 != 0 || wrap: // LDRD, STRD
		imm := int32(v & 0xff * 4)
		if w>>7&1 == 0 {
			imm = -imm
		}
		in.wordsARM(load, v>>12, v>>8&15, rn, imm, w>>8&1 != 0, wrap)
	case load: // exclusive
		in.killARM(v>>12, v>>8&15)
	default:
		in.killARM(v&15, v>>8&15)
	}
}

// thumbRegisters decodes A6.3.11. The operation numbers differ from ARM's.
func (in *Insn) thumbRegisters(w, v uint32) {
	rn, rd, rm := w&15, v>>8&15, v&15
	plain := v&0x70f0 == 0
	switch op := w >> 5 & 15; {
	case rd == armPC: // TST, TEQ, CMN, CMP
	case op == 2 && rn == armPC:
		in.sumRegsARM(13, rd, 0, rm, plain)
	case op == 8:
		in.sumRegsARM(4, rd, rn, rm, plain)
	case op == 13:
		in.sumRegsARM(2, rd, rn, rm, plain)
	default:
		in.killARM(rd)
	}
}

// thumbImmediate decodes A6.3.1 and A6.3.3.
func (in *Insn) thumbImmediate(w, v uint32) {
	rn, rd := w&15, v>>8&15
	imm12 := w<<1&0x800 | v>>4&0x700 | v&0xff
	if w>>9&1 != 0 {
		switch w >> 4 & 31 {
		case 0:
			in.sumARM(4, rd, rn, int32(imm12))
		case 10:
			in.sumARM(2, rd, rn, int32(imm12))
		case 4: // MOVW
			in.Op, in.Dst, in.Imm = Const, uint8(rd), int32(rn<<12|imm12)
		default:
			in.killARM(rd)
		}
		return
	}
	imm := int32(expandThumb(imm12))
	switch op := w >> 5 & 15; {
	case rd == armPC:
	case op == 2 && rn == armPC:
		in.sumARM(13, rd, 0, imm)
	case op == 8:
		in.sumARM(4, rd, rn, imm)
	case op == 13:
		in.sumARM(2, rd, rn, imm)
	default:
		in.killARM(rd)
	}
}

// expandThumb is ThumbExpandImm, A6.3.2.
func expandThumb(imm12 uint32) uint32 {
	v := imm12 & 0xff
	switch {
	case imm12>>10 != 0:
		return bits.RotateLeft32(0x80|imm12&0x7f, -int(imm12>>7))
	case imm12>>8 == 1:
		return v | v<<16
	case imm12>>8 == 2:
		return v<<8 | v<<24
	case imm12>>8 == 3:
		return v | v<<8 | v<<16 | v<<24
	}
	return v
}

// thumbBranch decodes A6.3.4.
func (in *Insn) thumbBranch(w, v uint32) {
	sign := int32(w<<21) >> 31
	j1, j2 := v>>13&1, v>>11&1
	i1, i2 := ^(j1^w>>10)&1, ^(j2^w>>10)&1
	far := sign<<24 | int32(i1<<23|i2<<22|w&0x3ff<<12|v&0x7ff<<1)
	switch v >> 12 & 5 {
	case 0:
		switch {
		case w>>7&7 != 7: // B with a condition
			in.Next = Branch
			in.Imm = sign<<20 | int32(j2<<19|j1<<18|w&0x3f<<12|v&0x7ff<<1)
		case w == 0xf7f0 && v>>12 == 10: // UDF
			in.Next = Trap
		case w>>4 == 0xf3e || w>>4 == 0xf3f: // MRS
			in.killARM(v >> 8 & 15)
		}
	case 1:
		in.Next, in.Imm = Jump, far
	case 5: // BL
		in.Next, in.Kills, in.Imm = Call, armCall, far
	default: // BLX, to ARM
		in.Next, in.Kills = CallFar, armCall
	}
}

// thumbWord decodes A6.3.7 to A6.3.10: loads and stores of one item.
func (in *Insn) thumbWord(w, v uint32) {
	rn, rt := w&15, v>>12
	load, word := w>>4&1 != 0, w>>5&3 == 2
	long := w>>7&1 != 0 // an immediate of 12 bits, without writing the base
	wraps := !long && v>>11&1 != 0 && v>>8&1 != 0
	imm, pre, plain := int32(v&0xfff), true, long
	if !long && v>>11&1 != 0 {
		plain = true
		if imm = int32(v & 0xff); v>>9&1 == 0 {
			imm = -imm
		}
		pre = v>>10&1 != 0
	}
	switch {
	case load && word && rt == armPC:
		if in.Next = Indirect; rn == armSP && wraps && !pre { // pop {pc}
			in.returnsBy(imm)
		}
	case word && plain && rn != armPC:
		in.wordsARM(load, rt, 16, rn, imm, pre, wraps)
	default:
		if load {
			in.killARM(rt)
		}
		if wraps {
			in.killARM(rn)
		}
	}
}
