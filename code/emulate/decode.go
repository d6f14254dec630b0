package emulate

// Decode returns the instruction at the start of code, which is at pc. It returns false for an
// instruction that this package does not execute. The longest instruction has 15 bytes; a shorter
// code is enough if the instruction is.
func Decode(code []byte, pc uint64) (Op, bool) {
	l, ok := parse(code)
	if !ok || l.scheme != legacy || l.lock {
		return Op{}, false
	}
	var e encoding
	switch l.opmap {
	case map1Byte:
		e = oneByte[l.opcode]
	case map0F:
		e = twoByte[l.opcode]
	}
	if group, ok := groups[e.kind]; ok {
		e.kind = group[l.reg]
	}
	if e = special(&l, e); e.kind == invalid || !l.prefixesAllowed(e.kind) {
		return Op{}, false
	}
	o := Op{pc: pc, kind: e.kind, length: l.length, cond: l.opcode & 15, segment: l.segment, addr32: l.addr32, imm: uint64(l.imm)}
	o.size, o.srcSize = sizes(&l, e)
	if e.kind == imul && l.immLen != 0 {
		o.kind = imul3
	}
	if o.dst, ok = o.locate(&l, e.dst, o.size); !ok {
		return Op{}, false
	}
	if o.src, ok = o.locate(&l, e.src, o.srcSize); !ok {
		return Op{}, false
	}
	return o, true
}

// special returns the meaning of opcodes that depend on more than the tables show.
func special(l *layout, e encoding) encoding {
	switch {
	case e.kind == xchg && l.opmap == map1Byte && l.opcode == 0x90 && l.rexB == 0:
		return encoding{kind: nop} // also PAUSE, with prefix f3
	case e.kind == push && e.dst == E:
		return encoding{push, none, E, v} // In group 5 the others have a destination.
	case e.kind == endbr && !(l.rep == 0xf3 && l.mod == 3 && l.reg == 7 && (l.rm == 2 || l.rm == 3)):
		return encoding{} // RDSSP and others
	case e.kind == movsxd && !l.rexW && l.op16:
		return encoding{} // Intel reads 16 bits, AMD 32.
	case e.kind == bswap && l.operandSize() == 2:
		return encoding{} // The result is undefined.
	case e.kind == ret && l.rep != 0 && l.opcode != 0xc3:
		return encoding{}
	case e.kind == nop && l.opmap == map0F && l.rep != 0:
		return encoding{}
	}
	return e
}

// prefixesAllowed reports whether the instruction is the same with F2, F3 and 66 as without them.
func (l *layout) prefixesAllowed(k kind) bool {
	branch := k == call || k == jmp || k == jcc || k == ret
	if l.op16 && !l.rexW && (branch || k == leave || k == jrcxz) {
		return false // Intel ignores 66 before a near branch, AMD cuts RIP to 16 bits.
	}
	switch l.rep {
	case 0xf2:
		return branch // BND, which does nothing where there is no MPX
	case 0xf3:
		return k == endbr || k == nop || k == ret // REPZ RET is an idiom of old compilers.
	}
	return k != endbr
}

// sizes returns the size of the operands and that of the source, in bytes.
func sizes(l *layout, e encoding) (size, srcSize uint8) {
	if size = l.operandSize(); e.width == b {
		size = 1
	}
	srcSize = size
	switch e.kind {
	case push, pop, call, jmp, leave, ret: // 64 bits by default: SDM volume 2, 2.2.1.7
		if size = 8; l.op16 && !l.rexW {
			size = 2
		}
		srcSize = size
	case movzx, movsx:
		srcSize = 1 + l.opcode&1
	case movsxd:
		srcSize = 4
	case cbw:
		srcSize = size / 2
	}
	if e.src == CL {
		srcSize = 1
	}
	return size, srcSize
}

// locate returns the place of an operand of the given size.
func (o *Op) locate(l *layout, a addressing, size uint8) (place, bool) {
	switch a {
	case E:
		if l.mod == 3 {
			return register(l, l.rm|l.rexB, size), true
		}
		o.memoryOperand(l)
		return memoryPlace, true
	case M:
		o.memoryOperand(l)
		return memoryPlace, l.mod != 3
	case R:
		return register(l, l.rm|l.rexB, size), l.mod == 3
	case G:
		return register(l, l.reg|l.rexR, size), true
	case Z:
		return register(l, l.opcode&7|l.rexB, size), true
	case A:
		return rax, true
	case D:
		return rdx, true
	case CL:
		return rcx, true
	case one:
		o.imm = 1
		return immediate, true
	case I:
		return immediate, true
	case J:
		return distance, true
	case O:
		if o.addr32 {
			o.imm = uint64(uint32(o.imm))
		}
		return absolute, true
	}
	return nowhere, true
}

// register returns the place of a register: SDM volume 2, table 3-1. Without REX the byte registers
// 4 to 7 are AH, CH, DH and BH.
func register(l *layout, number byte, size uint8) place {
	if size == 1 && !l.hasREX && number >= 4 {
		return highByte + place(number-4)
	}
	return place(number)
}

// memoryOperand sets the fields of the memory operand: SDM volume 2, tables 2-2 and 2-3.
func (o *Op) memoryOperand(l *layout) {
	o.disp, o.base, o.index = l.disp, l.rm|l.rexB, noBase
	switch {
	case l.hasSIB:
		o.base = l.sib&7 | l.rexB
		if l.mod == 0 && l.sib&7 == 5 {
			o.base = noBase
		}
		if o.index = l.sib>>3&7 | l.rexX; o.index == uint8(rsp) {
			o.index = noBase
		}
		o.scale = l.sib >> 6
	case l.ripRelative():
		o.base = ripBase
	}
}
