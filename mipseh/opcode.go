package mipseh

import (
	"fmt"
	"strings"

	"dbg/arch"
)

// Kind is the kind of an instruction.
type Kind uint8

const (
	Spare    Kind = iota // a byte without a meaning
	AddSP                // SP moves up by N units of the stack's alignment
	SetSP                // SP is register Reg
	ResetSP              // the CFA counts from SP again
	Push                 // the registers Regs were saved, each below the one before it
	Finish               // the end
	NoUnwind             // the function can't be unwound
	Nop
	CutShort // the data ends within the instruction
)

// Op is an instruction.
type Op struct {
	Kind Kind
	Size int    // in bytes
	N    uint64 // for AddSP
	Reg  uint8  // for SetSP
	regs [12]uint8
	n    int
}

// Regs returns the registers that a Push saves, by DWARF's numbers, the one at the highest address first.
func (op *Op) Regs() []uint8 { return op.regs[:op.n] }

func (op *Op) add(regs ...int) {
	for _, r := range regs {
		op.regs[op.n] = uint8(r)
		op.n++
	}
}

// down adds the registers from lo+n down to lo.
func (op *Op) down(lo, n int) {
	for r := lo + n; r >= lo; r-- {
		op.add(r)
	}
}

// decode decodes the first instruction of b, which is not empty.
func decode(b []byte) (op Op) {
	c := b[0]
	x := int(c & 7)
	op.Size = 1
	switch {
	case c <= 0x39:
		op.Kind, op.N = AddSP, uint64(c)+1
	case c < 0x40:
		// 0x3a to 0x3f: libgcc refuses them.
	case c < 0x50:
		op.Kind = Push
		op.add(ra)
		if c >= 0x48 {
			op.add(fp)
		}
		op.down(firstSaved, x)
	case c < 0x58:
		op.Kind, op.Reg = SetSP, uint8(firstSaved+x)
	case c == 0x58:
		return largeAdd(b)
	case c == 0x59 || c == 0x5a:
		return pushRange(b)
	case c < 0x60:
		op.Kind = [...]Kind{ResetSP, Finish, NoUnwind, SetSP, Nop}[c-0x5b]
		op.Reg = fp
	case c < 0x6c:
		op.Kind = Push
		op.down(firstFloat+20, int(c&15))
	case c < 0x70: // MIPS16
		op.Kind = Push
		op.add(ra)
		lo := 18 + int(c&3)
		op.down(lo, 23-lo)
		op.add(17, 16)
	case c < 0x80:
		op.Kind = Push
		op.add(ra)
		if c&8 != 0 {
			op.add(fp)
		}
		op.add(gp)
		op.down(firstSaved, x)
	}
	return op
}

// largeAdd decodes an increment with an LEB128 number.
func largeAdd(b []byte) Op {
	op := Op{Kind: AddSP, Size: 1}
	for shift := 0; shift < 28; shift += 7 {
		if op.Size == len(b) {
			return Op{Kind: CutShort, Size: len(b)}
		}
		c := b[op.Size]
		op.Size++
		op.N |= uint64(c&0x7f) << shift
		if c < 0x80 {
			op.N += 129
			return op
		}
	}
	return Op{Kind: Spare, Size: op.Size} // larger than any frame
}

// pushRange decodes a push of any consecutive registers.
func pushRange(b []byte) Op {
	if len(b) < 2 {
		return Op{Kind: CutShort, Size: len(b)}
	}
	op := Op{Kind: Push, Size: 2}
	lo, n := int(b[1]>>3), int(b[1]&7)
	if lo+n > 31 {
		return Op{Kind: Spare, Size: 2}
	}
	if b[0] == 0x5a {
		lo += firstFloat
	}
	op.down(lo, n)
	return op
}

// Text returns the instruction in words. The ABI gives the unit of increments.
func (op *Op) Text(abi ABI) string {
	switch op.Kind {
	case AddSP:
		return fmt.Sprintf("sp += %d", op.N*uint64(abi.stackAlign()))
	case SetSP:
		return "sp = " + names[op.Reg]
	case Push:
		var list []string
		for _, r := range op.Regs() {
			list = append(list, names[r])
		}
		return "push " + strings.Join(list, ", ")
	}
	return [...]string{Spare: "[spare]", ResetSP: "cfa = sp",
		Finish: "finish", NoUnwind: "can't unwind", Nop: "nop", CutShort: "[cut short]"}[op.Kind]
}

var names = arch.MIPS32.RegNames
