package expr

import (
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
