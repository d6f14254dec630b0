package frames

import (
	"dbg/arch"
	"dbg/frames/module"
	"dbg/row"
	"dbg/target"
)

// Strategy is the method by which a frame was found.
type Strategy uint8

const (
	Context Strategy = iota // the thread's own registers
	Sigreturn
	GoSched // the registers that Go's runtime saved for a goroutine whose stack waits
	DynInfo // what the program registered with libunwind for code that it made
	JIT     // a table for code that the program generated at run time
	CFI
	Compact
	EHABI  // ARM's exception tables, and the code in prologues and epilogues
	PData  // the function table of Windows
	ORC    // the tables of the Linux kernel
	SFrame // SFrame, and the code for the registers that it leaves out
	PLT
	Prologue
	FP
	SCS
	Scan

	strategies // number of strategies
)

// howByKind has the strategy of the frames that a kind of table finds.
var howByKind = [...]Strategy{module.KindCFI: CFI, module.KindCompact: Compact, module.KindJIT: JIT, module.KindEHABI: EHABI,
	module.KindPData: PData, module.KindORC: ORC, module.KindSFrame: SFrame, module.KindDynInfo: DynInfo}

// Tables is the set of strategies that use a table of a module.
const Tables StrategySet = 1<<DynInfo | 1<<JIT | 1<<CFI | 1<<Compact | 1<<EHABI | 1<<PData | 1<<ORC | 1<<SFrame

// ByTable reports whether the strategy uses a table of the module.
func (s Strategy) ByTable() bool { return Tables.Has(s) }

func (s Strategy) String() string {
	return [...]string{"context", "sigreturn", "gosched", "dyninfo", "jit", "cfi", "compact", "ehabi", "pdata", "orc", "sframe", "plt", "prologue", "fp", "scs",
		"scan"}[s]
}

// Trust is the reliability of a frame, in descending order.
type Trust uint8

const (
	Exact     Trust = iota // the thread's own registers, or from a table that the code confirms
	Table                  // from a table
	Heuristic              // analysis of instructions, or the frame pointer convention
	Guess                  // a search of the stack
)

func (t Trust) String() string {
	return [...]string{"exact", "table", "heuristic", "guess"}[t]
}

// Attempt is a strategy that did not find a frame, and the reason.
type Attempt struct {
	Strategy Strategy
	Why      string
}

// Frame is one activation of a function: the machine's state at the time when control is, or will
// again be, in that function. Inlined calls share their caller's Frame.
//
// A Frame from the iterator is valid until the next iteration; Clone makes a lasting copy.
type Frame struct {
	Index int

	PC target.Addr
	// PCIsReturnAddress is set if PC is the address after a call, so that code and variables are
	// looked up at PC-1. It is false for frame 0 and for a frame that a signal interrupted.
	PCIsReturnAddress bool

	// CFA is the canonical frame address of this frame. HasCFA is set if it is known, because a
	// row or a heuristic found the caller.
	CFA    target.Addr
	HasCFA bool

	// Signal is set if this frame is a signal trampoline (the kernel's sigreturn code): its caller
	// was interrupted, not calling.
	Signal bool

	// Regs holds the registers as this frame sees them.
	Regs arch.Registers

	// How this frame was found (not how its caller will be).
	Strategy Strategy
	Trust    Trust
	Attempts []Attempt

	// Tries describes how this frame was found, if Walk.Record is set.
	Tries []Try

	// Module is the module at PC, or nil.
	Module *Module

	places row.Places

	// Registers with a lower trust than Table, because a heuristic or a guess was needed to find
	// them.
	heuristic, guess arch.RegSet
}

// RegisterTrust returns the reliability of the value of a known register. The PC and the stack
// pointer have the frame's trust. Any other register depends on every row on the way to it, and
// only the tables themselves support those: it is exact in frame 0 only.
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

// LookupPC returns the address for look-ups of the frame's function, line and variables: PC-1 after
// a call, PC otherwise.
func (f *Frame) LookupPC() target.Addr {
	if f.PCIsReturnAddress {
		return f.PC - 1
	}
	return f.PC
}

// Clone returns a copy that stays valid. The copy shares Tries and Module.
func (f *Frame) Clone() *Frame {
	c := *f
	c.Attempts = append([]Attempt(nil), f.Attempts...)
	return &c
}

// Place is the kind of place of a frame's register.
type Place uint8

const (
	Nowhere  Place = iota // not known, or computed: not assignable
	InMemory              // saved at an address
	Live                  // still in the thread's own register
)

// Where returns the place of the frame's value of r. An assignment there changes it for this frame,
// but not for inner frames that have saved their own value.
func (f *Frame) Where(r arch.Reg) (Place, target.Addr) {
	switch {
	case f.places.InMemory.Has(r):
		return InMemory, f.places.Addr[r]
	case f.places.Live.Has(r):
		return Live, 0
	}
	return Nowhere, 0
}
