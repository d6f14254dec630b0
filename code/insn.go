package code

// Insn is an instruction, as far as it affects the stack. Registers have the numbers of the
// machine's encoding: 0 to 15 on x86-64. On arm64 they are 0 to 30, 31 for SP, and 64+n for Dn,
// of which a function must preserve 8 to 15.
type Insn struct {
	Len  uint8
	Next Next
	Op   Op
	Size uint8 // for Load and Store: distance from one register to the next, in bytes

	Dst  uint8 // for Load, Pop, Add, AddReg, SubReg, Const; for Store the second register
	Src  uint8 // for Store, Push, Add, AddReg, SubReg; for Load the second register
	Base uint8 // for Load and Store: the address is Base+Imm; for AddReg and SubReg: the second operand; for Indirect: RIP
	Wrap Wrap  // for Load and Store: the update of Base

	Imm   int32  // displacement or constant; for Jump, Branch and Call: distance from the end of the instruction to the target
	Kills uint32 // registers that get an unknown value
	List  uint16 // for StoreMany and LoadMany: registers
	KillD uint8  // arm64: registers of D8 to D15 that get an unknown value
	Cond  Cond   // for Branch
	Shift uint8  // for ConstPart: the position of its 16 bits
}

// None means no register. RIP is the base of an address relative to the next instruction.
// D0+n is register Dn of arm64.
const (
	None uint8 = 0xff
	RIP  uint8 = 0xfe

	D0 uint8 = 64 // of arm64
)

// Next is the destination of control after an instruction.
type Next uint8

const (
	Onward   Next = iota // to the instruction after it
	Jump                 // to its target
	Branch               // to its target or to the instruction after it
	Call                 // to its target, and back
	CallFar              // to an unknown target, and back
	Indirect             // to an unknown target: a jump through a register or memory
	Return               // back to the caller
	Trap                 // nowhere: ud2, hlt, brk
	Bad                  // not a known instruction
)

// Op is the operation of an instruction, in addition to Kills.
type Op uint8

const (
	Nothing   Op = iota
	Push         // Src; None for a value that is not tracked
	Pop          // Dst
	Leave        // SP = FP; pop FP
	Add          // Dst = Src + Imm
	AddReg       // Dst = Src + Base
	SubReg       // Dst = Src - Base
	Const        // Dst = Imm
	ConstPart    // 16 bits of Dst, at Shift, = Imm
	Load         // Dst = word at Base+Imm, Src = the one after it
	Store        // word at Base+Imm = Src, the one after it = Dst
	Compare      // Dst with Src
	StoreMany    // words of List below Base, the register of the highest number on top; Base points to the lowest
	LoadMany     // words of List from Base on; Base points after them
	Sign         // the signature of the return address is added or removed
)

// Wrap is the update of the address register by a load or a store.
type Wrap uint8

const (
	Keep Wrap = iota
	Pre       // Base += Imm, before
	Post      // Base += Imm, afterwards; the address is Base
)

// Cond is the condition of a branch.
type Cond uint8

const (
	Other Cond = iota
	Equal
	NotEqual
)

// LoadsPC reports whether an instruction of ARM returns by loading the program counter.
func (in *Insn) LoadsPC() bool {
	return in.Op == LoadMany && in.List&(1<<armPC) != 0 || in.Op == Load && in.Dst == armPC
}
