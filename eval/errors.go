package eval

import "fmt"

// Error is what is wrong with an expression or a value, as a sentence for the user. The
// wording is gdb's wherever gdb has one, with its capitals and full stops.
type Error string

func (e Error) Error() string { return string(e) }

func errorf(format string, args ...any) error { return Error(fmt.Sprintf(format, args...)) }
