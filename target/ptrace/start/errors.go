package start

import (
	"errors"
	"fmt"
)

// The reasons why a program can't be launched or a process can't be attached to. The errors of this
// package are one sentence for the user and wrap one of these.
var (
	ErrNotFound      = errors.New("no such file")
	ErrPermission    = errors.New("permission denied")
	ErrDirectory     = errors.New("a directory")
	ErrScript        = errors.New("a script")
	ErrNotELF        = errors.New("not an ELF program")
	ErrWrongArch     = errors.New("for another processor")
	ErrNoInterpreter = errors.New("the program's interpreter is missing")
	ErrNoProcess     = errors.New("no such process")
	ErrTraced        = errors.New("already being traced")
	ErrSelf          = errors.New("a debugger can't debug itself")
	ErrKernelThread  = errors.New("a kernel thread")
	ErrZombie        = errors.New("the process has already ended")
	ErrEndedEarly    = errors.New("the kernel could not load it, or it was killed")
	Err32Bit         = errors.New("32-bit programs can't be run yet")
)

// Errorf returns an error with a text of its own that wraps kind.
func Errorf(kind error, format string, args ...any) error {
	return &sentence{fmt.Sprintf(format, args...), kind}
}

// sentence is an error with a separate text that wraps another error, its kind.
type sentence struct {
	text string
	kind error
}

func (s *sentence) Error() string { return s.text }
func (s *sentence) Unwrap() error { return s.kind }
