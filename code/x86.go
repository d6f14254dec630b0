package code

import "encoding/binary"

// x86 is an instruction of x86-64 while it is decoded.
type x86 struct {
	Insn
	b              []byte
	n              int // of b, decoded
	rex            byte
	hasRex         bool
	opsize, repf3  bool // prefixes 66 and f3
	repf2, segment bool
	addr32         bool

	mod, reg, rm uint8 // of ModRM; reg and rm with their REX bits
	base         uint8 // of a memory operand, None if the address can't be followed
	disp         int32
}

// DecodeX86 is the instruction at the start of b: Intel SDM volume 2, chapter 2 and appendix A. Its length is 0
// where it is none, or is cut off.
func DecodeX86(b []byte) Insn {
	if len(b) > 15 {
		b = b[:15]
	}
	d := x86{b: b, Insn: Insn{Dst: None, Src: None, Base: None}}
	d.decode()
	if d.n > len(b) || d.Next == Bad {
		return Insn{Next: Bad}
	}
	d.Len = uint8(d.n)
	return d.Insn
}

func (d *x86) decode() {
	for ; ; d.n++ {
		switch d.peek() {
		case 0x66:
			d.opsize = true
			continue
		case 0x67:
			d.addr32 = true
			continue
		case 0xf2:
			d.repf2, d.repf3 = true, false
			continue
		case 0xf3:
			d.repf3, d.repf2 = true, false
			continue
		case 0x64, 0x65:
			d.segment = true
			continue
		case 0x2e, 0x36, 0x3e, 0x26, 0xf0:
			continue
		}
		break
	}
	if c := d.peek(); c&0xf0 == 0x40 {
		d.rex, d.hasRex = c, true
		d.n++
	}
	op := d.byte()
	switch class := classes1[op]; class {
	case '!':
		d.special(op)
	case '2':
		d.twoBytes()
	case 'v':
		d.vector()
	default:
		d.plain(class, op&1 == 0 && op != 0x8c)
	}
}

// plain does what a class of instructions does; bytes says that its operands are bytes.
func (d *x86) plain(class byte, bytes bool) {
	switch class {
	case '.':
	case '1':
		d.n++
	case '4':
		d.n += d.immSize()
	case 'a':
		d.kill(rax)
	case 'A':
		d.n++
		d.kill(rax)
	case 'D':
		d.n += d.immSize()
		d.kill(rax)
	case 'm':
		d.modrm()
	case 'i':
		d.modrm()
		d.n++
	case 'r':
		d.modrm()
		d.killByte(d.reg, bytes)
	case 'R', 'Q':
		d.modrm()
		d.kill(d.reg)
		if d.n++; class == 'Q' {
			d.n += d.immSize() - 1
		}
	case 'w', 'W':
		d.modrm()
		d.killRM(bytes)
		if class == 'W' {
			d.n++
		}
	case 'b':
		d.modrm()
		d.killRM(bytes)
		d.killByte(d.reg, bytes)
	case 'j':
		d.Next = Branch
		d.rel(1)
	default:
		d.Next = Bad
	}
}

// classes1 are the classes of the one-byte opcodes, a row for each high half. Without ModRM: . nothing, 1 and 4 an immediate of 8 or
// 32 (16) bits, a, A and D the same that write RAX, j a short branch. With ModRM: m writes no general register, i the
// same with an immediate byte, r writes reg, w writes r/m, b both, R and W with an immediate byte, Q with one of 32 bits. x is no instruction,
// p a prefix, ! is decoded in special, 2 leads to two bytes, v is VEX or its kin.
const classes1 = "" +
	"w!r!ADxxwwrrADx2" +
	"wwrrADxxwwrrADxx" +
	"wwrrADpxw!r!ADpx" +
	"w!r!ADpxm!m!14px" +
	"xxxxxxxxxxxxxxxx" +
	"!!!!!!!!!!!!!!!!" +
	"xxvrpppp!Q!R!!.." +
	"jjjj!!jjjjjjjjjj" +
	"!!x!mmbb!!r!w!m!" +
	"!!!!!!!!a!x.!!.a" +
	"!!!!!!!!14!!!!!!" +
	"!!!!!!!!!!!!!!!!" +
	"WW!!vv!!!!!!!1x!" +
	"wwwwxxxammmmmmm!" +
	"!!!!AA11!!x!aa.." +
	"p.pp!.!!......!!"

// special is for the opcodes of one byte that matter, and those that are encoded in a way of their own.
func (d *x86) special(op byte) {
	wide := d.rex&8 != 0
	lowreg := op&7 | d.rex&1<<3
	switch {
	case op>>3 == 0x50>>3: // PUSH
		d.Op, d.Src = Push, lowreg
	case op>>3 == 0x58>>3: // POP
		d.Op, d.Dst = Pop, lowreg
	case op&0xf0 == 0x70:
		d.Next = Branch
		if d.Cond = Equal; op == 0x75 {
			d.Cond = NotEqual
		}
		d.rel(1)
	case op&0xf8 == 0x90: // XCHG, NOP
		if lowreg != rax {
			d.kill(rax)
			d.kill(lowreg)
		}
	case op&0xf8 == 0xb0:
		d.n++
		d.killByte(lowreg, true)
	case op&0xf8 == 0xb8:
		switch {
		case wide:
			v := d.imm64()
			d.constant(lowreg, v, int64(int32(v)) == v)
		case d.opsize:
			d.n += 2
			d.kill(lowreg)
		default:
			v := d.imm32()
			d.constant(lowreg, int64(v), v >= 0)
		}
	default:
		d.special2(op, wide)
	}
}

func (d *x86) special2(op byte, wide bool) {
	switch op {
	case 0x01, 0x03, 0x29, 0x2b, 0x31, 0x33, 0x39, 0x3b:
		d.arithmetic(op, wide)
	case 0x68:
		d.n += d.immSize()
		d.Op = Push
	case 0x6a:
		d.n++
		d.Op = Push
	case 0x6c, 0x6d, 0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf: // strings
		d.Kills = 1<<rax | 1<<rcx | 1<<rsi | 1<<rdi
	case 0x80, 0x81, 0x83:
		d.group1(op, wide)
	case 0x88, 0x89, 0x8a, 0x8b:
		d.mov(op, wide)
	case 0x8d:
		d.modrm()
		if d.mod != 3 && d.base < 32 && wide && !d.addr32 {
			d.Op, d.Dst, d.Src, d.Imm = Add, d.reg, d.base, d.disp
		} else {
			d.kill(d.reg)
		}
	case 0x8f:
		if d.peek()&0x1f >= 8 && d.peek()>>3&7 != 0 {
			d.vector()
			return
		}
		d.modrm()
		if d.Op = Pop; d.mod == 3 {
			d.Dst = d.rm
		}
	case 0x99: // CQO
		d.kill(rdx)
	case 0x9c:
		d.Op = Push
	case 0x9d:
		d.Op = Pop
	case 0xa0, 0xa1, 0xa2, 0xa3:
		if d.n += 8; d.addr32 {
			d.n -= 4
		}
		if op < 0xa2 {
			d.kill(rax)
		}
	case 0xc2, 0xca:
		d.n += 2
		d.Next = Return
	case 0xc3, 0xcb, 0xcf:
		d.Next = Return
	case 0xc6, 0xc7:
		d.movImm(op, wide)
	case 0xc8: // ENTER
		d.n += 3
		d.Kills = 1<<rsp | 1<<rbp
	case 0xc9:
		d.Op = Leave
	case 0xcc: // INT3: a debugger's, or __debugbreak, behind which the program goes on
	case 0xdf: // FNSTSW AX
		if d.modrm(); d.mod == 3 {
			d.kill(rax)
		}
	case 0xe0, 0xe1, 0xe2, 0xe3: // LOOP, JRCXZ
		d.Next = Branch
		d.rel(1)
		if op != 0xe3 {
			d.kill(rcx)
		}
	case 0xe8:
		d.Next, d.Kills = Call, amd64.call
		d.rel(4)
	case 0xe9:
		d.Next = Jump
		d.rel(4)
	case 0xeb:
		d.Next = Jump
		d.rel(1)
	case 0xf4: // HLT
		d.Next = Trap
	case 0xf6, 0xf7:
		d.group3(op)
	case 0xfe, 0xff:
		d.group5(op)
	default:
		d.Next = Bad
	}
}

// arithmetic is ADD, SUB, XOR and CMP of whole registers, which can be followed.
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

// group1 is arithmetic with an immediate.
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
		d.Op, d.Dst, d.Base, d.Imm, d.Size = Load, d.reg, d.base, d.disp, 8
	case load:
		d.killByte(d.reg, bytes)
	case d.base < 32:
		d.Op, d.Base, d.Imm, d.Size = Store, d.base, d.disp, 8
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
		d.Op, d.Base, d.Imm, d.Size = Store, d.base, d.disp, 8
	}
}

// group3 is TEST, NOT, NEG, MUL and DIV.
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

// group5 is INC, DEC, and calls, jumps and pushes through memory.
func (d *x86) group5(op byte) {
	d.modrm()
	k := d.reg & 7
	switch {
	case k < 2:
		d.killRM(op == 0xfe)
	case op == 0xfe, k == 7:
		d.Next = Bad
	case k < 4:
		d.Next, d.Kills = CallFar, amd64.call
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

func (d *x86) constant(n uint8, v int64, fits bool) {
	if fits {
		d.Op, d.Dst, d.Imm = Const, n, int32(v)
	} else {
		d.kill(n)
	}
}

func (d *x86) kill(n uint8) { d.Kills |= 1 << n }

// killRM is for r/m, if it is a register.
func (d *x86) killRM(bytes bool) {
	if d.mod == 3 {
		d.killByte(d.rm, bytes)
	}
}

// killByte is for a register that may be a byte: without REX 4 to 7 are AH to BH.
func (d *x86) killByte(n uint8, bytes bool) {
	if bytes && !d.hasRex && n >= 4 {
		n -= 4
	}
	d.kill(n)
}

func (d *x86) peek() byte {
	if d.n < len(d.b) {
		return d.b[d.n]
	}
	return 0
}

func (d *x86) byte() byte {
	c := d.peek()
	d.n++
	return c
}

// immSize is the size of an immediate operand that is 32 bits by default.
func (d *x86) immSize() int {
	if d.opsize && d.rex&8 == 0 {
		return 2
	}
	return 4
}

func (d *x86) imm32() int32 {
	d.n += 4
	if d.n > len(d.b) {
		return 0
	}
	return int32(binary.LittleEndian.Uint32(d.b[d.n-4:]))
}

func (d *x86) imm64() int64 {
	lo := d.imm32()
	return int64(d.imm32())<<32 | int64(uint32(lo))
}

// rel is a branch's displacement.
func (d *x86) rel(size int) {
	if size == 1 {
		d.Imm = int32(int8(d.byte()))
	} else {
		d.Imm = d.imm32()
	}
}

// modrm decodes ModRM, SIB and displacement.
func (d *x86) modrm() {
	c := d.byte()
	d.mod, d.reg, d.rm = c>>6, c>>3&7|d.rex&4<<1, c&7|d.rex&1<<3
	if d.base = None; d.mod == 3 {
		return
	}
	base, follow := d.rm, !d.segment && !d.addr32
	if c&7 == 4 {
		sib := d.byte()
		base = sib&7 | d.rex&1<<3
		if sib>>3&7|d.rex&2<<2 != 4 {
			follow = false
		}
		if sib&7 == 5 && d.mod == 0 {
			d.n += 4
			return
		}
	} else if c&7 == 5 && d.mod == 0 {
		if d.disp = d.imm32(); follow {
			d.base = RIP
		}
		return
	}
	switch d.mod {
	case 1:
		d.disp = int32(int8(d.byte()))
	case 2:
		d.disp = d.imm32()
	}
	if follow {
		d.base = base
	}
}
