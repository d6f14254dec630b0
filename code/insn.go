package code

// Insn is an instruction, as far as it matters to the stack. Registers are numbered as the machine encodes them: 0 to 15 on
// x86-64; on arm64 0 to 30, 31 for SP, and 64+n for Dn, of which a function must preserve 8 to 15.
type Insn struct {
	Len  uint8
	Next Next
	Op   Op
	Size uint8 // of Load and Store: from one register to the next, in bytes

	Dst  uint8 // of Load, Pop, Add, AddReg, SubReg, Const; of Store the second register
	Src  uint8 // of Store, Push, Add, AddReg, SubReg; of Load the second register
	Base uint8 // of Load and Store: the address is Base+Imm; of AddReg and SubReg: the second operand; of Indirect: RIP
	Wrap Wrap  // of Load and Store: what becomes of Base

	Imm   int32  // displacement, constant; of Jump, Branch and Call: from the end of the instruction to the target
	Kills uint32 // registers that then have some other value
	List  uint16 // of StoreMany and LoadMany: registers
	KillD uint8  // arm64: of D8 to D15, those that then have some other value
	Cond  Cond   // of Branch
	Shift uint8  // of ConstPart: where its 16 bits go
}

// None stands for no register; RIP is the base of an address relative to the next instruction.
const (
	None uint8 = 0xff
	RIP  uint8 = 0xfe

	dreg uint8 = 64 // D0 of arm64
)

// Next is where control goes from an instruction.
type Next uint8

const (
	Onward   Next = iota // to the instruction after it
	Jump                 // to its target
	Branch               // to its target or to the instruction after it
	Call                 // to its target, and back
	CallFar              // to where nobody knows, and back
	Indirect             // to where nobody knows: a jump through a register or memory
	Return               // back to the caller
	Trap                 // nowhere: ud2, hlt, brk
	Bad                  // it is none that is known
)

// Op is what an instruction does, beside Kills.
type Op uint8

const (
	Nothing   Op = iota
	Push         // Src, None for what is of no interest
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
	LoadMany     // words of List from Base on; Base points behind them
	Sign         // the return address is signed, or its signature is taken off: it changes
)

// Wrap is what a load or a store does to the register of its address.
type Wrap uint8

const (
	Keep Wrap = iota
	Pre       // Base += Imm, before
	Post      // Base += Imm, afterwards; the address is Base
)

// Cond is what a branch depends on.
type Cond uint8

const (
	Other Cond = iota
	Equal
	NotEqual
)
