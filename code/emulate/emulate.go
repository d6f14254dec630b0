package emulate

// Regs is the state that an emulated instruction reads and writes.
type Regs struct {
	GPR    [16]uint64 // by hardware number: rax rcx rdx rbx rsp rbp rsi rdi r8..r15
	RIP    uint64
	Flags  uint64 // RFLAGS
	FSBase uint64
	GSBase uint64
}

// Memory is the program's memory as the program sees it: without breakpoints. It refuses what the
// program may not read or write.
type Memory interface {
	// ReadMemory fills buf with the bytes at addr, or returns an error. It must not keep buf.
	ReadMemory(addr uint64, buf []byte) error
	// WriteMemory writes buf to addr, or returns an error and writes nothing. It must not keep buf.
	WriteMemory(addr uint64, buf []byte) error
}

// Op is a decoded instruction that Run can execute. It is immutable, and goroutines may share it.
type Op struct {
	pc      uint64
	imm     uint64 // immediate, sign-extended; distance of a branch; address of an absolute place
	disp    int32  // of the memory operand
	kind    kind
	cond    uint8 // of jcc, setcc and cmovcc: the low half of the opcode
	length  uint8
	size    uint8 // of the operands, in bytes
	srcSize uint8 // of the source, in bytes
	dst     place
	src     place
	base    uint8 // of the memory operand: a register, ripBase or noBase
	index   uint8 // of the memory operand: a register or noBase
	scale   uint8 // of the index: a shift count
	segment segment
	addr32  bool // the address is cut to 32 bits: prefix 67
}

// Len returns the length of the instruction in bytes: 1 to 15.
func (o *Op) Len() int { return int(o.length) }
