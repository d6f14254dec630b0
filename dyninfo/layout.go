package dyninfo

import (
	"encoding/binary"
	"fmt"

	"dbg/arch"
	"dbg/target"
)

// Names in a program. A library of libunwind has only the function in its dynamic symbols.
const (
	ListSymbol        = "_U_dyn_info_list"
	ListAddressSymbol = "_U_dyn_info_list_addr"
)

// Layout describes the layout of libunwind's structures: the size of a word (unw_word_t, and a pointer)
// and the order of bytes.
type Layout struct {
	Order binary.ByteOrder
	Word  int // 4 or 8
}

// LayoutOf returns the layout of an architecture's programs.
func LayoutOf(a *arch.Arch) Layout { return Layout{Order: a.ByteOrder, Word: a.PtrSize} }

// The sizes in bytes of the structures in libunwind-dynamic.h.
const (
	maxHeader = 16 // unw_dyn_info_list_t with words of 8 bytes
	maxInfo   = 88 // unw_dyn_info_t
	maxOp     = 16 // unw_dyn_op_t
)

func (l Layout) headerSize() int { return 8 + l.Word }

// infoSize is the size of unw_dyn_info_t without the tail of its union that a format does not use:
// the union has four words, or, in unw_dyn_proc_info_t, three and two numbers of 4 bytes.
func (l Layout) infoSize() int { return l.unionOffset() + max(4*l.Word, 3*l.Word+8) }

func (l Layout) unionOffset() int      { return 6*l.Word + 8 }
func (l Layout) regionHeaderSize() int { return l.Word + 8 }
func (l Layout) opSize() int           { return 8 + l.Word }

func (l Layout) word(b []byte) uint64 {
	if l.Word == 8 {
		return l.Order.Uint64(b)
	}
	return uint64(l.Order.Uint32(b))
}

// signed is a word as a signed number.
func (l Layout) signed(b []byte) int64 {
	if l.Word == 8 {
		return int64(l.Order.Uint64(b))
	}
	return int64(int32(l.Order.Uint32(b)))
}

// read fills b from an address on. what is named in the error.
func read(mem target.Memory, at target.Addr, b []byte, what string) error {
	if _, err := mem.ReadMemory(at, b); err != nil {
		return fmt.Errorf("%s at %s: %w", what, at, err)
	}
	return nil
}
