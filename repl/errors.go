package repl

import (
	"errors"
	"fmt"

	"dbg/session"
	"dbg/target"
)

// userError is an error whose text is printed unchanged. The texts are gdb's, which are sentences.
type userError string

func (e userError) Error() string { return string(e) }

func userErrorf(format string, args ...any) error { return userError(fmt.Sprintf(format, args...)) }

var errUserQuit = userErrorf("Quit")

// message returns the text of an error, in gdb's words where gdb has some.
func message(err error) string {
	var mem *target.MemoryError
	switch {
	case errors.As(err, &mem):
		return fmt.Sprintf("Cannot access memory at address %s", mem.Addr)
	case errors.Is(err, target.ErrNotRunning):
		return "The program is not being run."
	case errors.Is(err, target.ErrReadOnly):
		return "A core file can't be changed or run."
	case errors.Is(err, session.ErrNoFrame):
		return "No frame at that level."
	}
	return err.Error()
}
