package code

// wide reports whether an operand has the size of an address, so that it can be tracked.
func (d *x86) wide() bool {
	if d.word == 4 {
		return !d.opsize
	}
	return d.rex&8 != 0
}

// only32 decodes the one-byte opcodes that mean something else in 32-bit code. It returns false
// for all other opcodes.
func (d *x86) only32(op byte) bool {
	switch {
	case op == 0x06, op == 0x0e, op == 0x16, op == 0x1e: // PUSH of a segment register
		d.Op = Push
	case op == 0x07, op == 0x17, op == 0x1f: // POP
		d.Op = Pop
	case op == 0x27, op == 0x2f, op == 0x37, op == 0x3f, op == 0xd6: // DAA, DAS, AAA, AAS, SALC
		d.kill(rax)
	case op&0xf8 == 0x40 && !d.opsize: // INC
		d.Op, d.Dst, d.Src, d.Imm = Add, op&7, op&7, 1
	case op&0xf8 == 0x48 && !d.opsize: // DEC
		d.Op, d.Dst, d.Src, d.Imm = Add, op&7, op&7, -1
	case op&0xf0 == 0x40:
		d.kill(op & 7)
	case op == 0x60, op == 0x61, op == 0x9a, op == 0xea: // PUSHA, POPA, far CALL and JMP
		d.Next = Bad
	case op == 0x62 && d.peek() < 0xc0: // BOUND
		d.modrm()
	case op == 0x63: // ARPL
		d.modrm()
		d.killRM(false)
	case op == 0x82:
		d.group1(op, false)
	case (op == 0xc4 || op == 0xc5) && d.peek() < 0xc0: // LES, LDS
		d.modrm()
		d.kill(d.reg)
	case op == 0xce: // INTO
	case op == 0xd4, op == 0xd5: // AAM, AAD
		d.n++
		d.kill(rax)
	default:
		return false
	}
	return true
}
