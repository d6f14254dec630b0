package expr

import (
	"dbg/arch"
	"dbg/target"
)

// Context supplies the inputs of an evaluation. A nil function means that the input is not
// available: an operation that needs it returns an error that names it. A Context belongs to one
// goroutine. It saves the memory of the stack, so that the next evaluation allocates nothing. Its
// functions may evaluate expressions with the same Context, or with a copy.
type Context struct {
	Arch *arch.Arch
	Regs *arch.Registers // registers of the frame
	Mem  target.Memory

	// Bias is added to the operands of DW_OP_addr and DW_OP_addrx: the module's
	// load bias.
	Bias uint64

	// Initial is pushed before the first operation: the CFA for DW_CFA_expression and
	// DW_CFA_val_expression, the object's address for member locations.
	Initial []uint64

	// Wide returns the whole contents of a register that is not in Regs: an operation uses the low
	// 64 bits of a vector register. It may be nil.
	Wide func(arch.Reg) ([]byte, error)

	CFA        func() (uint64, error)                                        // DW_OP_call_frame_cfa
	FrameBase  func() (uint64, error)                                        // DW_OP_fbreg
	TLS        func(offset uint64) (uint64, error)                           // DW_OP_form_tls_address
	Object     func() (uint64, error)                                        // DW_OP_push_object_address
	AddrIndex  func(index uint64) (uint64, error)                            // DW_OP_addrx, DW_OP_constx
	EntryValue func(EntryParameter) (uint64, error)                          // DW_OP_entry_value, DW_OP_GNU_parameter_ref
	Call       func(offset uint64, ref bool) ([]byte, error)                 // DW_OP_call2, call4, call_ref
	BaseType   func(offset uint64) (size int, signed, float bool, err error) // DW_OP_const_type and similar

	OffsetSize int    // 4 or 8: size of section offsets in this unit; 0 means 4
	UnitOffset uint64 // offset of the unit's header in .debug_info

	stack   []value  // saved for the next evaluation
	owner   *Context // the owner of stack, to detect a copied Context
	scratch [8]byte  // DW_OP_deref reads into it: a buffer passed to Mem escapes, this one only once
}

// EntryParameter identifies a value at function entry. The caller may describe that value in a
// DW_TAG_call_site_parameter entry (DWARF 5, section 3.4.2).
type EntryParameter struct {
	Reg uint64 // DWARF number of the register that holds the value at function entry
	// Data selects the memory that the register pointed to at entry, instead of its value.
	Data bool
	// DIE is the .debug_info offset of the parameter itself, for DW_OP_GNU_parameter_ref: such a
	// parameter is not passed at all. ByDIE is set if DIE identifies the value.
	DIE   uint64
	ByDIE bool
	// Stack is the parameter's offset from the stack pointer at the call. OnStack is set if Stack
	// identifies the value.
	Stack   int64
	OnStack bool
}

// PieceKind is the place of a piece of a value.
type PieceKind uint8

const (
	Undefined       PieceKind = iota // nowhere: optimised out
	InMemory                         // Addr
	InRegister                       // Reg
	Implicit                         // the value itself: Bytes
	ImplicitPointer                  // a pointer to an object without an address: DIE, Offset
)

// Piece is one part of a location, DWARF 5 section 2.6.1.2. A simple location is one piece with
// BitSize 0, which means the whole object.
type Piece struct {
	Kind      PieceKind
	Addr      target.Addr
	Reg       arch.Reg
	Bytes     []byte // for Implicit; in memory order
	DIE       uint64 // for ImplicitPointer: .debug_info offset
	Offset    int64  // for ImplicitPointer: byte offset in that object
	BitSize   uint64 // size of this piece; 0 means the whole object
	BitOffset uint64 // offset of the piece within its source (DW_OP_bit_piece)
}
