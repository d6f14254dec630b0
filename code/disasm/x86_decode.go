package disasm

import (
	"encoding/binary"
	"strings"
)

// Bits of a REX prefix, and of the same fields in VEX and EVEX.
const (
	rexB byte = 1 << iota
	rexX
	rexR
	rexW
	rexAny // the prefix itself
)

// maxPrefixes limits the prefixes of an instruction: it has 15 bytes, and one is its opcode.
const maxPrefixes = 14

// encoding is the form of an instruction's prefix.
type encoding uint8

const (
	legacy encoding = iota
	vex
	xop
	evex
)

// x86Inst is one instruction of x86-64. decode fills it in without allocation.
type x86Inst struct {
	code   []byte // from the instruction on
	length int
	entry  *entry // nil: only prefixes, or (bad)
	bad    bool
	isLone bool // the prefixes alone are an instruction

	prefixes  int    // the number of bytes before the opcode
	used      uint16 // a bit for each prefix that the instruction uses
	lastRep   int8   // indices of the last prefix of a kind, or -1
	lastRepne int8
	lastData  int8
	lastAddr  int8
	lastSeg   int8
	lastLock  int8
	activeSeg int8 // the last of fs and gs: the others have no effect
	hasWait   bool // fwait comes first and belongs to an x87 instruction
	hasData   bool // an operand-size prefix that is not a mandatory one

	encoding encoding
	rex      byte // the fields as in REX, not inverted
	rexUsed  byte
	opcode   byte
	mandated prefixMatch
	high     byte // EVEX: R' (16), V' (32)
	vvvv     byte
	lengthLL byte // the L field
	bits     byte // the vector length: 0 to 2
	b, zero  bool
	mask     byte

	mod, reg, rm  byte
	hasSIB        bool
	scale         byte
	index, base   byte
	displacement  int64
	displacementN byte // its size in bytes
	immediates    [2]int64
	immediateAt   int
}

// maxLength is the length of the longest instruction.
const maxLength = 15

// decode finds the length and the entry of the instruction at the start of code. If code ends
// before the instruction does, its length is 0.
func (in *x86Inst) decode(code []byte) {
	in.decodeUpTo(code[:min(len(code), maxLength)])
	if in.length == 0 && len(code) >= maxLength {
		in.entry, in.bad, in.length = nil, true, maxLength
	}
}

func (in *x86Inst) decodeUpTo(code []byte) {
	*in = x86Inst{code: code, lastRep: -1, lastRepne: -1, lastData: -1, lastAddr: -1, lastSeg: -1, lastLock: -1, activeSeg: -1}
	if in.isLone = in.readPrefixes(); in.isLone {
		in.length = in.prefixes
		return
	}
	at := in.prefixes
	if at >= len(code) {
		return
	}
	m, at, ok := in.readOpcode(at)
	if !ok {
		if at > 0 {
			in.bad, in.length = true, at
		}
		return
	}
	if m == map3DNow {
		in.now(at)
		return
	}
	in.bits = in.lengthLL
	list := table()[m][in.opcode]
	opcodeEnd := at
	if at < len(code) {
		c := code[at]
		in.mod, in.reg, in.rm = c>>6, c>>3&7, c&7
	}
	if in.encoding == evex && in.b && in.mod == 3 {
		in.bits = 2
	}
	e := in.match(list, at < len(code))
	if e == nil {
		if at >= len(code) && needsModRM(list) {
			return
		}
		in.bad, in.length = true, opcodeEnd
		if m == map0F && (in.opcode == 0xa6 && in.reg < 3 || in.opcode == 0xa7 && in.reg < 6) {
			in.length = in.prefixes + 1 // VIA's instructions have one ModRM each
		}
		return
	}
	if e.flags&hasModRM != 0 {
		if at = in.readModRM(at, e); at == 0 {
			return
		}
	}
	in.immediateAt = at
	for i, class := range e.immediates {
		if class == 0 {
			break
		}
		n := in.immediateSize(class)
		if at+n > len(code) {
			return
		}
		in.immediates[i] = signed(code[at:], n)
		at += n
	}
	in.entry, in.length = e, at
}

// needsModRM reports whether all entries of an opcode have a ModRM byte.
func needsModRM(list []entry) bool {
	for i := range list {
		if list[i].flags&hasModRM == 0 {
			return false
		}
	}
	return len(list) > 0
}

// readPrefixes reads the legacy prefixes and REX. It reports whether no opcode can follow: REX
// stands before another prefix, or the prefixes leave no room.
func (in *x86Inst) readPrefixes() (isLone bool) {
	i := 0
	for ; i < len(in.code); i++ {
		if i == maxPrefixes {
			in.prefixes = i
			return true
		}
		c := in.code[i]
		switch {
		case c == 0xf3:
			in.lastRep = int8(i)
		case c == 0xf2:
			in.lastRepne = int8(i)
		case c == 0xf0:
			in.lastLock = int8(i)
		case c == 0x66:
			in.lastData = int8(i)
		case c == 0x67:
			in.lastAddr = int8(i)
		case c == 0x64, c == 0x65:
			in.lastSeg, in.activeSeg = int8(i), int8(i)
		case c&0xe7 == 0x26:
			in.lastSeg = int8(i)
		case c == 0x9b:
			first := !in.hasWait
			in.hasWait = true
			if i > 0 && (i+1 == len(in.code) || in.code[i+1]&0xf8 != 0xd8) {
				if in.prefixes = i; first {
					in.prefixes++
				}
				return true
			}
		case c&0xf0 == 0x40:
			in.rex = c&15 | rexAny
			if i+1 < len(in.code) && isPrefix(in.code[i+1]) {
				in.prefixes = i + 1
				if in.hasWait {
					in.prefixes = i // this is objdump's length
				}
				return true
			}
			continue
		default:
			in.prefixes = i
			if in.hasWait && c&0xf8 != 0xd8 {
				in.prefixes = 1
				return true
			}
			in.hasData = in.lastData >= 0
			switch {
			case in.lastRep > in.lastRepne:
				in.mandated = prefixF3
			case in.lastRepne >= 0:
				in.mandated = prefixF2
			case in.hasData:
				in.mandated = prefix66
			default:
				in.mandated = noPrefix
			}
			return false
		}
	}
	in.prefixes = i
	return false
}

func isPrefix(c byte) bool {
	switch c {
	case 0xf0, 0xf2, 0xf3, 0x64, 0x65, 0x66, 0x67, 0x26, 0x2e, 0x36, 0x3e, 0x9b:
		return true
	}
	return c&0xf0 == 0x40
}

// map3DNow is the map of 0F 0F, whose opcode comes last.
const map3DNow = opcodeMaps

// readOpcode reads the opcode and what VEX, EVEX and XOP put before it. If ok is false, at is the
// length of a bad instruction, or 0 if bytes are missing.
func (in *x86Inst) readOpcode(at int) (m opcodeMap, next int, ok bool) {
	code := in.code
	has := func(n int) bool { return at+n <= len(code) }
	switch c := code[at]; {
	case c == 0x0f:
		if !has(2) {
			return 0, 0, false
		}
		m, n := map0F, 2
		switch code[at+1] {
		case 0x0f:
			return map3DNow, at + 2, true
		case 0x38:
			m, n = map0F38, 3
		case 0x3a:
			m, n = map0F3A, 3
		}
		if !has(n) {
			return 0, 0, false
		}
		in.opcode = code[at+n-1]
		return m, at + n, true
	case c == 0xc5:
		if !has(3) {
			return 0, 0, false
		}
		in.encoding, in.hasData = vex, false
		in.rex = (^code[at+1] >> 7) << 2
		in.second(code[at+1] & 0x7f)
		in.opcode = code[at+2]
		return mapVEX0F, at + 3, true
	case c == 0xc4 && has(2), c == 0x8f && has(2) && code[at+1]&0x1f >= 8:
		number := code[at+1]&0x1f - 1
		in.encoding, m = vex, mapVEX0F
		if c == 0x8f {
			number -= 7
			in.encoding, m = xop, mapXOP8
		}
		if number > 2 {
			return 0, at + 1, false
		}
		if !has(4) {
			return 0, 0, false
		}
		in.hasData = false
		in.rex = ^code[at+1] >> 5
		in.second(code[at+2])
		in.opcode = code[at+3]
		return m + opcodeMap(number), at + 4, true
	case c == 0xc4:
		return 0, 0, false
	case c == 0x62:
		return in.readEVEX(at)
	}
	in.opcode = code[at]
	return mapOne, at + 1, true
}

// second reads the byte of VEX that has W, vvvv, L and the prefix.
func (in *x86Inst) second(c byte) {
	in.rex |= c >> 7 << 3
	in.vvvv = ^c >> 3 & 15
	in.lengthLL = c >> 2 & 1
	in.mandated = mandatedBy(c)
}

func mandatedBy(c byte) prefixMatch {
	return [...]prefixMatch{noPrefix, prefix66, prefixF3, prefixF2}[c&3]
}

func (in *x86Inst) readEVEX(at int) (m opcodeMap, next int, ok bool) {
	code := in.code
	if at+2 > len(code) {
		return 0, 0, false
	}
	p0 := code[at+1]
	if p0&8 != 0 || p0&7 == 0 || p0&7 == 4 || p0&7 == 7 {
		return 0, at + 1, false
	}
	if at+5 > len(code) {
		return 0, 0, false
	}
	p1, p2 := code[at+2], code[at+3]
	switch p0 & 7 {
	case 1, 2, 3:
		m = mapEVEX0F + opcodeMap(p0&7-1)
	case 5, 6:
		m = mapEVEX5 + opcodeMap(p0&7-5)
	}
	if p1&4 == 0 {
		return 0, at + 2, false
	}
	in.encoding, in.hasData = evex, false
	in.rex = ^p0>>5 | p1>>7<<3
	in.high = ^p0 & 0x10
	in.vvvv = ^p1 >> 3 & 15
	if p2&8 == 0 {
		in.high |= 0x20
	}
	in.lengthLL = p2 >> 5 & 3
	in.b, in.zero, in.mask = p2&0x10 != 0, p2&0x80 != 0, p2&7
	in.mandated = mandatedBy(p1)
	in.opcode = code[at+4]
	return m, at + 5, true
}

// match returns the first entry of an opcode whose conditions hold.
func (in *x86Inst) match(list []entry, hasNext bool) *entry {
	for i := range list {
		e := &list[i]
		if e.prefix != anyPrefix && e.prefix != in.mandated {
			continue
		}
		if e.w >= 0 && e.w != int8(in.rex>>3&1) {
			continue
		}
		if in.encoding != legacy && !in.fitsVector(e) {
			continue
		}
		if e.flags&hasModRM != 0 {
			switch {
			case !hasNext,
				e.reg >= 0 && e.reg != int8(in.reg),
				e.form == 'r' && in.mod != 3,
				e.form == 'm' && in.mod == 3,
				e.form == 'i' && (in.mod != 0 || in.rm != 5),
				e.rm >= 0 && (in.mod != 3 || e.rm != int8(in.rm)):
				continue
			}
		} else if e.att == "nop" && (in.rex&rexB != 0 || in.hasData) {
			continue // the same byte is xchg with other registers
		}
		return e
	}
	return nil
}

// fitsVector checks the vector length and that VEX.vvvv is unused where no operand has it.
func (in *x86Inst) fitsVector(e *entry) bool {
	if in.bits > 2 || e.lengths != 0 && e.lengths&(1<<in.bits) == 0 {
		return false
	}
	if in.vvvv == 0 {
		return true
	}
	for i := range e.operands[:e.count] {
		if e.operands[i].place == 'H' {
			return true
		}
	}
	return false
}

// readModRM reads ModRM, SIB and the displacement. It returns 0 if bytes are missing.
func (in *x86Inst) readModRM(at int, e *entry) int {
	code := in.code
	at++
	if in.mod == 3 || e.isControl() {
		return at
	}
	n := [...]byte{0, 1, 4}[in.mod]
	in.base = in.rm
	if in.rm == 4 {
		if at >= len(code) {
			return 0
		}
		in.hasSIB = true
		c := code[at]
		in.scale, in.index, in.base = c>>6, c>>3&7, c&7
		at++
	}
	if in.mod == 0 && in.base == 5 {
		n = 4
	}
	if at+int(n) > len(code) {
		return 0
	}
	in.displacementN = n
	in.displacement = signed(code[at:], int(n))
	if n == 1 && in.encoding == evex {
		in.displacement *= int64(in.scaleOf(e))
	}
	return at + int(n)
}

// isControl reports whether an entry moves control or debug registers. These ignore ModRM.mod.
func (e *entry) isControl() bool {
	for i := range e.operands[:e.count] {
		if c := e.operands[i].class; c == 'c' || c == 'g' {
			return true
		}
	}
	return false
}

// scaleOf returns the factor of an EVEX disp8.
func (in *x86Inst) scaleOf(e *entry) int {
	for i := range e.operands[:e.count] {
		o := &e.operands[i]
		switch {
		case o.mem == noMemory && o.broadcast == 0:
			continue
		case in.b && o.broadcast != 0:
			return int(o.broadcast)
		case o.scale != 0:
			return in.memoryBytes(o.scale)
		}
		return in.memoryBytes(o.mem)
	}
	return 1
}

// memoryBytes returns a size of memory in bytes.
func (in *x86Inst) memoryBytes(m byte) int {
	if m&memClass == 0 {
		return int(m)
	}
	switch m &^ memClass {
	case 'x':
		return 16 << in.bits
	case 'h':
		return 8 << in.bits
	case 'f':
		return 4 << in.bits
	case 'e':
		return 2 << in.bits
	case 'o':
		return 16
	case 'p': // a far pointer: an offset and two bytes of a selector
		if in.sizeZ() == 2 || in.hasData {
			return 4
		}
		return 6
	case '8':
		return in.size8()
	case 'y':
		return in.sizeY()
	case 'z':
		return in.sizeZ()
	}
	return in.sizeV()
}

// sizeZ returns an operand size of 2 or 4 bytes.
func (in *x86Inst) sizeZ() int {
	if in.hasData && in.rex&rexW == 0 {
		in.use(in.lastData)
		return 2
	}
	return 4
}

// sizeV returns the operand size of 2, 4 or 8 bytes.
func (in *x86Inst) sizeV() int {
	in.useREX(rexW)
	switch {
	case in.rex&rexW != 0:
		return 8
	case in.hasData:
		in.use(in.lastData)
		return 2
	}
	return 4
}

// size8 returns the size of an operand of push, pop and near branches.
func (in *x86Inst) size8() int {
	if in.hasData && in.rex&rexW == 0 {
		in.use(in.lastData)
		return 2
	}
	return 8
}

// sizeY returns an operand size of 4 or 8 bytes.
func (in *x86Inst) sizeY() int {
	in.useREX(rexW)
	if in.rex&rexW != 0 {
		return 8
	}
	return 4
}

// use notes that the instruction uses a prefix.
func (in *x86Inst) use(prefix int8) {
	if prefix >= 0 {
		in.used |= 1 << prefix
	}
}

// useREX notes that the instruction uses a bit of REX, or with 0 that REX matters at all.
func (in *x86Inst) useREX(bit byte) {
	if bit == 0 || in.rex&bit != 0 {
		in.rexUsed |= bit | rexAny
	}
}

func (in *x86Inst) immediateSize(class byte) int {
	switch class {
	case 'w':
		return 2
	case 'd':
		return 4
	case 'z', 'j':
		if in.hasData && in.rex&rexW == 0 {
			return 2
		}
		return 4
	case 'v':
		return in.sizeV()
	case 'o':
		if in.lastAddr >= 0 {
			return 4
		}
		return 8
	}
	return 1
}

// signed reads a little-endian number of n bytes.
func signed(b []byte, n int) int64 {
	switch n {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		return int64(binary.LittleEndian.Uint64(b))
	}
	return 0
}

// nowEntry is any instruction of 3DNow!: its last byte names it.
var nowEntry = entry{w: -1, reg: -1, rm: -1, flags: hasModRM, count: 2,
	operands: [5]operand{{place: 'V', class: 'm'}, {place: 'W', class: 'm', mem: 8}}}

// now decodes an instruction of 3DNow!.
func (in *x86Inst) now(at int) {
	code := in.code
	if at >= len(code) {
		return
	}
	c := code[at]
	in.mod, in.reg, in.rm = c>>6, c>>3&7, c&7
	if at = in.readModRM(at, &nowEntry); at == 0 || at >= len(code) {
		return
	}
	in.opcode = code[at]
	if nowNames[in.opcode] == "" {
		in.bad, in.length = true, in.prefixes+1
		return
	}
	in.entry, in.length = &nowEntry, at+1
}

// nowNames are the suffix opcodes of 3DNow! (AMD64 Architecture Programmer's Manual, volume 3,
// appendix A).
var nowNames = [256]string{
	0x0c: "pi2fw", 0x0d: "pi2fd", 0x1c: "pf2iw", 0x1d: "pf2id", 0x8a: "pfnacc", 0x8e: "pfpnacc", 0x90: "pfcmpge",
	0x94: "pfmin", 0x96: "pfrcp", 0x97: "pfrsqrt", 0x9a: "pfsub", 0x9e: "pfadd", 0xa0: "pfcmpgt", 0xa4: "pfmax",
	0xa6: "pfrcpit1", 0xa7: "pfrsqit1", 0xaa: "pfsubr", 0xae: "pfacc", 0xb0: "pfcmpeq", 0xb4: "pfmul",
	0xb6: "pfrcpit2", 0xb7: "pmulhrw", 0xbb: "pswapd", 0xbf: "pavgusb",
}

// isCall reports whether the instruction is a near or far call.
func (in *x86Inst) isCall() bool {
	return in.entry != nil && strings.HasPrefix(in.entry.intel, "call")
}
