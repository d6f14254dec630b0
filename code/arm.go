package code

import (
	"encoding/binary"
	"math/bits"
)

const armSP, armLR, armPC = 13, 14, 15

// DecodeARM decodes the instruction of 32-bit ARM at the start of b: Arm Architecture Reference
// Manual for A-profile (DDI 0406), A5. The length is 0 if b is too short. An instruction that is
// not known in detail destroys every register that it may write. A conditional instruction may be
// executed or not.
func DecodeARM(b []byte) Insn {
	if len(b) < 4 {
		return Insn{Next: Bad}
	}
	in := Insn{Len: 4, Dst: None, Src: None, Base: None}
	w := binary.LittleEndian.Uint32(b)
	if w>>28 == 15 {
		in.armAlways(w)
		return in
	}
	switch w >> 25 & 7 {
	case 0, 1:
		in.armData(w)
	case 2:
		in.armWord(w)
	case 3:
		switch {
		case w>>4&1 == 0:
			in.armWord(w)
		case w&0x0ff000f0 == 0x07f000f0: // UDF
			in.Next = Trap
		default: // media
			in.killARM(w>>12&15, w>>16&15)
		}
	case 4:
		in.multiple(w>>20, w>>16&15, w&0xffff)
	case 5: // B, BL
		in.Imm = int32(w<<8)>>6 + 4
		if in.Next = Jump; w>>24&1 != 0 {
			in.Next, in.Kills = Call, armCall
		}
	default:
		in.coprocessor(w)
	}
	if w>>28 != 14 {
		in.conditional()
	}
	return in
}

// conditional marks an instruction that may not be executed.
func (in *Insn) conditional() {
	switch in.Next {
	case Return, Indirect, Trap:
		in.Next, in.Op, in.Kills = Onward, Nothing, 0 // on the next instruction, it was not executed
		return
	case Jump:
		in.Next = Branch
		return
	case Call, CallFar:
		in.Next = Onward
	}
	switch in.Op {
	case Nothing, Compare:
	case Store:
		if in.Wrap != Keep {
			in.killARM(uint32(in.Base))
		}
	case StoreMany:
		in.killARM(uint32(in.Base))
	case LoadMany:
		in.Kills |= uint32(in.List)
		in.killARM(uint32(in.Base))
	default:
		in.killARM(uint32(in.Dst))
		if in.Op == Load {
			if in.Src != None {
				in.killARM(uint32(in.Src))
			}
			if in.Wrap != Keep {
				in.killARM(uint32(in.Base))
			}
		}
	}
	in.Op = Nothing
}

func (in *Insn) killARM(regs ...uint32) {
	for _, n := range regs {
		if n < armPC {
			in.Kills |= 1 << n
		}
	}
}

// armAlways decodes A5.7: instructions without a condition.
func (in *Insn) armAlways(w uint32) {
	switch {
	case w>>25 == 0x7d: // BLX, to Thumb
		in.Next, in.Kills = CallFar, armCall
	case w>>24 == 0xf4 && w&15 != 15: // element loads and stores that write their base
		in.killARM(w >> 16 & 15)
	case w>>25 == 0x7e, w>>25 == 0x7f: // coprocessor
		in.coprocessor(w)
	}
}

// armData decodes A5.2: data processing, and other instructions in its encoding space.
func (in *Insn) armData(w uint32) {
	rn, rd := w>>16&15, w>>12&15
	switch {
	case w&0x0ffffff0 == 0x012fff10: // BX
		in.jumpARM(w & 15)
		return
	case w&0x0ffffff0 == 0x012fff30: // BLX
		in.Next, in.Kills = CallFar, armCall
		return
	case w&0x0ff000f0 == 0x01200070: // BKPT
		in.Next = Trap
		return
	case w>>25&7 == 0 && w&0x90 == 0x90:
		in.armExtra(w)
		return
	case w&0x0fb00000 == 0x03200000: // hints, MSR
		return
	case w&0x0ff00000 == 0x03000000: // MOVW
		in.Op, in.Dst, in.Imm = Const, uint8(rd), int32(w>>4&0xf000|w&0xfff)
		return
	case w&0x0ff00000 == 0x03400000: // MOVT
		in.killARM(rd)
		return
	case w>>25&7 == 0 && w&0x01900000 == 0x01000000: // MRS, CLZ, halfword multiplies and others
		in.killARM(rn, rd)
		return
	}
	op := w >> 21 & 15
	if op >= 8 && op < 12 { // TST to CMN
		return
	}
	if rd == armPC {
		if op == 13 && w>>25&1 == 0 && w&0xff0 == 0 {
			in.jumpARM(w & 15)
		} else {
			in.Next = Indirect
		}
		return
	}
	if w>>25&1 != 0 {
		imm := int32(bits.RotateLeft32(w&0xff, -int(w>>8&15*2)))
		in.sumARM(op, rd, rn, imm)
		return
	}
	in.sumRegsARM(op, rd, rn, w&15, w&0xff0 == 0)
}

// sumARM decodes a data processing instruction with an immediate: 2 SUB, 4 ADD, 13 MOV.
func (in *Insn) sumARM(op, rd, rn uint32, imm int32) {
	switch {
	case op == 2 && rn != armPC:
		in.Op, in.Dst, in.Src, in.Imm = Add, uint8(rd), uint8(rn), -imm
	case op == 4 && rn != armPC:
		in.Op, in.Dst, in.Src, in.Imm = Add, uint8(rd), uint8(rn), imm
	case op == 13:
		in.Op, in.Dst, in.Imm = Const, uint8(rd), imm
	default:
		in.killARM(rd)
	}
}

func (in *Insn) sumRegsARM(op, rd, rn, rm uint32, plain bool) {
	switch {
	case !plain, rm == armPC:
		in.killARM(rd)
	case op == 13:
		in.Op, in.Dst, in.Src = Add, uint8(rd), uint8(rm)
	case op == 4 && rn != armPC:
		in.Op, in.Dst, in.Src, in.Base = AddReg, uint8(rd), uint8(rn), uint8(rm)
	case op == 2 && rn != armPC:
		in.Op, in.Dst, in.Src, in.Base = SubReg, uint8(rd), uint8(rn), uint8(rm)
	default:
		in.killARM(rd)
	}
}

// jumpARM decodes a jump to a register.
func (in *Insn) jumpARM(rm uint32) {
	if in.Next = Indirect; rm == armLR {
		in.Next = Return
	}
}

// armExtra decodes multiplies, exclusive loads and stores, and loads and stores of halfwords,
// signed bytes and two words.
func (in *Insn) armExtra(w uint32) {
	rn, rd := w>>16&15, w>>12&15
	switch {
	case w&0x0f0000f0 == 0x90: // MUL, MLA, UMULL and similar
		in.killARM(rn, rd)
	case w&0x0f0000f0 == 0x01000090: // SWP, LDREX, STREX
		in.killARM(rd, rd+1)
	case w&0xd0 == 0xd0 && w>>20&1 == 0 && w>>22&1 != 0: // LDRD, STRD with an immediate
		imm := int32(w>>4&0xf0 | w&15)
		if w>>23&1 == 0 {
			imm = -imm
		}
		in.wordsARM(w>>5&1 == 0, rd, rd+1, rn, imm, w>>24&1 != 0, w>>21&1 != 0)
	default:
		if w>>20&1 != 0 || w&0xf0 == 0xd0 {
			in.killARM(rd)
			if w&0xf0 == 0xd0 && w>>20&1 == 0 {
				in.killARM(rd + 1)
			}
		}
		if w>>24&1 == 0 || w>>21&1 != 0 {
			in.killARM(rn)
		}
	}
}

// wordsARM decodes a load or a store of one or two words. second is 16 or more if there is only
// one. The address is base+imm if pre is set, else base.
func (in *Insn) wordsARM(load bool, first, second, base uint32, imm int32, pre, wrap bool) {
	switch {
	case base == armPC:
		if load {
			in.killARM(first, second)
		}
		return
	case !pre:
		in.Wrap = Post
	case wrap:
		in.Wrap = Pre
	}
	other := None
	if second < 16 {
		other = uint8(second)
	}
	in.Base, in.Imm, in.Size = uint8(base), imm, 4
	if load {
		in.Op, in.Dst, in.Src = Load, uint8(first), other
	} else {
		in.Op, in.Src, in.Dst = Store, uint8(first), other
	}
}

// armWord decodes A5.3: loads and stores of a word or a byte.
func (in *Insn) armWord(w uint32) {
	rn, rt := w>>16&15, w>>12&15
	load, pre, wrap := w>>20&1 != 0, w>>24&1 != 0, w>>21&1 != 0
	if w>>25&1 != 0 || w>>22&1 != 0 { // a register is added, or a byte
		if load && rt == armPC {
			in.Next = Indirect
		} else if load {
			in.killARM(rt)
		}
		if !pre || wrap {
			in.killARM(rn)
		}
		return
	}
	imm := int32(w & 0xfff)
	if w>>23&1 == 0 {
		imm = -imm
	}
	if load && rt == armPC {
		in.Next = Indirect
		if rn == armSP && !pre { // ldr pc, [sp], #4
			in.returnsBy(imm)
		}
		return
	}
	in.wordsARM(load, rt, 16, rn, imm, pre, wrap)
}

// returnsBy sets a return through a word at the top of the stack.
func (in *Insn) returnsBy(imm int32) {
	in.Next, in.Op, in.Dst, in.Base, in.Imm, in.Wrap, in.Size = Return, Load, armPC, armSP, imm, Post, 4
}

// multiple decodes LDM and STM. In how, bit 0 is L, 1 W, 3 U, 4 P.
func (in *Insn) multiple(how, rn, list uint32) {
	load, wrap, up, before := how&1 != 0, how&2 != 0, how&8 != 0, how&16 != 0
	switch {
	case load && list>>armPC&1 != 0:
		switch in.Next = Indirect; {
		case rn == armSP && wrap && up && !before:
			in.Next, in.Op, in.Base, in.List = Return, LoadMany, armSP, uint16(list)
		case rn == armSP || list>>armSP&1 != 0:
			in.Next, in.Kills = Return, 1<<armLR // to an address that is not tracked
		}
	case load && wrap && up && !before: // LDMIA, POP
		in.Op, in.Base, in.List = LoadMany, uint8(rn), uint16(list)
	case !load && wrap && !up && before: // STMDB, PUSH
		in.Op, in.Base, in.List = StoreMany, uint8(rn), uint16(list)
	default:
		if load {
			in.Kills |= list & 0x7fff
		}
		if wrap {
			in.killARM(rn)
		}
	}
}

// coprocessor decodes A5.6 and A7: the vector and floating-point instructions that move the stack
// pointer or write a general register.
func (in *Insn) coprocessor(w uint32) {
	rn, rt := w>>16&15, w>>12&15
	switch {
	case w&0x0fbf0e00 == 0x0d2d0a00: // VPUSH
		in.Op, in.Dst, in.Src, in.Imm = Add, armSP, armSP, -int32(w&0xff)*4
	case w&0x0fbf0e00 == 0x0cbd0a00: // VPOP
		in.Op, in.Dst, in.Src, in.Imm = Add, armSP, armSP, int32(w&0xff)*4
	case w&0x0f000000 == 0x0f000000: // SVC
		in.killARM(0)
	case w&0x0ff00000 == 0x0c500000: // VMOV, MRRC: two general registers
		in.killARM(rt, rn)
	case w&0x0ff00000 == 0x0c400000: // MCRR
	case w&0x0e000000 == 0x0c000000 && w>>21&1 != 0:
		in.killARM(rn)
	case w&0x0f100010 == 0x0e100010: // MRC, VMOV, VMRS
		in.killARM(rt)
	}
}
