package eval

import (
	"fmt"

	"dbg/arch"
	"dbg/symbols/types"
	"dbg/target"
)

// Availability tells whether a value can be shown.
type Availability uint8

const (
	Available    Availability = iota // the value is in Bytes, or in memory at Addr
	OptimizedOut                     // the compiler has not stored it anywhere at this PC
	NotSaved                         // it is in a register with an unknown value in this frame
	Unreadable                       // see Err
	Partial                          // only parts of an aggregate are available
	Synthetic                        // a pointer to an object that has no address
)

// Value is a typed value and its place. It is a plain value: copying it is cheap, and nothing
// changes the bytes to which it refers.
type Value struct {
	Type *types.Type // nil means void
	Name string      // of a child or a variable; "" for the result of an operation

	// Addr is its address in memory, if HasAddr is set.
	Addr    target.Addr
	HasAddr bool

	// Reg is the register of the selected frame that holds it, if InReg is set.
	Reg   arch.Reg
	InReg bool

	// Bytes is the value in memory order. It is nil until the value is needed: then it is read at
	// Addr. For a bit-field it holds the bytes that contain the field.
	Bytes []byte

	Avail Availability
	Err   error // if Unreadable

	// BitSize is not 0 for a bit-field, which starts BitOffset bits above the lowest bit at Addr
	// (or in Bytes).
	BitSize, BitOffset int64

	function string // the name of a function value
	// enumerator tells that the value is a name of an enumeration, which C computes with as an int.
	enumerator bool
	register   string       // $rax: assigned by Env.SetRegister
	variable   string       // $foo: assigned by Env.SetConvenience
	regByte    int64        // for a part of a register: its first byte
	missing    []byte       // if Partial: like Bytes, with a 1 for every bit that is unavailable
	why        Availability // if Partial: OptimizedOut or NotSaved
	base       bool         // it is shown as a base of an object, and not as the object itself
	raw        bool         // it is shown as it is in memory, although it may have a view
	form       byte         // the letter of the format in which it is shown, if the user asks for none
	words      string       // a text that is shown instead of a value
	fixed      string       // why it can't be assigned although it has a place

	implicit []implicitPart // if Partial or Synthetic: the parts that are pointers without a value
	pointee  func(p *implicitPart, t *types.Type) Value
}

// implicitPart is a part of a value that is a pointer of which only the target is known
// (DW_OP_implicit_pointer: DWARF 5, section 2.6.1.1.4).
type implicitPart struct {
	from, bits int64  // its place in the value, in bits
	die        uint64 // the target variable
	off        int64  // bytes from the start of the target
}

// Env is the environment in which an expression is evaluated: the selected frame of a stopped
// program.
type Env interface {
	target.Memory
	WriteMemory(addr target.Addr, data []byte) (int, error)
	Arch() *arch.Arch

	// Variable finds a local variable, a parameter, a global variable or a function that is visible
	// in the selected frame. A name that starts with "::" is global. The error is a *NotFoundError
	// if there is none.
	Variable(name string) (Value, error)

	// Register returns a register of the selected frame by its name without "$". The error is a
	// *NotFoundError if there is no such register. RegisterByName helps to implement it.
	Register(name string) (Value, error)
	// SetRegister assigns to a register by name: $rax = ...
	SetRegister(name string, v uint64) error
	// SetRegisterPart changes bytes of a vector or x87 register of the selected frame, from the offset
	// off on.
	SetRegisterPart(r arch.Reg, off int, data []byte) error
	// SetFrameRegister changes the value of r in the selected frame, for a variable that is in r.
	SetFrameRegister(r arch.Reg, v uint64) error

	// Type finds a type by its name: "foo", "struct foo". It returns nil if there is none.
	Type(name string) *types.Type

	// GoType finds the Go type, and its kind, whose runtime descriptor (internal/abi.Type) is at a.
	// It returns nil if there is none.
	GoType(a target.Addr) (t *types.Type, kind uint8)

	// Symbolize returns the function or data symbol at a, for <main+4>.
	Symbolize(a target.Addr) (name string, off uint64, ok bool)

	// Convenience returns $name. SetConvenience creates or replaces it.
	Convenience(name string) (Value, bool)
	SetConvenience(name string, v Value)

	// History returns an earlier result: entry n or, if relative is set, the n-th before the last
	// ($ is 0, $$ is 1, $$2 is 2).
	History(n int, relative bool) (Value, bool)
}

// NotFoundError means that a name is unknown here.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("No symbol %q in current context.", e.Name)
}

// FunctionValue returns a function as a value. A nil t means an unknown type.
func FunctionValue(name string, addr target.Addr, t *types.Type) Value {
	if t == nil {
		t = unknownFunction
	}
	return Value{Type: t, Name: name, Addr: addr, HasAddr: true, function: name}
}

// TypeName returns the name of the value's type, in the syntax of its language.
func TypeName(v Value) string {
	if v.Type == nil {
		return "void"
	}
	return v.Type.String()
}
