package code

// x86 is the state while an instruction is decoded.
type x86 struct {
	Insn
	word           uint8  // the size of an address, in bytes: 4 for 32-bit code
	call           uint32 // registers that a called function may change
	b              []byte
	n              int // number of decoded bytes of b
	rex            byte
	hasRex         bool
	opsize, repf3  bool // prefixes 66 and f3
	repf2, segment bool
	addr32         bool

	mod, reg, rm uint8 // of ModRM; reg and rm with their REX bits
	base         uint8 // base of a memory operand; None if the address can't be tracked
	disp         int32
}

// DecodeX86 decodes the instruction of x86-64 at the start of b: Intel SDM volume 2, chapter 2
// and appendix A. The length is 0 if it is invalid or truncated.
func DecodeX86(b []byte) Insn { return decodeX86(b, 8, amd64Call) }

// DecodeI386 is DecodeX86 for 32-bit code. A call of the next instruction is a push: code reads
// its own address that way.
func DecodeI386(b []byte) Insn {
	in := decodeX86(b, 4, i386Call)
	if in.Next == Call && in.Imm == 0 {
		in.Next, in.Op, in.Kills = Onward, Push, 0
	}
	return in
}

func decodeX86(b []byte, word uint8, call uint32) Insn {
	if len(b) > 15 {
		b = b[:15]
	}
	d := x86{word: word, call: call, b: b, Insn: Insn{Dst: None, Src: None, Base: None}}
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
	if c := d.peek(); c&0xf0 == 0x40 && d.word == 8 {
		d.rex, d.hasRex = c, true
		d.n++
	}
	op := d.byte()
	if d.word == 4 && d.only32(op) {
		return
	}
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

// plain applies the effects of a class of instructions. bytes means that its operands are bytes.
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

// classes1 lists the classes of the one-byte opcodes, a row for each high half. Without ModRM: .
// nothing, 1 and 4 an immediate of 8 or 32 (16) bits, a, A and D the same with a write of RAX, j
// a short branch. With ModRM: m writes no general register, i the same with an immediate byte, r
// writes reg, w writes r/m, b both, R and W with an immediate byte, Q with an immediate of 32
// bits. x is invalid, p a prefix, ! is decoded in special, 2 leads to two bytes, v is VEX, EVEX
// or XOP.
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

// special decodes the one-byte opcodes that affect the stack, and those with a special encoding.
func (d *x86) special(op byte) {
	wide := d.wide()
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
		case wide && d.word == 8:
			v := d.imm64()
			d.constant(lowreg, v, int64(int32(v)) == v)
		case d.opsize:
			d.n += 2
			d.kill(lowreg)
		default:
			v := d.imm32()
			d.constant(lowreg, int64(v), v >= 0 || wide)
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
		if d.n += int(d.word); d.addr32 {
			d.n -= int(d.word) / 2
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
	case 0xcc: // INT3: from a debugger, or __debugbreak, after which the program continues
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
		d.Next, d.Kills = Call, d.call
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
