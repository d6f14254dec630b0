// Package ehpointer reads the encoded pointers of .eh_frame, .eh_frame_hdr and .gcc_except_table.
package ehpointer

import (
	"fmt"

	"dbg/internal/bytecursor"
)

// Pointer encodings: LSB Core, "DWARF Extensions", table 7-1 and 7-2. The low four bits are the
// format, the next three the base.
const (
	Absptr  = 0x00
	ULEB    = 0x01
	Udata2  = 0x02
	Udata4  = 0x03
	Udata8  = 0x04
	Signed  = 0x08
	SLEB    = 0x09
	Sdata2  = 0x0a
	Sdata4  = 0x0b
	Sdata8  = 0x0c
	Format  = 0x0f
	PCRel   = 0x10
	TextRel = 0x20
	DataRel = 0x30
	FuncRel = 0x40
	Aligned = 0x50
	Base    = 0x70

	Indirect = 0x80
	Omit     = 0xff
)

// Bases holds the bases of encoded pointers.
type Bases struct {
	Section uint64 // address of the section that the pointer is in
	Text    uint64
	Data    uint64
	Func    uint64 // start of the function (FDE)
}

// Read reads an encoded pointer at r.Pos of its section; size is that of an address. For
// DW_EH_PE_indirect it returns the address of the pointer. Errors are those of r.
func Read(r *bytecursor.Cursor, enc byte, size int, b *Bases) uint64 {
	if enc == Omit {
		return 0
	}
	if enc&Base == Aligned {
		// An absolute pointer at the next address that is aligned to its size.
		at := b.Section + uint64(r.Pos)
		r.Block(-at & uint64(size-1))
		return r.Uint(size)
	}
	start := r.Pos
	at := b.Section + uint64(start)
	v := Value(r, enc, size)
	switch enc & Base {
	case 0:
	case PCRel:
		v += at
	case TextRel:
		v += b.Text
	case DataRel:
		v += b.Data
	case FuncRel:
		v += b.Func
	default:
		r.Unsupported(start, fmt.Sprintf("unknown pointer encoding 0x%02x", enc))
	}
	if size == 4 {
		v &= 0xffffffff
	}
	return v
}

// Value reads a number in the format of an encoding; signed ones are sign-extended.
func Value(r *bytecursor.Cursor, enc byte, size int) uint64 {
	switch enc & Format {
	case Absptr:
		return r.Uint(size)
	case Signed:
		return uint64(r.Int(size))
	case ULEB:
		return r.ULEB()
	case SLEB:
		return uint64(r.SLEB())
	case Udata2:
		return r.Uint(2)
	case Udata4:
		return r.Uint(4)
	case Udata8, Sdata8:
		return r.Uint(8)
	case Sdata2:
		return uint64(r.Int(2))
	case Sdata4:
		return uint64(r.Int(4))
	}
	r.Unsupported(r.Pos, fmt.Sprintf("unknown pointer encoding 0x%02x", enc))
	return 0
}

// FixedSize returns the size of a pointer in that encoding, or 0 if it varies.
func FixedSize(enc byte, size int) int {
	if enc&Base == Aligned || enc == Omit || enc&Indirect != 0 {
		return 0
	}
	switch enc & Format {
	case Absptr, Signed:
		return size
	case Udata2, Sdata2:
		return 2
	case Udata4, Sdata4:
		return 4
	case Udata8, Sdata8:
		return 8
	}
	return 0
}
