package eval

import "fmt"

// Error describes what is wrong with an expression or a value, as a sentence for the user. If gdb
// has a text for it, the text is the same, with its capitals and full stops.
type Error string

func (e Error) Error() string { return string(e) }

func errorf(format string, args ...any) error { return Error(fmt.Sprintf(format, args...)) }
