package eval

import (
	"bytes"
	"regexp"

	"dbg/symbols/types"
	"dbg/target"
)

// convenience is a function of the debugger, which takes from least to most arguments.
type convenience struct {
	least, most int
	run         func(e *evaluator, args []Value) (Value, error)
}

// functions are gdb's convenience functions: $_streq(a, b). More are in functions_frame.go.
var functions = map[string]convenience{
	"_isvoid": {1, 1, func(_ *evaluator, a []Value) (Value, error) { return isTrueInt(kindOf(a[0].Type) == types.Void), nil }},
	"_strlen": {1, 1, func(e *evaluator, a []Value) (Value, error) {
		s, err := e.text(a[0])
		return intValue(typeInt, uint64(len(s))), err
	}},
	"_streq": {2, 2, func(e *evaluator, a []Value) (Value, error) {
		s, err := e.text(a[0])
		if err != nil {
			return Value{}, err
		}
		t, err := e.text(a[1])
		return Bool(bytes.Equal(s, t)), err
	}},
	"_regex": {2, 2, func(e *evaluator, a []Value) (Value, error) {
		s, err := e.text(a[0])
		if err != nil {
			return Value{}, err
		}
		pattern, err := e.text(a[1])
		if err != nil {
			return Value{}, err
		}
		r, err := regexp.Compile(`^(?:` + string(pattern) + `)`) // at the start, as Python's match
		if err != nil {
			return Value{}, errorf("%v", err)
		}
		return Bool(r.Match(s)), nil
	}},
	"_memeq": {3, 3, func(e *evaluator, a []Value) (Value, error) {
		n, err := Number(a[2], e.env)
		if err != nil {
			return Value{}, err
		}
		if n < 0 || n > maxFetch {
			return Value{}, errorf("Invalid length %d.", n)
		}
		var b [2][]byte
		for i := range b {
			at, err := AddressOf(a[i], e.env)
			if err != nil {
				return Value{}, err
			}
			b[i] = make([]byte, n)
			if got, err := e.env.ReadMemory(at, b[i]); int64(got) < n {
				return Value{}, cannotAccess(err, at+target.Addr(max(got, 0)))
			}
		}
		return Bool(bytes.Equal(b[0], b[1])), nil
	}},
}

func isTrueInt(b bool) Value {
	if b {
		return intValue(typeInt, 1)
	}
	return intValue(typeInt, 0)
}

// function evaluates a call of a convenience function.
func (e *evaluator) function(n *node) (Value, bool, error) {
	if n.a.op != "$" {
		return Value{}, false, nil
	}
	f, ok := functions[n.a.text]
	if !ok {
		return Value{}, false, nil
	}
	if len(n.args) < f.least || len(n.args) > f.most {
		return Value{}, true, errorf("You must provide %d arguments to $%s.", f.least, n.a.text)
	}
	args := make([]Value, len(n.args))
	for i, a := range n.args {
		v, err := e.eval(a)
		if err == nil && kindOf(v.Type) != types.Void {
			v, err = e.read(v)
		}
		if err != nil {
			return Value{}, true, err
		}
		args[i] = v
	}
	v, err := f.run(e, args)
	return v, true, err
}

// text returns the characters of a string: of C, of a literal, or of a class that has a view.
func (e *evaluator) text(v Value) ([]byte, error) {
	if b, ok := textOf(v, e.env); ok {
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i]
		}
		return b, nil
	}
	if data, ok, err := e.viewMethod(v, "data", nil); ok && err == nil {
		size, ok, err := e.viewMethod(v, "size", nil)
		if err != nil || !ok {
			return nil, err
		}
		n, err := Number(size, e.env)
		if err != nil {
			return nil, err
		}
		at, err := Number(data, e.env)
		if err != nil {
			return nil, err
		}
		if n < 0 || n > maxFetch {
			return nil, errorf("a text can't have %d characters", n)
		}
		b := make([]byte, n)
		if got, err := e.env.ReadMemory(target.Addr(at), b); got < len(b) {
			return nil, cannotAccess(err, target.Addr(at))
		}
		return b, nil
	}
	if elem := elemOf(v.Type); kindOf(v.Type) == types.Pointer && elem != nil && sizeOf(elem) == 1 {
		at, err := Number(v, e.env)
		if err != nil {
			return nil, err
		}
		return e.cString(target.Addr(at))
	}
	return nil, Error("Argument is not a string.")
}

// cString reads a string up to its zero.
func (e *evaluator) cString(a target.Addr) ([]byte, error) {
	var out []byte
	for len(out) < maxFetch {
		var b [256]byte
		piece := b[:256-int(a&255)] // up to a boundary: the string may end before a page that is not mapped
		n, err := e.env.ReadMemory(a, piece)
		if n <= 0 {
			return nil, cannotAccess(err, a)
		}
		if i := bytes.IndexByte(piece[:n], 0); i >= 0 {
			return append(out, piece[:i]...), nil
		}
		out, a = append(out, piece[:n]...), a+target.Addr(n)
	}
	return out, nil
}
