package expr

import "errors"

// Eval evaluates code and returns the value on top of its stack.
func Eval(code []byte, c *Context) (uint64, error) { return 0, errors.New("not yet") }

// Locate evaluates a location description.
func Locate(code []byte, c *Context) ([]Piece, error) { return nil, errors.New("not yet") }
