package target

import (
	"encoding/binary"

	"dbg/arch"
)

// SavedState is everything that a thread's registers hold, so that a call into the program can be
// undone. It belongs to the thread and the process that it was taken from.
type SavedState struct {
	General  []byte // the user register set: see DecodeUser
	Extended []byte // the XSAVE area: floating point and vectors

	// Signal is what the target keeps of the signal that the thread stopped with and has not got.
	Signal any
}

// Clone returns a copy that can be changed.
func (s *SavedState) Clone() *SavedState {
	c := *s
	c.General = append([]byte(nil), s.General...)
	c.Extended = append([]byte(nil), s.Extended...)
	return &c
}

// SetGeneral changes a general register of x86-64.
func (s *SavedState) SetGeneral(r arch.Reg, v uint64) bool {
	off, ok := AMD64UserOffset(r)
	if !ok || len(s.General) < off+8 {
		return false
	}
	binary.LittleEndian.PutUint64(s.General[off:], v)
	return true
}

// LeaveSyscall makes the thread not go back into the system call in which it was interrupted.
func (s *SavedState) LeaveSyscall() {
	const origRAX = 15 * 8
	if len(s.General) >= origRAX+8 {
		binary.LittleEndian.PutUint64(s.General[origRAX:], ^uint64(0))
	}
	s.Signal = nil
}

// Wide returns the bytes of a vector or x87 register.
func (s *SavedState) Wide(r arch.Reg) ([]byte, bool) { return AMD64Wide(s.Extended, r) }

// Offsets in the XSAVE area: Intel SDM volume 1, section 13.4.
const (
	xFSW      = 2
	xFTW      = 4
	xStateBV  = 512
	xHasX87   = 1
	xHasSSE   = 2
	xHasAVX   = 4
	xMinimum  = 576 // legacy region and header
	xYMMBytes = 256
)

// SetVector changes the lowest bytes of a vector register, and clears the others. It returns false
// if there are more bytes than the thread's register has.
func (s *SavedState) SetVector(r arch.Reg, b []byte) bool {
	x := s.Extended
	if r < arch.XMM0 || r >= arch.XMM0+16 || len(x) < xMinimum || len(b) > 32 {
		return false
	}
	i := int(r - arch.XMM0)
	var full [32]byte
	copy(full[:], b)
	copy(x[fxXMM+16*i:], full[:16])
	bv := binary.LittleEndian.Uint64(x[xStateBV:]) | xHasSSE
	if len(x) >= xYMMHigh+xYMMBytes && binary.LittleEndian.Uint64(x[xXCR0:])&xHasAVX != 0 {
		copy(x[xYMMHigh+16*i:], full[16:])
		bv |= xHasAVX
	} else if len(b) > 16 {
		return false
	}
	binary.LittleEndian.PutUint64(x[xStateBV:], bv)
	return true
}

// SetPart changes bytes of a vector or x87 register, from the offset off on. The others stay. It
// returns false if the register has fewer bytes.
func (s *SavedState) SetPart(r arch.Reg, off int, data []byte) bool {
	b, ok := s.Wide(r)
	if !ok || off < 0 || off > len(b) || len(data) > len(b)-off {
		return false
	}
	copy(b[off:], data)
	if r >= arch.XMM0 && r < arch.XMM0+16 {
		return s.SetVector(r, b)
	}
	x := s.Extended
	if r < arch.ST0 || r >= arch.ST0+8 || len(x) < xMinimum {
		return false
	}
	copy(x[fxST+16*int(r-arch.ST0):], b[:10])
	binary.LittleEndian.PutUint64(x[xStateBV:], binary.LittleEndian.Uint64(x[xStateBV:])|xHasX87)
	return true
}

// SetX87 makes the x87 stack hold these numbers of ten bytes, the top first, and nothing else. A
// function expects it to be empty when it is called (System V ABI, AMD64 supplement, 3.2.3).
func (s *SavedState) SetX87(values ...[]byte) bool {
	x := s.Extended
	if len(x) < xMinimum || len(values) > 2 {
		return len(values) == 0
	}
	bv := binary.LittleEndian.Uint64(x[xStateBV:])
	if bv&xHasX87 == 0 && len(values) == 0 {
		return true // in its initial state
	}
	top := uint16(8-len(values)) & 7
	fsw := binary.LittleEndian.Uint16(x[xFSW:])&^(7<<11|0x80ff) | top<<11
	binary.LittleEndian.PutUint16(x[xFSW:], fsw)
	x[xFTW] = 0
	for i, v := range values {
		copy(x[fxST+16*i:fxST+16*i+10], v)
		x[xFTW] |= 1 << (int(top) + i) // a bit for each physical register that is in use
	}
	binary.LittleEndian.PutUint64(x[xStateBV:], bv|xHasX87)
	return true
}
