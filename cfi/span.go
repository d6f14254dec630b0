package cfi

import "encoding/binary"

// span is a range of addresses and the offset of the FDE that says how to unwind there.
type span struct{ lo, hi, off uint64 }

// entry is what of an FDE its rows need: its range and where its instructions are.
type entry struct {
	span
	instr [2]int
}

// entry reads the FDE at off and finds its CIE.
func (x *exec) entry(off uint64) (entry, *known, error) {
	if e, k := x.commonEntry(off); k != nil {
		return e, k, nil
	}
	var f FDE
	if err := x.t.fde(off, &f, x); err != nil {
		return entry{}, nil, err
	}
	k, err := x.cie(f.CIE.Offset)
	return entry{span{f.Lo, f.Hi, off}, f.instr}, k, err
}

// commonEntry reads an FDE of the kind that fills .eh_frame on 64-bit machines: 32-bit
// lengths, addresses as 4 signed bytes relative to their place; or of the kind that fills
// .debug_frame, with absolute addresses. It gives nil for any other and for what looks
// wrong: fde decides then.
func (x *exec) commonEntry(off uint64) (e entry, k *known) {
	t := x.t
	if !t.little || off > uint64(len(t.data)) {
		return e, nil
	}
	if t.debug {
		return x.commonDebugEntry(off)
	}
	b := t.data[off:]
	if len(b) < 16 {
		return e, nil
	}
	n, id := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if n < 12 || n >= 0xfffffff0 || uint64(n) > uint64(len(b)-4) || id == 0 {
		return e, nil
	}
	k, err := x.cie(off + 4 - uint64(int64(int32(id))))
	if err != nil || k.cie.ptrEnc != pePCRel|peSdata4 || k.cie.AddrSize != 8 || k.cie.SegSize != 0 {
		return e, nil
	}
	size := int32(binary.LittleEndian.Uint32(b[12:]))
	e.off = off
	e.lo = t.addr + off + 8 + uint64(int64(int32(binary.LittleEndian.Uint32(b[8:]))))
	e.hi = e.lo + uint64(size)
	if size < 0 || e.hi < e.lo {
		return e, nil
	}
	pos, end := 16, 4+int(n)
	if k.cie.hasData {
		if pos == end || b[pos] >= 0x80 {
			return e, nil
		}
		if pos += 1 + int(b[pos]); pos > end {
			return e, nil
		}
	}
	e.instr = [2]int{int(off) + pos, int(off) + end}
	return e, k
}

func (x *exec) commonDebugEntry(off uint64) (e entry, k *known) {
	b := x.t.data[off:]
	if len(b) < 24 {
		return e, nil
	}
	n, id := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if n < 20 || n >= 0xfffffff0 || uint64(n) > uint64(len(b)-4) || id == 0xffffffff {
		return e, nil
	}
	k, err := x.cie(uint64(id))
	if err != nil || k.cie.AddrSize != 8 || k.cie.SegSize != 0 || k.cie.hasData {
		return e, nil
	}
	e.off, e.lo = off, binary.LittleEndian.Uint64(b[8:])
	if e.hi = e.lo + binary.LittleEndian.Uint64(b[16:]); e.hi < e.lo {
		return e, nil
	}
	e.instr = [2]int{int(off) + 24, int(off) + 4 + int(n)}
	return e, k
}
