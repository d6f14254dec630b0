package cfi

import (
	"encoding/binary"

	"dbg/internal/ehpointer"
)

// span is a range of addresses and the offset of the FDE that describes it.
type span struct{ lo, hi, off uint64 }

// entry holds the parts of an FDE that its rows need: its range, and the start and end of its
// instructions in the section.
type entry struct {
	span
	instr [2]int
}

// entry reads the FDE at off into e and finds its CIE.
func (x *exec) entry(off uint64, e *entry) (*cieState, error) {
	if k := x.commonEntry(off, e); k != nil {
		return k, nil
	}
	return x.anyEntry(off, e)
}

func (x *exec) anyEntry(off uint64, e *entry) (*cieState, error) {
	var f FDE
	if err := x.t.fde(off, &f, x); err != nil {
		return nil, err
	}
	e.span, e.instr = span{f.Lo, f.Hi, off}, f.instr
	return x.cie(f.CIE.Offset)
}

// commonEntry reads an FDE of the kind that fills .eh_frame on 64-bit machines, with a 32-bit
// length and a 4-byte signed address relative to its own place, or of the kind that fills
// .debug_frame, with absolute addresses. It returns nil for any other and for a possible defect:
// the caller then uses fde.
func (x *exec) commonEntry(off uint64, e *entry) *cieState {
	t := x.t
	if !t.little || off > uint64(len(t.data)) {
		return nil
	}
	if t.debug {
		return x.commonDebugEntry(off, e)
	}
	b := t.data[off:]
	if len(b) < 16 {
		return nil
	}
	n, id := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if n < 12 || n >= 0xfffffff0 || uint64(n) > uint64(len(b)-4) || id == 0 {
		return nil
	}
	k, err := x.cie(off + 4 - uint64(int64(int32(id))))
	if err != nil || k.cie.ptrEnc != ehpointer.PCRel|ehpointer.Sdata4 || k.cie.AddrSize != 8 || k.cie.SegSize != 0 {
		return nil
	}
	size := int32(binary.LittleEndian.Uint32(b[12:]))
	lo := t.addr + off + 8 + uint64(int64(int32(binary.LittleEndian.Uint32(b[8:]))))
	e.lo, e.hi, e.off = lo, lo+uint64(size), off
	if size < 0 || lo+uint64(size) < lo {
		return nil
	}
	pos, end := 16, 4+int(n)
	if k.cie.hasData {
		if pos == end || b[pos] >= 0x80 {
			return nil
		}
		if pos += 1 + int(b[pos]); pos > end {
			return nil
		}
	}
	e.instr[0], e.instr[1] = int(off)+pos, int(off)+end
	return k
}

func (x *exec) commonDebugEntry(off uint64, e *entry) *cieState {
	b := x.t.data[off:]
	if len(b) < 24 {
		return nil
	}
	n, id := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if n < 20 || n >= 0xfffffff0 || uint64(n) > uint64(len(b)-4) || id == 0xffffffff {
		return nil
	}
	k, err := x.cie(uint64(id))
	if err != nil || k.cie.AddrSize != 8 || k.cie.SegSize != 0 || k.cie.hasData {
		return nil
	}
	e.off, e.lo = off, binary.LittleEndian.Uint64(b[8:])
	if e.hi = e.lo + binary.LittleEndian.Uint64(b[16:]); e.hi < e.lo {
		return nil
	}
	e.instr = [2]int{int(off) + 24, int(off) + 4 + int(n)}
	return k
}
