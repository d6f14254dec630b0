package frames

import (
	"dbg/arch"
	"dbg/row"
	"dbg/target"
)

// Strategy is the way in which a frame was found.
type Strategy uint8

const (
	Context Strategy = iota // the thread's own registers
	Sigreturn
	GoSched // what Go's runtime keeps of a goroutine whose stack waits
	JIT     // a table of code that the program made while it ran
	CFI
	Compact
	PLT
	Prologue
	FP
	SCS
	Scan

	strategies // how many there are
)

// ByTable reports whether a table of the module says where the caller is.
func (s Strategy) ByTable() bool { return s == JIT || s == CFI || s == Compact }

func (s Strategy) String() string {
	return [...]string{"context", "sigreturn", "gosched", "jit", "cfi", "compact", "plt", "prologue", "fp", "scs", "scan"}[s]
}

// Trust says how far a frame can be relied on, in falling order.
type Trust uint8

const (
	Exact     Trust = iota // the thread's own registers, or said by the table and borne out by the code
	Table                  // a table says so
	Heuristic              // analysis of instructions, or the frame pointer convention
	Guess                  // a search of the stack
)

func (t Trust) String() string {
	return [...]string{"exact", "table", "heuristic", "guess"}[t]
}

// Attempt is a strategy that did not find a frame, and why.
type Attempt struct {
	Strategy Strategy
	Why      string
}

// Frame is one activation of a function: the machine's state as it is, or will
// be again, when control is in that function. Inlined calls share their
// caller's Frame.
//
// A Frame that the iterator yields is valid until the next one is asked for;
// Clone keeps it.
type Frame struct {
	Index int

	PC target.Addr
	// PCIsReturnAddress says that PC is the address after a call, so that code
	// and variables are looked up at PC-1. False for frame 0 and for a frame that a
	// signal interrupted.
	PCIsReturnAddress bool

	// CFA is the canonical frame address of this frame; it is known when a row or a
	// heuristic gave the caller, and HasCFA says so.
	CFA    target.Addr
	HasCFA bool

	// Signal says that this frame is a signal trampoline (the kernel's
	// sigreturn code): its caller was interrupted, not calling.
	Signal bool

	// Regs has the registers as this frame sees them.
	Regs arch.Registers

	// How this frame was found (not how its caller will be).
	Strategy Strategy
	Trust    Trust
	Attempts []Attempt

	// Tries is the evidence of how this frame was found, if the walk was told to Record it.
	Tries []Try

	// Module is where PC is, or nil.
	Module *Module

	places row.Places

	// Registers whose value is worth less than Table: the way to them led through a heuristic
	// or a guess.
	heuristic, guess arch.RegSet
}

// RegisterTrust says how far the value of a register that is known can be relied
// on. The PC and the stack pointer are worth what the frame is. Another register's value rests on
// every row on the way to it, which nothing but the tables themselves speaks for: it is
// exact in frame 0 only.
func (f *Frame) RegisterTrust(r arch.Reg) Trust {
	switch {
	case f.Index == 0, f.Regs.Arch != nil && (r == f.Regs.Arch.PC || r == f.Regs.Arch.SP):
		return f.Trust
	case f.guess.Has(r):
		return Guess
	case f.heuristic.Has(r):
		return Heuristic
	}
	return Table
}

// LookupPC is the address at which to look up the frame's function, line and
// variables: PC-1 after a call, PC otherwise.
func (f *Frame) LookupPC() target.Addr {
	if f.PCIsReturnAddress {
		return f.PC - 1
	}
	return f.PC
}

// Clone returns a copy that stays valid.
func (f *Frame) Clone() *Frame {
	c := *f
	c.Attempts = append([]Attempt(nil), f.Attempts...)
	return &c
}

// Place says where a frame's register can be changed.
type Place uint8

const (
	Nowhere  Place = iota // not known, or computed: it can't be assigned
	InMemory              // saved at an address
	Live                  // still in the thread's own register
)

// Where returns where the frame's value of r is kept: assigning to it there
// changes it for this frame and for no inner one that has saved its own.
func (f *Frame) Where(r arch.Reg) (Place, target.Addr) {
	switch {
	case f.places.InMemory.Has(r):
		return InMemory, f.places.Addr[r]
	case f.places.Live.Has(r):
		return Live, 0
	}
	return Nowhere, 0
}
