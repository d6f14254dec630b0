package instruction

import (
	"encoding/binary"

	"dbg/target"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/memory"
)

// Class is a class of instructions that a single step must handle specially.
type Class uint8

const (
	Other   Class = iota
	Syscall       // syscall, sysenter, int 0x80: may wait, and saves the flags
	Pushf         // saves the flags, with the trap flag that the step has set
	Repeat        // a string instruction with a rep prefix: a step does one round
)

// ClassAt classifies the instruction at an address. It is Other if the memory can't be read.
func ClassAt(m *memory.Memory, addr target.Addr) Class {
	var b [memory.MaxInstruction]byte
	n, _ := m.Read(addr, b[:])
	return classOf(b[:n])
}

// classOf classifies an instruction: Intel SDM volume 2, 2.1.1 for the prefixes.
func classOf(b []byte) Class {
	rep := false
	for i, c := range b {
		switch {
		case c == 0xf2 || c == 0xf3:
			rep = true
		case c == 0x66 || c == 0x67 || c == 0xf0 || c == 0x2e || c == 0x36 || c == 0x3e || c == 0x26 ||
			c == 0x64 || c == 0x65 || c >= 0x40 && c <= 0x4f:
		case c == 0x0f && i+1 < len(b) && (b[i+1] == 0x05 || b[i+1] == 0x34):
			return Syscall
		case c == 0xcd && i+1 < len(b) && b[i+1] == 0x80:
			return Syscall
		case c == 0x9c:
			return Pushf
		case rep && (c >= 0xa4 && c <= 0xa7 || c >= 0xaa && c <= 0xaf || c >= 0x6c && c <= 0x6f):
			return Repeat
		default:
			return Other
		}
	}
	return Other
}

// RepeatLength returns the length of the string instruction with a rep prefix at an address: the
// prefixes and one opcode byte. It returns 0 if there is none.
func RepeatLength(m *memory.Memory, addr target.Addr) int {
	var b [memory.MaxInstruction]byte
	n, _ := m.Read(addr, b[:])
	for i, c := range b[:n] {
		if c >= 0x6c && c <= 0x6f || c >= 0xa4 && c <= 0xaf {
			return i + 1
		}
	}
	return 0
}

// CleanPushedFlags clears the trap flag in the flags that a pushf has pushed: they are at sp, and a
// step has set the flag.
func CleanPushedFlags(m *memory.Memory, sp target.Addr) {
	var b [2]byte
	if n, _ := m.Read(sp, b[:]); n == 2 {
		binary.LittleEndian.PutUint16(b[:], binary.LittleEndian.Uint16(b[:])&^kernel.TrapFlag)
		_, _ = m.Write(sp, b[:])
	}
}
