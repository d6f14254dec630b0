package emulate

import "encoding/binary"

// opcodeMap is an opcode map of SDM appendix A. The values are those of the map field in VEX.
type opcodeMap uint8

const (
	map1Byte opcodeMap = iota
	map0F
	map0F38
	map0F3A
	mapXOP8 opcodeMap = 8
	mapXOP9 opcodeMap = 9
	mapXOPA opcodeMap = 10
)

// scheme is the way in which opcode, map and operand size are encoded.
type scheme uint8

const (
	legacy scheme = iota
	vex
	evex
	xop // of AMD's older processors: AMD64 manual volume 6, 1.2.5; only its length is known
)

type segment uint8

const (
	flatSegment segment = iota // CS, DS, ES, SS: their base is 0 in 64-bit mode
	fsSegment
	gsSegment
)

// layout holds the fields of an instruction: SDM volume 2, figure 2-1.
type layout struct {
	scheme  scheme
	opmap   opcodeMap
	opcode  byte
	segment segment
	rep     byte // prefix f2 or f3, or 0; with VEX and EVEX the one that pp stands for
	op16    bool // prefix 66; with VEX and EVEX pp = 1
	addr32  bool // prefix 67
	lock    bool // prefix f0
	hasREX  bool
	rexW    bool
	rexR    byte // 0 or 8
	rexX    byte
	rexB    byte

	hasModRM bool
	mod      byte
	reg      byte // without rexR
	rm       byte // without rexB
	sib      byte // if hasSIB
	hasSIB   bool
	dispAt   uint8
	dispLen  uint8
	disp     int32
	immLen   uint8
	imm      int64 // sign-extended; of ENTER the level is in the third byte

	length uint8
}

// cursor reads the bytes of an instruction. Once it has run out of them it returns zeros.
type cursor struct {
	code []byte
	at   int
}

func (c *cursor) peek() byte {
	if c.at < len(c.code) {
		return c.code[c.at]
	}
	return 0
}

func (c *cursor) next() byte {
	b := c.peek()
	c.at++
	return b
}

// signed reads a little-endian signed number of n bytes.
func (c *cursor) signed(n uint8) int64 {
	var b [8]byte
	if c.at < len(c.code) {
		copy(b[:n], c.code[c.at:])
	}
	c.at += int(n)
	unused := 64 - 8*uint(n)
	return int64(binary.LittleEndian.Uint64(b[:])<<unused) >> unused
}

// maxLength is the processor's limit: SDM volume 2, 2.3.11.
const maxLength = 15

// parse returns the layout of the instruction at the start of code. It returns false for an
// encoding that it does not know, and for one that depends on the processor's vendor.
func parse(code []byte) (l layout, ok bool) {
	if len(code) > maxLength {
		code = code[:maxLength]
	}
	c := cursor{code: code}
	if !l.prefixes(&c) {
		return l, false
	}
	fields := l.opcodeFields(&c)
	if !l.operandFields(&c, fields) {
		return l, false
	}
	l.length = uint8(c.at)
	return l, c.at <= len(code)
}

// prefixes reads the legacy prefixes and REX: SDM volume 2, 2.1.1 and 2.2.1.
func (l *layout) prefixes(c *cursor) bool {
	segments := 0
	for ; ; c.at++ {
		switch b := c.peek(); b {
		case 0x66:
			l.op16 = true
		case 0x67:
			l.addr32 = true
		case 0xf0:
			l.lock = true
		case 0xf2, 0xf3:
			if l.rep != 0 && l.rep != b {
				return false
			}
			l.rep = b
		case 0x26, 0x2e, 0x36, 0x3e:
			segments |= 1
		case 0x64:
			segments |= 2
			l.segment = fsSegment
		case 0x65:
			segments |= 4
			l.segment = gsSegment
		default:
			if b&0xf0 == 0x40 {
				l.hasREX = true
				l.rexW = b&8 != 0
				l.rexR, l.rexX, l.rexB = b<<1&8, b<<2&8, b<<3&8
				c.at++
			}
			// The SDM leaves open which one of several segment prefixes counts.
			return segments&(segments-1) == 0
		}
	}
}

// opcodeFields reads the opcode with its escape bytes, VEX or EVEX, and returns the operand fields.
func (l *layout) opcodeFields(c *cursor) byte {
	l.opcode = c.next()
	fields := fields1Byte[l.opcode]
	switch fields {
	case '2':
		return l.escaped(c)
	case 'V':
		return l.vector(c)
	}
	if l.opcode == 0x8f && c.peek()&0x1f >= byte(mapXOP8) { // POP has less there.
		return l.vector(c)
	}
	return fields
}

func (l *layout) escaped(c *cursor) byte {
	l.opmap, l.opcode = map0F, c.next()
	switch l.opcode {
	case 0x38:
		l.opmap, l.opcode = map0F38, c.next()
		return 'm'
	case 0x3a:
		l.opmap, l.opcode = map0F3A, c.next()
		return 'M'
	}
	return fields0F[l.opcode]
}

// vector reads what follows C5, C4, 62 and 8F: SDM volume 2, 2.3.5 and 2.7.1. These allow none of
// REX, 66, F2, F3 and LOCK before them. R, X, B and vvvv are inverted.
func (l *layout) vector(c *cursor) byte {
	if l.hasREX || l.op16 || l.rep != 0 || l.lock {
		return 'x'
	}
	var last byte // W.vvvv.L.pp
	switch l.opcode {
	case 0xc5:
		l.scheme, l.opmap = vex, map0F
		last = c.next()
		l.rexR = ^last >> 4 & 8
		last &= 0x7f // It has R in the place of W.
	case 0xc4, 0x8f:
		if l.scheme = vex; l.opcode == 0x8f {
			l.scheme = xop
		}
		first := c.next()
		l.rexR, l.rexX, l.rexB = ^first>>4&8, ^first>>3&8, ^first>>2&8
		l.opmap = opcodeMap(first & 0x1f)
		last = c.next()
	default:
		l.scheme = evex
		first := c.next()
		l.rexR, l.rexX, l.rexB = ^first>>4&8, ^first>>3&8, ^first>>2&8
		l.opmap = opcodeMap(first & 7)
		last = c.next()
		c.next() // z, L'L, b, V', aaa
		// Two bits are fixed; APX gives them other meanings.
		if first&8 != 0 || last&4 == 0 {
			return 'x'
		}
	}
	l.rexW = last&0x80 != 0
	l.op16 = last&3 == 1
	l.rep = [4]byte{2: 0xf3, 3: 0xf2}[last&3]
	l.opcode = c.next()
	switch l.opmap {
	case map0F:
		// These are conversions; without EVEX they are VMREAD and others.
		if l.scheme == evex && l.opcode&0xfc == 0x78 {
			return 'm'
		}
		return fields0F[l.opcode]
	case map0F38, mapXOP9:
		return 'm'
	case map0F3A, mapXOP8:
		return 'M'
	case mapXOPA:
		return 'Z'
	}
	return 'x'
}

// operandFields reads ModRM, SIB, displacement and immediate.
func (l *layout) operandFields(c *cursor, fields byte) bool {
	switch fields {
	case 'x', 'p':
		return false
	case 'm', 'M', 'Z', '3':
		l.modRM(c)
	}
	switch fields {
	case 'b', 'M':
		l.immLen = 1
	case 'r', 'j':
		// Intel ignores 66 before a near branch, AMD cuts RIP to 16 bits.
		if l.op16 && !l.rexW {
			return false
		}
		if l.immLen = 4; fields == 'r' {
			l.immLen = 1
		}
	case 'w':
		l.immLen = 2
	case 'e':
		l.immLen = 3
	case 'z', 'Z':
		l.immLen = min(l.operandSize(), 4)
	case 'v':
		l.immLen = l.operandSize()
	case 'o':
		if l.immLen = 8; l.addr32 {
			l.immLen = 4
		}
	case '3':
		if l.reg >= 2 {
			break
		}
		if l.immLen = 1; l.opcode == 0xf7 {
			l.immLen = min(l.operandSize(), 4)
		}
	}
	l.imm = c.signed(l.immLen)
	return true
}

// operandSize returns 2, 4 or 8: SDM volume 1, table 3-4.
func (l *layout) operandSize() uint8 {
	switch {
	case l.rexW:
		return 8
	case l.op16:
		return 2
	}
	return 4
}

// modRM reads ModRM, SIB and displacement: SDM volume 2, tables 2-2 and 2-3, and 2.2.1.6.
func (l *layout) modRM(c *cursor) {
	b := c.next()
	l.hasModRM = true
	l.mod, l.reg, l.rm = b>>6, b>>3&7, b&7
	if l.mod == 3 {
		return
	}
	base := l.rm
	if l.rm == 4 {
		l.hasSIB, l.sib = true, c.next()
		base = l.sib & 7
	}
	switch {
	case l.mod == 1:
		l.dispLen = 1
	case l.mod == 2 || base == 5: // With mod = 0: RIP, or no base.
		l.dispLen = 4
	}
	l.dispAt = uint8(c.at)
	l.disp = int32(c.signed(l.dispLen))
}

// ripRelative reports whether the memory operand is relative to the next instruction.
func (l *layout) ripRelative() bool { return l.hasModRM && l.mod == 0 && l.rm == 5 }
