package ptrace

import (
	"encoding/binary"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// instruction is a class of instructions that a single step must handle specially.
type instruction uint8

const (
	insnOther   instruction = iota
	insnSyscall             // syscall, sysenter, int 0x80: may wait, and saves the flags
	insnPushf               // saves the flags, with the trap flag that the step has set
	insnRepeat              // a string instruction with a rep prefix: a step does one round
)

// decode classifies an instruction: Intel SDM volume 2, 2.1.1 for the prefixes.
func decode(b []byte) instruction {
	rep := false
	for i, c := range b {
		switch {
		case c == 0xf2 || c == 0xf3:
			rep = true
		case c == 0x66 || c == 0x67 || c == 0xf0 || c == 0x2e || c == 0x36 || c == 0x3e || c == 0x26 ||
			c == 0x64 || c == 0x65 || c >= 0x40 && c <= 0x4f:
		case c == 0x0f && i+1 < len(b) && (b[i+1] == 0x05 || b[i+1] == 0x34):
			return insnSyscall
		case c == 0xcd && i+1 < len(b) && b[i+1] == 0x80:
			return insnSyscall
		case c == 0x9c:
			return insnPushf
		case rep && (c >= 0xa4 && c <= 0xa7 || c >= 0xaa && c <= 0xaf || c >= 0x6c && c <= 0x6f):
			return insnRepeat
		default:
			return insnOther
		}
	}
	return insnOther
}

// instructionAt classifies the instruction at a thread's PC.
func (p *Process) instructionAt(t *thread) instruction {
	var b [15]byte
	n, _ := p.ReadMemory(t.pc(), b[:])
	return decode(b[:n])
}

// repeatLength returns the length of the string instruction with a rep prefix at an address: the
// prefixes and one opcode byte. It returns 0 if there is none.
func (p *Process) repeatLength(a target.Addr) int {
	var b [maxInstruction]byte
	n, _ := p.ReadMemory(a, b[:])
	for i, c := range b[:n] {
		if c >= 0x6c && c <= 0x6f || c >= 0xa4 && c <= 0xaf {
			return i + 1
		}
	}
	return 0
}

func (p *Process) repeats(t *thread) bool { return p.instructionAt(t) == insnRepeat }

const trapFlag = 0x100

// trapFlag reports whether the program itself has set its trap flag. The kernel hides the flag that
// a step sets.
func (p *Process) trapFlag(t *thread) bool {
	r, err := t.registers()
	return err == nil && r.Get(kernel.Flags)&kernel.TrapFlag != 0
}

// cleanPushedFlags clears the step's trap flag in the flags that a pushf has pushed.
func (p *Process) cleanPushedFlags(t *thread) {
	r, err := t.registers()
	if err != nil {
		return
	}
	sp := target.Addr(r.Get(kernel.RSP))
	var b [2]byte
	if n, _ := p.ReadMemory(sp, b[:]); n == 2 {
		binary.LittleEndian.PutUint16(b[:], binary.LittleEndian.Uint16(b[:])&^kernel.TrapFlag)
		_, _ = p.mem.write(sp, b[:])
	}
}
