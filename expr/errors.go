package expr

import (
	"errors"
	"fmt"

	"dbg/arch"
)

// UnknownRegisterError says that the expression needs a register whose value
// is not known in its frame.
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

// UnavailableError says that an operation needs something that the context does
// not have.
type UnavailableError struct {
	Op   string // "DW_OP_fbreg"
	What string // "the frame base"
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("%s needs %s, which is not available here", e.Op, e.What)
}

// Errors of expressions that are wrong in themselves.
var (
	errEmpty     = errors.New("DWARF expression takes a value from an empty stack")
	errDeep      = errors.New("DWARF expression's stack is deeper than 1024")
	errSteps     = errors.New("DWARF expression does not end within 100000 steps")
	errReads     = errors.New("DWARF expression reads memory more than 4096 times")
	errCalls     = errors.New("DWARF expression's calls nest deeper than 16")
	errJump      = errors.New("DWARF expression branches out of itself")
	errDivide    = errors.New("DWARF expression divides by zero")
	errTypes     = errors.New("DWARF expression combines values of different types")
	errInteger   = errors.New("DWARF expression needs an integer here")
	errPieces    = errors.New("DWARF expression makes more pieces than can be")
	errBytes     = errors.New("DWARF expression has too many bytes of implicit values")
	errComposite = errors.New("DWARF expression gives a composite location where one value is needed")
	errAfter     = errors.New("DWARF expression goes on after a location is complete")
	errNoContext = errors.New("DWARF expression without an architecture")
)

// operandError is the error of an operand that can't be read.
//
//go:noinline
func operandError(err error) error { return fmt.Errorf("DWARF expression: %w", err) }
