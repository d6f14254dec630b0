package eval

import (
	"bytes"

	"dbg/symbols/types"
	"dbg/target"
)

// These functions give package eval/view the parts of values.

// Member returns a member of a structure, also of its bases and anonymous members.
func Member(v Value, name string, env Env) (Value, bool) {
	v, err := follow(v, env)
	if err != nil {
		return Value{}, false
	}
	return member(v, name, env)
}

// FieldOf returns the value of a field of v's type.
func FieldOf(v Value, f *types.Field, env Env) Value { return fieldOf(v, f, env) }

// Target returns what a pointer or a reference points to.
func Target(v Value, env Env) (Value, error) { return (&evaluator{env: env}).pointee(v) }

// Element returns element i of an array, or after a pointer.
func Element(v Value, i int64, env Env) (Value, error) { return (&evaluator{env: env}).element(v, i) }

// Pointed returns what a pointer variable points to, under another name. If the pointer is not
// available, neither is the value.
func Pointed(pointer Value, name string, env Env) (Value, error) {
	v, err := indirect(pointer, env)
	if err != nil {
		t := elemOf(pointer.Type)
		if pointer.Avail == Available {
			return Value{}, err
		}
		v = Value{Type: t, Avail: pointer.Avail, Err: pointer.Err}
	}
	v.Name = name
	return v, nil
}

// Variant returns the active variant of a Rust enum, as a structure with the variant's members. ok is
// false if the value is not an enum.
func Variant(v Value, env Env) (form Value, ok bool) { return variantOf(v, env) }

// Sequence returns the elements of a string or a slice of Go or Rust: their type, place and number. ok
// is false if the value is not one, or its parts can't be read.
func Sequence(v Value, env Env) (elem *types.Type, a target.Addr, n int64, ok bool) {
	s, ok := sequenceOf(v, env)
	return s.elem, s.addr, s.count, ok
}

// PartAt returns the part of a value that has a type and starts off bytes from its start.
func PartAt(v Value, off int64, t *types.Type) Value { return part(v, off, t, "") }

// PointerTo returns the address of a value in memory.
func PointerTo(v Value, env Env) (Value, error) {
	if !v.HasAddr || v.BitSize > 0 {
		return Value{}, errNoPlace
	}
	return newValue(pointerTo(v.Type, env.Arch().PtrSize), number{i: uint64(v.Addr)})
}

// FromInt32 returns a number as a value of C's type int.
func FromInt32(n int64) Value { return intValue(typeInt, uint64(n)) }

// FromInt returns a number as a value of C's type long.
func FromInt(n int64) Value { return intValue(typeLong, uint64(n)) }

// Number reads an integer, a pointer or an enumerator.
func Number(v Value, env Env) (int64, error) {
	v, err := (&evaluator{env: env}).read(v)
	if err != nil {
		return 0, err
	}
	n, err := numberOf(v)
	if err != nil {
		return 0, err
	}
	return int64(n.integer()), nil
}

// IsTrue reports whether a value is not zero.
func IsTrue(v Value, env Env) (bool, error) {
	v, err := (&evaluator{env: env}).read(v)
	if err != nil {
		return false, err
	}
	return isTrue(v, "!")
}

// Equal compares two values as the operator == does, and two texts by their characters.
func Equal(a, b Value, env Env) (bool, error) {
	e := &evaluator{env: env}
	a, err := e.read(a)
	if err != nil {
		return false, err
	}
	if b, err = e.read(b); err != nil {
		return false, err
	}
	if x, ok := textOf(a, env); ok {
		if y, ok := textOf(b, env); ok {
			return bytes.Equal(x, y), nil
		}
	}
	if v, ok, err := e.viewMethod(a, "operator==", []Value{b}); ok {
		if err != nil {
			return false, err
		}
		return isTrue(v, "==")
	}
	v, err := e.operate("==", a, b)
	if err != nil {
		return false, err
	}
	return isTrue(v, "==")
}

// Bool returns a truth value.
func Bool(b bool) Value {
	v := Value{Type: typeBool, Bytes: []byte{0}}
	if b {
		v.Bytes[0] = 1
	}
	return v
}

// ArrayAt returns the array of n elements at an address.
func ArrayAt(elem *types.Type, n int64, a target.Addr) (Value, bool) {
	t, ok := arrayOf(elem, n)
	return Value{Type: t, Addr: a, HasAddr: true}, ok
}

// CharWidth returns the size of a character type; ok is false for other types.
func CharWidth(t *types.Type) (n int, ok bool) {
	if _, ok = charKind(t); !ok {
		return 0, false
	}
	return int(sizeOf(t)), true
}

// FormatText formats n characters at an address as a string literal, as far as opt allows. bare leaves
// out the quotes.
func FormatText(char *types.Type, a target.Addr, n int64, env Env, opt Options, bare bool) (string, error) {
	prefix, _ := charKind(char)
	width := sizeOf(char)
	if width <= 0 || width > 4 {
		return "", errInvalidCast
	}
	limit := int64(opt.MaxElements)
	if limit <= 0 {
		limit = maxElements
	}
	if n < 0 || n > (1<<47)/width {
		return "", errorf("a text can't have %d characters", n)
	}
	more := n > limit
	// A run of equal characters counts as little as its text is long.
	shown := min(n, max(limit*8, 4096))
	b := make([]byte, shown*width)
	if got, err := env.ReadMemory(a, b); err != nil || got < len(b) {
		return "", cannotAccess(err, a+target.Addr(max(got, 0)))
	}
	if bare {
		b = b[:min(int64(len(b)), limit*width)]
		out := ""
		for len(b) >= int(width) {
			_, k, _ := nextChar(b, int(width))
			out, b = out+escape(b, int(width), 0), b[k:]
		}
		return out, nil
	}
	return quoted(b, int(width), prefix, int(limit), more && shown < n), nil
}

// TextOf returns the characters of a string literal, in memory order, without the terminating zero.
func TextOf(v Value) (b []byte, width int, ok bool) {
	width, ok = CharWidth(elemOf(v.Type))
	if !ok || kindOf(v.Type) != types.Array || v.Bytes == nil {
		return nil, 0, false
	}
	b = v.Bytes
	if n := len(b); n >= width && rawUint(b[n-width:]) == 0 {
		b = b[:n-width]
	}
	return b, width, true
}
