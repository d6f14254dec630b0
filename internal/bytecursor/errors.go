package bytecursor

import (
	"errors"
	"fmt"
)

// The kinds of Error.
var (
	ErrCutShort    = errors.New("the data ends")
	ErrMalformed   = errors.New("malformed data")
	ErrUnsupported = errors.New("unsupported data")
)

// Error is a read that failed.
type Error struct {
	Kind   error  // ErrCutShort, ErrMalformed or ErrUnsupported
	Item   string // what was read, such as "a 4-byte number", or what is wrong with it
	Offset int    // of the item's first byte, from the start of the cursor's data
}

func (e *Error) Error() string {
	if e.Kind == ErrCutShort {
		return fmt.Sprintf("%s is cut short at offset 0x%x", e.Item, e.Offset)
	}
	return fmt.Sprintf("%s at offset 0x%x", e.Item, e.Offset)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }
