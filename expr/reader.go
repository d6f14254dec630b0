package expr

import (
	"encoding/binary"
	"fmt"

	"dbg/arch"
	"dbg/internal/bytecursor"
)

// operands returns a cursor over an expression. The evaluator checks its error once for each
// operation.
func operands(code []byte, a *arch.Arch) bytecursor.Cursor {
	return bytecursor.Cursor{Data: code, Big: a.ByteOrder == binary.BigEndian}
}

// encoded reads a number in the format of the low four bits of a DW_EH_PE_* encoding.
func encoded(r *bytecursor.Cursor, enc byte, ptr int) uint64 {
	switch enc & 15 {
	case 0x00, 0x08:
		return r.Uint(ptr)
	case 0x01:
		return r.ULEB()
	case 0x02:
		return uint64(r.U16())
	case 0x03:
		return uint64(r.U32())
	case 0x04, 0x0c:
		return r.U64()
	case 0x09:
		return uint64(r.SLEB())
	case 0x0a:
		return uint64(r.Int(2))
	case 0x0b:
		return uint64(r.Int(4))
	}
	r.Unsupported(r.Pos, fmt.Sprintf("unknown pointer encoding 0x%02x", enc))
	return 0
}

// decodeUint decodes a number of up to 8 bytes.
func decodeUint(b []byte, o binary.ByteOrder) uint64 {
	switch len(b) {
	case 8:
		return o.Uint64(b)
	case 4:
		return uint64(o.Uint32(b))
	case 2:
		return uint64(o.Uint16(b))
	case 1:
		return uint64(b[0])
	}
	var v uint64
	for i := range b {
		if o == binary.BigEndian {
			v = v<<8 | uint64(b[i])
		} else {
			v |= uint64(b[i]) << (8 * (i & 7))
		}
	}
	return v
}

// signExtend sign-extends a number of n bytes.
func signExtend(v uint64, n int) int64 {
	if n <= 0 || n >= 8 {
		return int64(v)
	}
	s := uint(64 - 8*n)
	return int64(v<<s) >> s
}
