package expr

import (
	"dbg/arch"
	"dbg/target"
)

// Context is what an expression may ask for while it is evaluated. A nil
// function means that the thing is not to be had here: an operation that needs
// it gives an error that says so. A Context belongs to one goroutine; it keeps
// the memory of the stack, so that the next evaluation allocates nothing. Its
// functions may evaluate with the same Context, or with a copy.
type Context struct {
	Arch *arch.Arch
	Regs *arch.Registers // of the frame
	Mem  target.Memory

	// Bias is added to the operands of DW_OP_addr and DW_OP_addrx: the module's
	// load bias.
	Bias uint64

	// Initial is pushed before the first operation: the CFA for DW_CFA_expression
	// and DW_CFA_val_expression, the object's address for member locations.
	Initial []uint64

	// Wide gives registers that are not in Regs, whole: of a vector register an operation takes the low 64 bits. May be nil.
	Wide func(arch.Reg) ([]byte, error)

	CFA        func() (uint64, error)                                        // DW_OP_call_frame_cfa
	FrameBase  func() (uint64, error)                                        // DW_OP_fbreg
	TLS        func(offset uint64) (uint64, error)                           // DW_OP_form_tls_address
	Object     func() (uint64, error)                                        // DW_OP_push_object_address
	AddrIndex  func(index uint64) (uint64, error)                            // DW_OP_addrx, DW_OP_constx
	EntryValue func(EntryParameter) (uint64, error)                          // DW_OP_entry_value, DW_OP_GNU_parameter_ref
	Call       func(offset uint64, ref bool) ([]byte, error)                 // DW_OP_call2, call4, call_ref
	BaseType   func(offset uint64) (size int, signed, float bool, err error) // DW_OP_const_type and its kin

	OffsetSize int    // 4 or 8: size of section offsets in this unit; 0 means 4
	UnitOffset uint64 // of the unit's header in .debug_info

	stack   []value  // the last evaluation's, for the next
	owner   *Context // whose stack it is
	scratch [8]byte  // what DW_OP_deref reads into: a buffer given to Mem escapes, and this one does so once
}

// EntryParameter names what a caller may have passed: DW_AT_call_site_parameter entries (DWARF 5,
// section 3.4.2) tell it.
type EntryParameter struct {
	Reg uint64 // DWARF's number of the register that has it when the function is entered
	// Data says that not the register is asked for, but what it pointed to then.
	Data bool
	// DIE is the .debug_info offset of the parameter itself, of DW_OP_GNU_parameter_ref: it is passed
	// nowhere. ByDIE says that this is what counts.
	DIE   uint64
	ByDIE bool
	// Stack is the parameter's offset from the stack pointer at the call; OnStack says that this is what counts.
	Stack   int64
	OnStack bool
}

// PieceKind says where a piece of a value is.
type PieceKind uint8

const (
	Undefined       PieceKind = iota // nowhere: optimised out
	InMemory                         // Addr
	InRegister                       // Reg
	Implicit                         // the value itself: Bytes
	ImplicitPointer                  // a pointer to something that has no address: DIE, Offset
)

// Piece is one part of a location, DWARF 5 section 2.6.1.2. A simple location
// is one piece with BitSize 0, which means: the whole object.
type Piece struct {
	Kind      PieceKind
	Addr      target.Addr
	Reg       arch.Reg
	Bytes     []byte // of Implicit; in memory order
	DIE       uint64 // of ImplicitPointer: .debug_info offset
	Offset    int64  // of ImplicitPointer: byte offset in that object
	BitSize   uint64 // size of this piece, 0 if it is the whole
	BitOffset uint64 // offset of the piece within its source (DW_OP_bit_piece)
}
