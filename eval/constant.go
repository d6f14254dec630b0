package eval

import (
	"dbg/arch"
	"dbg/symbols/types"
)

// Constant returns a value of a type of at most 8 bytes that has no place in the program: an
// enumeration constant.
func Constant(t *types.Type, n int64, a *arch.Arch) Value {
	size := t.Size
	if size < 1 || size > 8 {
		size = 8
	}
	b := make([]byte, 8)
	a.ByteOrder.PutUint64(b, uint64(n))
	if a.ByteOrder.String() == "BigEndian" {
		return Value{Type: t, Bytes: b[8-size:], enumerator: true}
	}
	return Value{Type: t, Bytes: b[:size], enumerator: true}
}
