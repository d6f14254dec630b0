package entry

import (
	"encoding/binary"
	"fmt"
	"strings"

	"dbg/dwarf"
	"dbg/expr"
)

// Location is where a value is at one PC, to be evaluated in a frame. The slices are the file's
// own: they must not be changed, and are valid as long as the file is open.
type Location struct {
	// Expr is the DWARF expression. If both Expr and Const are nil, the value is optimised out
	// here.
	Expr []byte
	// Err is set if the location could not be read. It is then not known whether there is one.
	Err error
	// Const is the value itself, in memory order, if it is a constant.
	Const []byte
	// FrameBase is the function's DW_AT_frame_base at this PC, nil if it has none.
	FrameBase []byte
	// Fill sets AddrIndex, Call, BaseType, OffsetSize and UnitOffset for the unit of Expr.
	Fill func(*expr.Context)
}

// Fill returns the function that gives an expression the context of its unit: see Location.Fill.
func Fill(u *dwarf.Unit) func(*expr.Context) {
	return func(c *expr.Context) {
		c.OffsetSize = u.OffsetSize()
		c.UnitOffset = u.Offset
		c.AddrIndex = u.AddrIndex
		c.Call = func(offset uint64, ref bool) ([]byte, error) {
			var e *dwarf.Entry
			var err error
			if ref {
				e, err = u.Data.EntryAt(offset)
			} else {
				e, err = u.Entry(u.Offset + offset)
			}
			if err != nil {
				return nil, fmt.Errorf("DW_OP_call: %w", err)
			}
			v := e.Find(dwarf.AttrLocation)
			if v == nil || !v.IsBlock() {
				return nil, nil // DWARF 5, section 2.5.1.5: no location, no effect
			}
			return v.Block, nil
		}
		c.BaseType = func(offset uint64) (size int, signed, float bool, err error) {
			e, err := u.Entry(u.Offset + offset)
			if err != nil {
				return 0, false, false, err
			}
			n, ok := e.Uint(dwarf.AttrByteSize)
			if e.Tag != dwarf.TagBaseType || !ok || n > 1024 {
				return 0, false, false, fmt.Errorf("the entry at 0x%x is not a base type", e.Offset)
			}
			enc, _ := e.Uint(dwarf.AttrEncoding)
			if name := Name(e); enc == dwarf.EncFloat && n == 16 && (strings.Contains(name, "128") || strings.Contains(name, "quad")) {
				return 0, false, false, &expr.UnavailableError{Op: name, What: "arithmetic in quadruple precision"}
			}
			return int(n), enc == dwarf.EncSigned || enc == dwarf.EncSignedChar, enc == dwarf.EncFloat, nil
		}
	}
}

// Constant returns DW_AT_const_value of an entry as the bytes of a value of size bytes, in memory
// order; nil if it does not fit. Blocks and strings keep their own lengths. A block is the file's
// own and must not be changed.
func Constant(e *dwarf.Entry, size int64, big bool) []byte {
	v := e.Find(dwarf.AttrConstValue)
	if v.IsBlock() {
		return v.Block
	}
	if s, ok := e.String(dwarf.AttrConstValue); ok {
		return append([]byte(s), 0)
	}
	if size > 16 || !v.IsConst() {
		return nil
	}
	out := make([]byte, 16)
	binary.LittleEndian.PutUint64(out, v.Num)
	if v.IsSigned() && int64(v.Num) < 0 {
		binary.LittleEndian.PutUint64(out[8:], ^uint64(0))
	}
	out = out[:size]
	if big {
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
	}
	return out
}
