package code

import (
	"encoding/binary"

	"dbg/arch"
)

// Padding is how many bytes at the start of b are what compilers and linkers fill gaps with: instructions that do nothing,
// traps, and zeros.
func Padding(a *arch.Arch, b []byte) int {
	at := 0
	for at < len(b) {
		n := filler(a, b[at:])
		if n == 0 {
			break
		}
		at += n
	}
	return at
}

// PaddingAtEnd is how many bytes at the end of b are Padding, behind what ends the last way there: a return or a jump. It goes over all
// instructions, one after the other, from the first one on.
func PaddingAtEnd(a *arch.Arch, b []byte) int {
	end, ended := 0, false
	for at := 0; at < len(b); {
		if n := filler(a, b[at:]); n > 0 && ended {
			at += n
			continue
		}
		in := decodeOf(a, b[at:])
		n := max(int(in.Len), a.MinInstr)
		ended = in.Next == Return || in.Next == Jump || in.Next == Indirect || in.Next == Trap
		at += n
		end = min(at, len(b))
	}
	return len(b) - end
}

func decodeOf(a *arch.Arch, b []byte) Insn {
	if a == arch.ARM64 {
		return DecodeARM64(b)
	}
	return DecodeX86(b)
}

// filler is the length of an instruction that fills a gap, 0 if it is none.
func filler(a *arch.Arch, b []byte) int {
	if a == arch.ARM64 {
		if len(b) < 4 {
			return len(b)
		}
		switch w := binary.LittleEndian.Uint32(b); {
		case w == 0xd503201f, w == 0, w&0xffe0001f == 0xd4200000: // NOP, zeros, BRK
			return 4
		}
		return 0
	}
	switch {
	case b[0] == 0, b[0] == 0xcc, b[0] == 0x90:
		return 1
	case len(b) >= 2 && b[0] == 0x0f && b[1] == 0x0b: // UD2
		return 2
	}
	n := prefixes(b)
	rest := b[n:]
	if len(rest) >= 1 && n > 0 && rest[0] == 0x90 { // xchg %ax,%ax
		return n + 1
	}
	if len(rest) >= 3 && rest[0] == 0x0f && rest[1] == 0x1f { // NOP with an operand
		if in := DecodeX86(b); in.Next != Bad {
			return int(in.Len)
		}
	}
	return 0
}
