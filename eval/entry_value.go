package eval

// EntryValuer is an Env that knows the values that were passed to the selected frame's function.
type EntryValuer interface {
	// EntryValue returns the value that a parameter had when the function was entered. The error is a
	// *NotFoundError if there is no such parameter, or tells why its value is not known.
	EntryValue(name string) (Value, error)
}

// entryValue evaluates x@entry.
func (e *evaluator) entryValue(name string) (Value, error) {
	env, ok := e.env.(EntryValuer)
	if !ok {
		return Value{}, Error("The values that were passed to a function are not available here.")
	}
	v, err := env.EntryValue(name)
	v.fixed = "Left operand of assignment is not an lvalue."
	return v, err
}
