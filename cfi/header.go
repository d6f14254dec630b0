package cfi

import (
	"encoding/binary"

	"dbg/internal/bytecursor"
	"dbg/internal/ehpointer"
)

// searchTable is the binary search table of .eh_frame_hdr: LSB Core, "The .eh_frame_hdr section".
// Its entries are pairs (start of a function, address of its FDE), sorted by the first.
type searchTable struct {
	data  []byte // the entries
	pos   int    // offset of the first entry in the section, for pc-relative entries
	addr  uint64 // address of the section
	enc   byte
	size  int // size of one pointer
	count int

	common bool // as every linker writes it on 64-bit machines: pairs of 4-byte signed numbers, relative to the section
}

// parseHeader reads .eh_frame_hdr; count is 0 if there is no usable search table.
func (t *Table) parseHeader(data []byte, addr uint64) (s searchTable) {
	r := bytecursor.Cursor{Data: data, Big: !t.little}
	if r.U8() != 1 { // version
		return s
	}
	ptrEnc, countEnc, enc := r.U8(), r.U8(), r.U8()
	b := ehpointer.Bases{Section: addr, Text: t.text, Data: addr} // datarel is relative to this section
	ehpointer.Read(&r, ptrEnc, t.ptr, &b)
	if countEnc == ehpointer.Omit || enc == ehpointer.Omit {
		return s
	}
	count := ehpointer.Read(&r, countEnc, t.ptr, &b)
	size := ehpointer.FixedSize(enc, t.ptr)
	switch enc & ehpointer.Base {
	case 0, ehpointer.PCRel, ehpointer.DataRel, ehpointer.TextRel:
	default:
		return s
	}
	if r.Err() != nil || size == 0 {
		return s
	}
	if fit := uint64(r.Left()) / uint64(2*size); count > fit {
		count = fit // the entries that exist are usable: each hit is verified
	}
	common := enc == ehpointer.DataRel|ehpointer.Sdata4 && t.ptr == 8 && t.little
	return searchTable{data: data, pos: r.Pos, addr: addr, enc: enc, size: size, count: int(count), common: common}
}

// headerEntry returns pointer 0 (function) or 1 (FDE) of entry i.
func (t *Table) headerEntry(i, which int) uint64 {
	s := &t.search
	if s.common {
		return s.addr + uint64(int32(binary.LittleEndian.Uint32(s.data[s.pos+8*i+4*which:])))
	}
	r := bytecursor.Cursor{Data: s.data, Pos: s.pos + (2*i+which)*s.size, Big: !t.little}
	b := ehpointer.Bases{Section: s.addr, Text: t.text, Data: s.addr}
	return ehpointer.Read(&r, s.enc, t.ptr, &b)
}

// searchHeader returns the offset of the FDE that the header lists for pc. It may not cover pc, or
// not be an FDE: the caller verifies it.
func (t *Table) searchHeader(pc uint64) (off uint64, ok bool) {
	s := &t.search
	lo, hi := 0, s.count // the first entry above pc is in [lo, hi]
	if s.common {        // the hot loop of an uncached look-up
		for lo < hi {
			mid := int(uint(lo+hi) / 2)
			if s.addr+uint64(int32(binary.LittleEndian.Uint32(s.data[s.pos+8*mid:]))) > pc {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
	}
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if t.headerEntry(mid, 0) > pc {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == 0 {
		return 0, false
	}
	off = t.headerEntry(lo-1, 1) - t.addr
	return off, off < uint64(len(t.data))
}
