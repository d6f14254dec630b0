package ehabi

import "encoding/binary"

// Code is a sequence of instructions: at most 3 bytes of a first word, then bytes of whole words,
// each from the most significant byte on. It aliases the section.
type Code struct {
	head  uint32 // its last n bytes are the first instructions
	n     uint8
	words []byte
}

// set makes c the instructions of a word whose first byte is the number of further words, which follow
// in rest; n bytes of the word itself are instructions. It returns false if the words are cut short.
func (c *Code) set(w uint32, n uint8, rest []byte) bool {
	size := int(w>>24) * 4
	if size > len(rest) {
		return false
	}
	*c = Code{head: w >> (8 * (3 - n)), n: n, words: rest[:size:size]}
	return true
}

// Len returns the number of bytes, at most 1023.
func (c *Code) Len() int { return int(c.n) + len(c.words) }

// At returns byte i.
func (c *Code) At(i int) byte {
	if n := int(c.n); i < n {
		return byte(c.head >> (8 * (n - 1 - i)))
	} else {
		i -= n
	}
	return byte(binary.LittleEndian.Uint32(c.words[i&^3:]) >> (24 - 8*(i&3)))
}

// OpKind is the kind of an instruction (EHABI32, section 10.3, table 4).
type OpKind uint8

const (
	MoveVSP        OpKind = iota // vsp += N
	SetVSP                       // vsp = r[First]
	PopCore                      // pop the core registers in Mask
	PopVFP                       // pop Count D registers from First on, as VPUSH saves them
	PopVFPX                      // the same as FSTMFDX saves them: with another word
	PopWMMX                      // pop Count wR registers from First on
	PopWMMXControl               // pop the wCGR registers in Mask
	PopRAAuth                    // pop the return address authentication code
	PACModifier                  // vsp is the modifier of the return address authentication code
	Finish
	Refuse   // refuse to unwind
	Reserved // for moves between registers
	Spare
	CutShort // the code ends in the instruction
	TooFar   // vsp would move by more than an address has
)

// Op is one instruction.
type Op struct {
	Kind  OpKind
	Size  int // in bytes
	N     int64
	First uint8
	Count uint8
	Mask  uint16
}

// Op decodes the instruction at byte i, which must exist.
func (c *Code) Op(i int) Op {
	b := c.At(i)
	switch {
	case b < 0x40:
		return Op{Kind: MoveVSP, Size: 1, N: int64(b&0x3f)<<2 + 4}
	case b < 0x80:
		return Op{Kind: MoveVSP, Size: 1, N: -(int64(b&0x3f)<<2 + 4)}
	case b < 0x90:
		return c.two(i, func(x byte) Op {
			if m := uint16(b&15)<<8 | uint16(x); m != 0 {
				return Op{Kind: PopCore, Mask: m << 4}
			}
			return Op{Kind: Refuse}
		})
	case b == 0x9d, b == 0x9f:
		return Op{Kind: Reserved, Size: 1}
	case b < 0xa0:
		return Op{Kind: SetVSP, Size: 1, First: b & 15}
	case b < 0xb0: // r4 to r[4+n], and r14
		return Op{Kind: PopCore, Size: 1, Mask: (2<<(b&7)-1)<<4 | uint16(b&8)<<11}
	case b < 0xc0:
		return c.opB(i, b)
	case b < 0xd0:
		return c.opC(i, b)
	case b < 0xd8:
		return Op{Kind: PopVFP, Size: 1, First: 8, Count: b&7 + 1}
	}
	return Op{Kind: Spare, Size: 1}
}

// opB decodes 0xb0 to 0xbf.
func (c *Code) opB(i int, b byte) Op {
	switch b {
	case 0xb0:
		return Op{Kind: Finish, Size: 1}
	case 0xb1:
		return c.two(i, func(x byte) Op {
			if x == 0 || x > 15 {
				return Op{Kind: Spare}
			}
			return Op{Kind: PopCore, Mask: uint16(x)}
		})
	case 0xb2:
		return c.far(i)
	case 0xb3:
		return c.two(i, func(x byte) Op { return vfp(PopVFPX, x, 0, 16) })
	case 0xb4:
		return Op{Kind: PopRAAuth, Size: 1}
	case 0xb5:
		return Op{Kind: PACModifier, Size: 1}
	case 0xb6, 0xb7:
		return Op{Kind: Spare, Size: 1}
	}
	return Op{Kind: PopVFPX, Size: 1, First: 8, Count: b&7 + 1}
}

// opC decodes 0xc0 to 0xcf.
func (c *Code) opC(i int, b byte) Op {
	switch b {
	case 0xc6:
		return c.two(i, func(x byte) Op { return vfp(PopWMMX, x, 0, 16) })
	case 0xc7:
		return c.two(i, func(x byte) Op {
			if x == 0 || x > 15 {
				return Op{Kind: Spare}
			}
			return Op{Kind: PopWMMXControl, Mask: uint16(x)}
		})
	case 0xc8:
		return c.two(i, func(x byte) Op { return vfp(PopVFP, x, 16, 32) })
	case 0xc9:
		return c.two(i, func(x byte) Op { return vfp(PopVFP, x, 0, 32) })
	}
	if b < 0xc6 {
		return Op{Kind: PopWMMX, Size: 1, First: 10, Count: b&7 + 1}
	}
	return Op{Kind: Spare, Size: 1}
}

// vfp decodes a range of registers from x: the first one relative to base, and the number less one. A
// range beyond the last register is spare.
func vfp(kind OpKind, x, base, end byte) Op {
	op := Op{Kind: kind, First: base + x>>4, Count: x&15 + 1}
	if op.First+op.Count > end {
		op.Kind = Spare
	}
	return op
}

// two decodes an instruction of two bytes from its second byte.
func (c *Code) two(i int, decode func(x byte) Op) Op {
	if i+1 >= c.Len() {
		return Op{Kind: CutShort, Size: 1}
	}
	op := decode(c.At(i + 1))
	op.Size = 2
	return op
}

// far decodes 0xb2: vsp += 0x204 + (ULEB128 << 2).
func (c *Code) far(i int) Op {
	v, at := uint64(0), i+1
	for shift := 0; ; shift += 7 {
		if at >= c.Len() {
			return Op{Kind: CutShort, Size: at - i}
		}
		b := c.At(at)
		if at++; shift >= 28 && b&0x7f != 0 || shift > 63 { // 28 bits and 2 more reach over any stack
			return Op{Kind: TooFar, Size: at - i}
		}
		if v |= uint64(b&0x7f) << shift; b < 0x80 {
			return Op{Kind: MoveVSP, Size: at - i, N: 0x204 + int64(v<<2)}
		}
	}
}

// wellFormed reports whether all instructions are valid, and only padding follows the first finish.
func (c *Code) wellFormed() bool {
	finished := false
	for i := 0; i < c.Len(); {
		op := c.Op(i)
		if op.Kind > Finish || finished && op.Kind != Finish {
			return false
		}
		finished = op.Kind == Finish
		i += op.Size
	}
	return c.Len() > 0
}
