package code

// arithmetic decodes ADD, SUB, XOR and CMP of whole registers, which can be tracked.
func (d *x86) arithmetic(op byte, wide bool) {
	d.modrm()
	dst, src := d.rm, d.reg
	if op&2 != 0 {
		dst, src = src, dst
	}
	compare := op >= 0x38
	switch {
	case d.mod == 3 && op&0xf0 == 0x30 && !compare && dst == src && !d.opsize:
		d.constant(dst, 0, true)
	case d.mod == 3 && wide && op&0xfd == 0x01:
		d.Op, d.Dst, d.Src, d.Base = AddReg, dst, dst, src
	case d.mod == 3 && wide && op&0xfd == 0x29:
		d.Op, d.Dst, d.Src, d.Base = SubReg, dst, dst, src
	case d.mod == 3 && wide && compare:
		d.Op, d.Dst, d.Src = Compare, dst, src
	case !compare && (d.mod == 3 || op&2 != 0):
		d.kill(dst)
	}
}

// group1 decodes arithmetic with an immediate.
func (d *x86) group1(op byte, wide bool) {
	d.modrm()
	var imm int32
	if op == 0x81 && !d.opsize {
		imm = d.imm32()
	} else if op == 0x81 {
		d.n += 2
	} else {
		imm = int32(int8(d.byte()))
	}
	if d.mod != 3 {
		return
	}
	switch k := d.reg & 7; {
	case k == 7: // CMP
	case wide && op != 0x80 && (k == 0 || k == 5 && imm != -1<<31):
		if k == 5 {
			imm = -imm
		}
		d.Op, d.Dst, d.Src, d.Imm = Add, d.rm, d.rm, imm
	default:
		d.killRM(op == 0x80)
	}
}

func (d *x86) mov(op byte, wide bool) {
	d.modrm()
	load, bytes := op&2 != 0, op&1 == 0
	wide = wide && !bytes
	switch {
	case d.mod == 3:
		dst, src := d.rm, d.reg
		if load {
			dst, src = src, dst
		}
		if wide {
			d.Op, d.Dst, d.Src = Add, dst, src
		} else {
			d.killByte(dst, bytes)
		}
	case load && wide && d.base < 32:
		d.Op, d.Dst, d.Base, d.Imm, d.Size = Load, d.reg, d.base, d.disp, d.word
	case load:
		d.killByte(d.reg, bytes)
	case d.base < 32:
		d.Op, d.Base, d.Imm, d.Size = Store, d.base, d.disp, d.word
		if wide {
			d.Src = d.reg
		}
	}
}

func (d *x86) movImm(op byte, wide bool) {
	d.modrm()
	if d.reg&7 == 7 && d.mod == 3 && op == 0xc7 { // XBEGIN
		d.Next = Branch
		d.rel(4)
		d.kill(rax)
		return
	}
	var imm int32
	switch {
	case op == 0xc6:
		d.n++
	case d.opsize:
		d.n += 2
	default:
		imm = d.imm32()
	}
	switch {
	case d.mod == 3 && op == 0xc7 && !d.opsize:
		d.constant(d.rm, int64(imm), wide || imm >= 0)
	case d.mod == 3:
		d.killRM(op == 0xc6)
	case d.base < 32:
		d.Op, d.Base, d.Imm, d.Size = Store, d.base, d.disp, d.word
	}
}

// group3 decodes TEST, NOT, NEG, MUL and DIV.
func (d *x86) group3(op byte) {
	d.modrm()
	switch k := d.reg & 7; {
	case k < 2:
		if d.n++; op == 0xf7 {
			d.n += d.immSize() - 1
		}
	case k < 4:
		d.killRM(op == 0xf6)
	default:
		d.Kills |= 1<<rax | 1<<rdx
	}
}

// group5 decodes INC, DEC, and calls, jumps and pushes through memory.
func (d *x86) group5(op byte) {
	d.modrm()
	k := d.reg & 7
	switch {
	case k < 2:
		d.killRM(op == 0xfe)
	case op == 0xfe, k == 7:
		d.Next = Bad
	case k < 4:
		d.Next, d.Kills = CallFar, d.call
	case k < 6:
		d.Next = Indirect
		if d.mod != 3 && d.base == RIP {
			d.Base, d.Imm = RIP, d.disp
		}
	default:
		if d.Op = Push; d.mod == 3 {
			d.Src = d.rm
		} else if d.base < 32 {
			d.Base, d.Imm = d.base, d.disp
		}
	}
}
