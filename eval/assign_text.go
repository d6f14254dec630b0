package eval

import (
	"dbg/symbols/types"
)

const tooManyElements = Error("Too many array elements")

// isTextLiteral reports whether a value is a string literal, which is not in the program's memory.
func isTextLiteral(v Value) bool {
	return kindOf(v.Type) == types.Array && !v.HasAddr && !v.InReg && v.register == "" && v.Bytes != nil
}

// assignText assigns a string literal. Characters of an array are replaced, and the rest of the array
// becomes zero, as in C's initialisation: a literal that fills the array has no terminating zero there
// (C17, 6.7.9 14). A pointer gets the address of a copy, which stays in the program's memory. It
// returns done false for other kinds of objects.
func (e *evaluator) assignText(left, right Value) (v Value, done bool, err error) {
	if !isTextLiteral(right) {
		return Value{}, false, nil
	}
	unit := sizeOf(elemOf(right.Type))
	switch kindOf(left.Type) {
	case types.Array:
		size := sizeOf(left.Type)
		switch {
		case unit != sizeOf(elemOf(left.Type)) || !isIntegral(elemOf(left.Type)):
			return Value{}, true, errInvalidCast
		case int64(len(right.Bytes))-unit > size:
			return Value{}, true, tooManyElements
		}
		data := make([]byte, size)
		copy(data, right.Bytes)
		v, err = e.store(left, Value{Type: left.Type, Bytes: data})
		return v, true, err
	case types.Pointer:
		if to := elemOf(left.Type); to == nil || sizeOf(to) != unit || !isIntegral(to) {
			return Value{}, false, nil
		}
		caller, ok := e.env.(Caller)
		if !ok || e.dry > 0 {
			return Value{}, false, nil
		}
		a, err := e.literal(caller, right, left.Type)
		if err != nil {
			return Value{}, true, err
		}
		v, err = e.store(left, a.Value)
		return v, true, err
	}
	return Value{}, false, nil
}

// assignByOperator assigns to an object of a C++ class what its copy assignment does not take: it
// calls the class's own operator=, as in `text = "new"` for a std::string. It returns done false if the
// class has none.
func (e *evaluator) assignByOperator(left, right Value) (v Value, done bool, err error) {
	caller, ok := e.env.(Caller)
	if !ok || !isStruct(left.Type) || !left.HasAddr || isStruct(right.Type) && equivalent(left.Type, right.Type) {
		return Value{}, false, nil
	}
	args := []Value{right}
	// A class may have its operator inlined everywhere. A std::string then still has assign.
	for _, name := range []string{"operator=", "assign"} {
		list := e.methods(left, name, caller, 0)
		if len(list) == 0 || name == "assign" && !isTextLiteral(right) {
			continue
		}
		var c *candidate
		full := left.Type.Strip().Name + "::" + name
		if c, err = e.resolve(full, list, args); err == nil && len(c.params) == 1 && rank(right, c.params[0]) < impossible {
			if _, err = e.perform(caller, full, c, args, nil); err == nil {
				left.Bytes, left.Avail, left.Err = nil, Available, nil
				return load(left, e.env), true, nil
			}
			done = true
		}
	}
	return Value{}, done, err
}
