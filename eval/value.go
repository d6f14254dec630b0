package eval

import (
	"fmt"

	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// Availability says whether a value is there to be seen.
type Availability uint8

const (
	Available    Availability = iota // Bytes has it, or memory at Addr
	OptimizedOut                     // the compiler kept it nowhere at this PC
	NotSaved                         // it is in a register whose value is not known in this frame
	Unreadable                       // Err says why
	Partial                          // parts of an aggregate are there
	Synthetic                        // a pointer to something that has no address
)

// Value is a typed value and where it is. It is a plain value: copying it is
// cheap, and nothing changes the bytes that it refers to.
type Value struct {
	Type *types.Type // nil is void
	Name string      // of a child or a variable; "" for the result of an operation

	// Addr is where it is in memory, if HasAddr.
	Addr    target.Addr
	HasAddr bool

	// Reg is the register of the selected frame that it lives in, if InReg.
	Reg   arch.Reg
	InReg bool

	// Bytes is the value in memory order. It is nil as long as nobody needed
	// it: then Addr says where it is to be read. For a bit-field these are the bytes that hold
	// the field.
	Bytes []byte

	Avail Availability
	Err   error // of Unreadable

	// BitSize is not 0 for a bit-field: it starts BitOffset bits above the lowest bit at
	// Addr (or of Bytes).
	BitSize, BitOffset int64

	function string       // the name of a function value
	register string       // $rax: assigned by Env.SetRegister
	variable string       // $foo: assigned by Env.SetConvenience
	regByte  int64        // of a part of a register: its first byte
	missing  []byte       // of Partial: like Bytes, with a 1 for every bit that is not there
	why      Availability // of Partial: OptimizedOut or NotSaved
	fixed    string       // why it can't be assigned although it has a place

	implicit []implicitPart // of Partial and Synthetic: the parts that are pointers without a value
	pointee  func(p *implicitPart, t *types.Type) Value
}

// implicitPart is a part of a value of which only what it points to is known (DW_OP_implicit_pointer: DWARF 5, section 2.6.1.1.4).
type implicitPart struct {
	from, bits int64  // where in the value
	die        uint64 // of the variable that it points to
	off        int64  // bytes from the start of that
}

// Env is the world that an expression is evaluated in: the selected frame of a
// stopped program.
type Env interface {
	target.Memory
	WriteMemory(addr target.Addr, data []byte) (int, error)
	Arch() *arch.Arch

	// Variable finds a local variable, a parameter, a global variable or a function,
	// as the selected frame sees them. A name that begins with "::" is global. The error is a *NotFoundError if there is
	// none of that name.
	Variable(name string) (Value, error)

	// Register gives a register of the selected frame by its name without "$";
	// *NotFoundError when there is no such register. RegisterByName does the work.
	Register(name string) (Value, error)
	// SetRegister assigns to a register by name: $rax = ...
	SetRegister(name string, v uint64) error
	// SetFrameRegister changes what the selected frame sees in r, where a
	// variable lives in it.
	SetFrameRegister(r arch.Reg, v uint64) error

	// Type finds a type by name: "foo", "struct foo"; nil if there is none.
	Type(name string) *types.Type

	// GoType finds the type of Go whose description at run time (internal/abi.Type) is at a, and its kind; nil if there is none.
	GoType(a target.Addr) (t *types.Type, kind uint8)

	// Symbolize names the function or data symbol at a, for <main+4>.
	Symbolize(a target.Addr) (name string, off uint64, ok bool)

	// Convenience is $name; SetConvenience makes or replaces it.
	Convenience(name string) (Value, bool)
	SetConvenience(name string, v Value)

	// History is an older result: entry n, or, if relative, the n-th before the
	// last ($ is 0, $$ is 1, $$2 is 2).
	History(n int, relative bool) (Value, bool)
}

// NotFoundError says that a name means nothing here.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("No symbol %q in current context.", e.Name)
}

// FunctionValue is a function as a value. A nil t is a function of unknown
// type.
func FunctionValue(name string, addr target.Addr, t *types.Type) Value {
	if t == nil {
		t = unknownFunction
	}
	return Value{Type: t, Name: name, Addr: addr, HasAddr: true, function: name}
}

// TypeName is the name of the value's type as its language writes it.
func TypeName(v Value) string {
	if v.Type == nil {
		return "void"
	}
	return v.Type.String()
}
