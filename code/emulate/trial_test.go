//go:build linux && amd64

package emulate

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"

	"golang.org/x/sys/unix"
)

// trial is the state in which an instruction is executed.
type trial struct {
	code []byte
	regs Regs
}

// randomFor returns random numbers that depend on the instruction only.
func randomFor(code []byte) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write(code)
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// interesting returns a random number, often one near the limits of a size.
func interesting(rng *rand.Rand) uint64 {
	n := rng.Uint64()
	switch rng.IntN(8) {
	case 0:
		return uint64(int64(int8(n)))
	case 1:
		return uint64(1)<<(n>>8%64) + uint64(int64(int8(n))>>5)
	case 2:
		return n & 0x8000000080008080
	case 3, 4:
		return n >> 17 // an address
	case 5:
		return n >> 32
	}
	return n
}

// inArena returns an address in the arena; most are aligned for vectors.
func inArena(rng *rand.Rand) uint64 {
	offset := uint64(arenaSize/4 + rng.IntN(arenaSize/2))
	if rng.IntN(4) != 0 {
		offset &^= 63
	}
	return arenaBase + offset
}

// newTrial chooses a state for an instruction, in which its memory operand is in the arena. It puts
// interesting numbers to the memory operand and to the top of the stack, and it sets the distances
// that normalized has cleared.
func newTrial(code []byte, rng *rand.Rand, arena []byte) trial {
	l, _ := parse(code)
	t := trial{code: append([]byte(nil), code...)}
	r := &t.regs
	for i := range r.GPR {
		r.GPR[i] = interesting(rng)
	}
	r.RIP = codeBase + uint64(rng.IntN(16))
	r.Flags = rng.Uint64()&(statusFlags|flagDF) | 0x202
	if rng.IntN(8) != 0 {
		r.GPR[rsp] = inArena(rng)
		r.GPR[rbp] = inArena(rng)
	}
	if rng.IntN(4) == 0 { // of string instructions
		r.GPR[rsi], r.GPR[rdi] = inArena(rng), inArena(rng)
	}
	if rng.IntN(4) == 0 { // of shifts
		r.GPR[rcx] &= 0x3f
	}
	if rng.IntN(2) == 0 { // of divisions
		r.GPR[rax], r.GPR[rdx] = r.GPR[rax]&0xff, 0
	}
	if l.isRelativeBranch() {
		imm := t.code[l.length-l.immLen:]
		imm[0] = byte(rng.Uint32())
		if l.immLen == 4 {
			binary.LittleEndian.PutUint32(imm, rng.Uint32()>>4)
		}
	}
	t.place(&l, rng)
	for _, addr := range []uint64{inArena(rng), t.operandAddress(), r.GPR[rsp], r.GPR[rbp]} {
		if offset := addr - arenaBase; offset <= arenaSize-8 {
			binary.LittleEndian.PutUint64(arena[offset:], interesting(rng))
		}
	}
	return t
}

// place chooses registers, segment bases and displacements such that the memory operand is in the
// arena. An index register's scale makes the address inexact.
func (t *trial) place(l *layout, rng *rand.Rand) {
	r := &t.regs
	r.FSBase, r.GSBase = uint64(rng.IntN(1<<20)), uint64(rng.IntN(1<<20))
	address := inArena(rng)
	if l.opmap == map1Byte && l.scheme == legacy && l.opcode >= 0xa0 && l.opcode <= 0xa3 {
		size := int(l.immLen)
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], address)
		copy(t.code[len(t.code)-size:], b[:size])
		r.FSBase, r.GSBase = 0, 0
		return
	}
	if !l.hasModRM || l.mod == 3 {
		return
	}
	var o Op
	o.memoryOperand(l)
	switch l.segment {
	case fsSegment:
		address -= r.FSBase
	case gsSegment:
		address -= r.GSBase
	}
	distance := int64(address) - int64(l.disp)
	if l.scheme == evex && l.dispLen == 1 {
		distance = int64(address) - int64(l.disp)*t.vectorLength(l)
	}
	switch {
	case o.base == ripBase:
		distance = int64(address - r.RIP - uint64(l.length))
		binary.LittleEndian.PutUint32(t.code[l.dispAt:], uint32(distance))
	case o.base == noBase && o.index == noBase && l.segment == fsSegment:
		r.FSBase += uint64(distance)
	case o.base == noBase && o.index == noBase && l.segment == gsSegment:
		r.GSBase += uint64(distance)
	case o.base == noBase && o.index == noBase:
		binary.LittleEndian.PutUint32(t.code[l.dispAt:], uint32(address))
	case o.base == noBase:
		r.GPR[o.index] = uint64(distance >> o.scale)
	case o.base == o.index:
		r.GPR[o.base] = uint64(distance / (1 + 1<<o.scale))
	case o.index == noBase || l.usesVectorIndex():
		r.GPR[o.base] = uint64(distance)
	default:
		r.GPR[o.base] = uint64(distance) - r.GPR[o.index]<<o.scale
	}
}

// vectorLength returns the length in bytes that L'L of EVEX encodes. It is the unit of an 8-bit
// displacement, if the operand is a whole vector: SDM volume 2, 2.7.5.
func (t *trial) vectorLength(l *layout) int64 {
	at := l.dispAt - 3
	if l.hasSIB {
		at--
	}
	return 16 << (t.code[at] >> 5 & 3)
}

// usesVectorIndex reports whether the index is a vector register: gathers and scatters.
func (l *layout) usesVectorIndex() bool {
	return l.scheme != legacy && l.opmap == map0F38 && (l.opcode&0xfc == 0x90 || l.opcode&0xfc == 0xa0)
}

// operandAddress returns the address of the memory operand, or 0.
func (t *trial) operandAddress() uint64 {
	l, _ := parse(t.code)
	if !l.hasModRM || l.mod == 3 {
		return 0
	}
	o := Op{length: l.length, segment: l.segment, addr32: l.addr32}
	o.memoryOperand(&l)
	return o.address(&t.regs, memoryPlace)
}

// registers returns the state as ptrace has it.
func (p *processor) registers(r *Regs) unix.PtraceRegs {
	regs := p.idle
	for i, field := range fields(&regs) {
		*field = r.GPR[i]
	}
	regs.Rip, regs.Eflags, regs.Fs_base, regs.Gs_base = r.RIP, r.Flags, r.FSBase, r.GSBase
	return regs
}

// regsOf returns the state that ptrace has read.
func regsOf(regs *unix.PtraceRegs) (r Regs) {
	for i, field := range fields(regs) {
		r.GPR[i] = *field
	}
	r.RIP, r.Flags, r.FSBase, r.GSBase = regs.Rip, regs.Eflags, regs.Fs_base, regs.Gs_base
	return r
}

func fields(r *unix.PtraceRegs) [16]*uint64 {
	return [16]*uint64{
		&r.Rax, &r.Rcx, &r.Rdx, &r.Rbx, &r.Rsp, &r.Rbp, &r.Rsi, &r.Rdi,
		&r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15,
	}
}
