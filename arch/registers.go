package arch

import "math/bits"

// RegSet is a set of registers.
type RegSet [2]uint64

// Has reports whether r is in the set.
func (s *RegSet) Has(r Reg) bool { return r < MaxRegs && s[r>>6]&(1<<(r&63)) != 0 }

// Add adds r to the set. It ignores an r at or above MaxRegs.
func (s *RegSet) Add(r Reg) {
	if r < MaxRegs {
		s[r>>6] |= 1 << (r & 63)
	}
}

// Remove removes r from the set.
func (s *RegSet) Remove(r Reg) {
	if r < MaxRegs {
		s[r>>6] &^= 1 << (r & 63)
	}
}

// Len returns the number of registers in the set.
func (s *RegSet) Len() int { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }

// SetOf returns the set of the given registers.
func SetOf(regs ...Reg) RegSet {
	var s RegSet
	for _, r := range regs {
		s.Add(r)
	}
	return s
}

// Registers is a register file of 64-bit slots, each known or unknown. The zero value has no
// architecture and no known register. It is a plain value: assignment copies it.
//
// The slot of a vector register holds its low 64 bits, if the target supplies them. The target's
// WideRegister returns the whole register.
type Registers struct {
	Arch  *Arch
	known RegSet
	value [MaxRegs]uint64
}

// Get returns the value of r and whether it is known. The value of an unknown register is 0 and has
// no meaning.
func (f *Registers) Get(r Reg) (uint64, bool) {
	if !f.known.Has(r) {
		return 0, false
	}
	return f.value[r], true
}

// Set sets the value of r and makes it known. It ignores an r at or above MaxRegs.
func (f *Registers) Set(r Reg, v uint64) {
	if r < MaxRegs {
		f.value[r] = v
		f.known.Add(r)
	}
}

// Forget makes r unknown and clears its slot.
func (f *Registers) Forget(r Reg) {
	if r < MaxRegs {
		f.value[r] = 0
		f.known.Remove(r)
	}
}

// Lose makes r unknown and does not change its slot.
func (f *Registers) Lose(r Reg) { f.known.Remove(r) }

// Known returns the set of known registers.
func (f *Registers) Known() RegSet { return f.known }

// IsKnown reports whether r is known.
func (f *Registers) IsKnown(r Reg) bool { return r < MaxRegs && f.known[r>>6]>>(r&63)&1 != 0 }

// IsLowKnown is IsKnown for registers below 64.
func (f *Registers) IsLowKnown(r Reg) bool { return f.known[0]>>(r&63)&1 != 0 }

// Raw returns the contents of the slot of r, known or not. The caller has checked IsKnown. r must
// be below MaxRegs.
func (f *Registers) Raw(r Reg) uint64 { return f.value[r] }

// SetRaw sets the slot of r, and does not make r known: Pass does that. The two together are the
// fast way to change several registers. r must be below MaxRegs.
func (f *Registers) SetRaw(r Reg, v uint64) { f.value[r] = v }

// RawLow is Raw for registers below 64.
func (f *Registers) RawLow(r Reg) uint64 { return f.value[r&63] }

// Low returns the slots of all registers below 64, which may be changed as with SetRaw.
func (f *Registers) Low() *[64]uint64 { return (*[64]uint64)(f.value[:64]) }

// Pass makes every register unknown that is not in keep, and then those in set known.
func (f *Registers) Pass(keep, set *RegSet) {
	f.known[0] = f.known[0]&keep[0] | set[0]
	if f.known[1]|set[1] != 0 {
		f.known[1] = f.known[1]&keep[1] | set[1]
	}
}

// PassLow is Pass for sets that hold only registers below 64. All others become unknown.
func (f *Registers) PassLow(keep, set uint64) { f.known[0], f.known[1] = f.known[0]&keep|set, 0 }

// PC returns the program counter and whether it is known.
func (f *Registers) PC() (uint64, bool) { return f.Get(f.Arch.PC) }

// SP returns the stack pointer and whether it is known.
func (f *Registers) SP() (uint64, bool) { return f.Get(f.Arch.SP) }

// Keep makes every register unknown that is not in s.
func (f *Registers) Keep(s RegSet) {
	f.known[0] &= s[0]
	f.known[1] &= s[1]
}
