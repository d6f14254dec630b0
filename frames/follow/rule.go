package follow

import (
	"dbg/arch"
	"dbg/code/flow"
)

// Rule describes the frame at a PC as the instructions show it, independent of a thread's
// state: the places of the return address and of the registers that the code will restore.
type Rule struct {
	Why   string // why there is no rule, or ""
	CFA   Location
	Other Location // the CFA relative to another register, if known
	// Regs is indexed like flow.Slots. If calls push the return address, it is the word below the
	// CFA; otherwise it is the caller's link register.
	Regs [flow.MaxSlots]Saved
}

// RA returns the place of the return address, on a machine whose calls push it.
func (r *Rule) RA() Location { return r.CFA.plus(-8) }

// Saved is the place of the caller's value of a callee-saved register.
type Saved struct {
	Kind Kind
	At   Location // for InStack; for InFrame only its offset
}

// Kind is the kind of place of a register's value.
type Kind uint8

const (
	AsNow   Kind = iota // in the register now
	InStack             // at a place
	InFrame             // at an offset from the CFA
	Lost                // unknown
)

// Location is an address: the current value of a register plus an offset, or a word on the stack, at
// such an address, plus an offset.
type Location struct {
	Base    arch.Reg // NoReg means unknown
	Through bool     // it is relative to a word on the stack
	Word    int64    // the word is at Base+Word
	Off     int64    // in bytes
}

var noPlace = Location{Base: arch.NoReg}

func (p Location) plus(n int64) Location {
	p.Off += n
	return p
}

// Address returns the address of the place in a frame, without reading the stack. ok is
// false if the register is unknown, or if the stack must be read.
func (p Location) Address(regs *arch.Registers) (at uint64, ok bool) {
	v, known := regs.Get(p.Base)
	return v + uint64(p.Off), known && !p.Through
}
