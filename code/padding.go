package code

import (
	"encoding/binary"

	"dbg/arch"
)

// Padding returns the number of bytes at the start of b that are padding of compilers or linkers:
// instructions without effect, traps, and zeros.
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

// PaddingAtEnd returns the number of bytes of Padding at the end of b, after the instruction that
// ends the last path: a return or a jump. It decodes all instructions in order, from the first
// one on.
func PaddingAtEnd(a *arch.Arch, b []byte) int {
	end, ended := 0, false
	for at := 0; at < len(b); {
		if n := filler(a, b[at:]); n > 0 && ended {
			at += n
			continue
		}
		in := Decode(a, b[at:])
		n := max(int(in.Len), a.MinInstr)
		ended = in.Next == Return || in.Next == Jump || in.Next == Indirect || in.Next == Trap
		at += n
		end = min(at, len(b))
	}
	return len(b) - end
}

// filler returns the length of a padding instruction, or 0 if it is not one.
func filler(a *arch.Arch, b []byte) int {
	switch a {
	case arch.ARM64:
		return fixedFiller(b, 4, 0xd503201f, func(w uint32) bool { return w&0xffe0001f == 0xd4200000 }) // NOP, BRK
	case arch.ARM:
		return fixedFiller(b, 4, 0xe320f000, func(w uint32) bool { return w == 0xe1a00000 || w&0xfff000f0 == 0xe7f000f0 }) // NOP, MOV r0, r0, UDF
	case arch.RISCV64:
		if len(b) >= 2 {
			switch binary.LittleEndian.Uint16(b) {
			case 0, 1, 0x9002: // zeros, C.NOP, C.EBREAK
				return 2
			}
		}
		if len(b) == 2 || len(b) == 3 {
			return 0
		}
		return fixedFiller(b, 4, 0x13, func(w uint32) bool { return w == 0x100073 }) // NOP, EBREAK
	}
	return x86Filler(a, b)
}

// fixedFiller is filler for instructions of four bytes. Fewer remaining bytes are not an
// instruction.
func fixedFiller(b []byte, size int, nop uint32, is func(uint32) bool) int {
	if len(b) < size {
		return len(b)
	}
	if w := binary.LittleEndian.Uint32(b); w == nop || w == 0 || is(w) {
		return size
	}
	return 0
}

func x86Filler(a *arch.Arch, b []byte) int {
	switch {
	case b[0] == 0, b[0] == 0xcc, b[0] == 0x90:
		return 1
	case len(b) >= 2 && b[0] == 0x0f && b[1] == 0x0b: // UD2
		return 2
	}
	n := prefixes(b)
	rest := b[n:]
	switch {
	case len(rest) >= 1 && n > 0 && rest[0] == 0x90: // xchg %ax,%ax
		return n + 1
	case len(rest) >= 3 && rest[0] == 0x0f && rest[1] == 0x1f: // NOP with an operand
	case a == arch.I386 && len(rest) >= 2 && (rest[0] == 0x8d || rest[0] == 0x89): // lea 0(%esi),%esi; mov %esi,%esi
		if in := Decode(a, b); in.Op != Add || in.Dst != in.Src || in.Imm != 0 {
			return 0
		}
	default:
		return 0
	}
	if in := Decode(a, b); in.Next != Bad {
		return int(in.Len)
	}
	return 0
}
