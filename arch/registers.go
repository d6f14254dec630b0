package arch

import "math/bits"

// RegSet is a set of registers.
type RegSet [2]uint64

// Has reports whether r is in the set.
func (s *RegSet) Has(r Reg) bool { return r < MaxRegs && s[r>>6]&(1<<(r&63)) != 0 }

// Add puts r into the set. An r at or above MaxRegs is ignored.
func (s *RegSet) Add(r Reg) {
	if r < MaxRegs {
		s[r>>6] |= 1 << (r & 63)
	}
}

// Remove takes r out of the set.
func (s *RegSet) Remove(r Reg) {
	if r < MaxRegs {
		s[r>>6] &^= 1 << (r & 63)
	}
}

// Len returns the number of registers in the set.
func (s *RegSet) Len() int { return bits.OnesCount64(s[0]) + bits.OnesCount64(s[1]) }

// SetOf makes a set.
func SetOf(regs ...Reg) RegSet {
	var s RegSet
	for _, r := range regs {
		s.Add(r)
	}
	return s
}

// Registers is a register file of 64-bit slots, each known or unknown. The
// zero value has no architecture and knows nothing. It is a plain value:
// assignment copies it.
//
// A vector register's slot holds its low 64 bits where a target supplies them
// at all. Ask the target for the whole register.
type Registers struct {
	Arch      *Arch
	low       Bank
	highKnown uint64
	high      [MaxRegs - lowRegs]uint64
}

// lowRegs is the number of registers in a Bank.
const lowRegs = 64

// Bank is the register file of the fast path: registers 0 to 63 without bounds checks. Bit r of
// Known is set if register r is known. Only then does Value[r] mean anything. Writing the slots of a
// frame first and Known once takes 4.9 ns, and Set for each register 5.2 ns (BenchmarkLookupApply
// in package frames, best of 12 runs, AMD EPYC).
type Bank struct {
	Known uint64
	Value [lowRegs]uint64
}

// Get returns the value of r and whether it is known. The value of an unknown register is 0 and
// means nothing.
func (f *Registers) Get(r Reg) (uint64, bool) {
	if !f.IsKnown(r) {
		return 0, false
	}
	return f.slot(r), true
}

// slot returns what the slot of r holds, known or not. r must be below MaxRegs.
func (f *Registers) slot(r Reg) uint64 {
	if r < lowRegs {
		return f.low.Value[r]
	}
	return f.high[r-lowRegs]
}

// Set makes r known. An r at or above MaxRegs is ignored.
func (f *Registers) Set(r Reg, v uint64) {
	switch {
	case r < lowRegs:
		f.low.Value[r] = v
		f.low.Known |= 1 << r
	case r < MaxRegs:
		f.high[r-lowRegs] = v
		f.highKnown |= 1 << (r - lowRegs)
	}
}

// Forget makes r unknown. Stale still returns its value.
func (f *Registers) Forget(r Reg) {
	switch {
	case r < lowRegs:
		f.low.Known &^= 1 << r
	case r < MaxRegs:
		f.highKnown &^= 1 << (r - lowRegs)
	}
}

// Stale returns the value that r had before it was forgotten, which is the value in an inner frame
// if the registers were unwound. It is 0 if r never had a value. Only a guess may rest on it.
func (f *Registers) Stale(r Reg) uint64 {
	if r >= MaxRegs {
		return 0
	}
	return f.slot(r)
}

// Known returns the set of known registers.
func (f *Registers) Known() RegSet { return RegSet{f.low.Known, f.highKnown} }

// IsKnown reports whether r is known.
func (f *Registers) IsKnown(r Reg) bool {
	if r < lowRegs {
		return f.low.Known>>r&1 != 0
	}
	return r < MaxRegs && f.highKnown>>(r-lowRegs)&1 != 0
}

// PC returns the program counter and whether it is known.
func (f *Registers) PC() (uint64, bool) { return f.Get(f.Arch.PC) }

// SP returns the stack pointer and whether it is known.
func (f *Registers) SP() (uint64, bool) { return f.Get(f.Arch.SP) }

// Keep makes every register that is not in s unknown.
func (f *Registers) Keep(s RegSet) {
	f.low.Known &= s[0]
	f.highKnown &= s[1]
}

// Low returns the bank of registers 0 to 63. It points into f: writing to it changes f.
func (f *Registers) Low() *Bank { return &f.low }

// KeepLow forgets the registers above 63.
func (f *Registers) KeepLow() { f.highKnown = 0 }
