package cfi

import (
	"fmt"

	"dbg/internal/bytecursor"
)

// Pointer encodings: LSB Core, "DWARF Extensions", table 7-1 and 7-2. The low four bits are the
// format, the next three the base.
const (
	peAbsptr  = 0x00
	peULEB    = 0x01
	peUdata2  = 0x02
	peUdata4  = 0x03
	peUdata8  = 0x04
	peSigned  = 0x08
	peSLEB    = 0x09
	peSdata2  = 0x0a
	peSdata4  = 0x0b
	peSdata8  = 0x0c
	peFormat  = 0x0f
	pePCRel   = 0x10
	peTextRel = 0x20
	peDataRel = 0x30
	peFuncRel = 0x40
	peAligned = 0x50
	peBase    = 0x70

	peIndirect = 0x80
	peOmit     = 0xff
)

// bases holds the bases of encoded pointers.
type bases struct {
	section uint64 // address of the section that the pointer is in
	text    uint64
	data    uint64
	fn      uint64 // start of the function (FDE)
}

// pointer reads an encoded pointer. For DW_EH_PE_indirect it returns the address of the pointer.
func pointer(r *bytecursor.Cursor, enc byte, size int, b *bases) uint64 {
	if enc == peOmit {
		return 0
	}
	if enc&peBase == peAligned {
		// An absolute pointer at the next address that is aligned to its size.
		at := b.section + uint64(r.Pos)
		r.Block(-at & uint64(size-1))
		return r.Uint(size)
	}
	start := r.Pos
	at := b.section + uint64(start)
	v := formatted(r, enc, size)
	switch enc & peBase {
	case 0:
	case pePCRel:
		v += at
	case peTextRel:
		v += b.text
	case peDataRel:
		v += b.data
	case peFuncRel:
		v += b.fn
	default:
		r.Unsupported(start, fmt.Sprintf("unknown pointer encoding 0x%02x", enc))
	}
	if size == 4 {
		v &= 0xffffffff
	}
	return v
}

// formatted reads a number in the format of an encoding; signed ones are sign-extended.
func formatted(r *bytecursor.Cursor, enc byte, size int) uint64 {
	switch enc & peFormat {
	case peAbsptr:
		return r.Uint(size)
	case peSigned:
		return uint64(r.Int(size))
	case peULEB:
		return r.ULEB()
	case peSLEB:
		return uint64(r.SLEB())
	case peUdata2:
		return r.Uint(2)
	case peUdata4:
		return r.Uint(4)
	case peUdata8, peSdata8:
		return r.Uint(8)
	case peSdata2:
		return uint64(r.Int(2))
	case peSdata4:
		return uint64(r.Int(4))
	}
	r.Unsupported(r.Pos, fmt.Sprintf("unknown pointer encoding 0x%02x", enc))
	return 0
}

// fixedSize returns the size of a pointer in that encoding, or 0 if it varies.
func fixedSize(enc byte, size int) int {
	if enc&peBase == peAligned || enc == peOmit || enc&peIndirect != 0 {
		return 0
	}
	switch enc & peFormat {
	case peAbsptr, peSigned:
		return size
	case peUdata2, peSdata2:
		return 2
	case peUdata4, peSdata4:
		return 4
	case peUdata8, peSdata8:
		return 8
	}
	return 0
}
