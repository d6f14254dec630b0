package expr

import (
	"errors"
	"fmt"

	"dbg/arch"
)

// UnknownRegisterError reports that the expression needs a register whose value is not known in its
// frame.
type UnknownRegisterError struct {
	Reg  arch.Reg
	Name string
}

func (e *UnknownRegisterError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("the value of register %d is not known in this frame", e.Reg)
	}
	return fmt.Sprintf("the value of %s is not known in this frame", e.Name)
}

// UnavailableError reports that an operation needs an input that the context does not have.
type UnavailableError struct {
	Op   string // "DW_OP_fbreg"
	What string // "the frame base"
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%s needs %s, which is not available here", e.Op, e.What)
}

// Errors for malformed expressions.
var (
	errEmpty     = errors.New("DWARF expression pops from an empty stack")
	errDeep      = errors.New("DWARF expression's stack exceeds 1024 entries")
	errSteps     = errors.New("DWARF expression exceeds 100000 steps")
	errReads     = errors.New("DWARF expression reads memory more than 4096 times")
	errCalls     = errors.New("DWARF expression nests more than 16 calls")
	errJump      = errors.New("DWARF expression branches out of bounds")
	errDivide    = errors.New("DWARF expression divides by zero")
	errTypes     = errors.New("DWARF expression combines values of different types")
	errInteger   = errors.New("DWARF expression has a floating-point operand where an integer is needed")
	errPieces    = errors.New("DWARF expression has too many pieces")
	errBytes     = errors.New("DWARF expression has too many bytes of implicit values")
	errComposite = errors.New("DWARF expression yields a composite location where a single value is needed")
	errAfter     = errors.New("DWARF expression continues after a complete location")
	errNoContext = errors.New("cannot evaluate a DWARF expression without an architecture")
)

// operandError wraps the error of an unreadable operand.
//
//go:noinline
func operandError(err error) error { return fmt.Errorf("DWARF expression: %w", err) }
