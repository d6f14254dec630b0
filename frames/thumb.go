package frames

import (
	"encoding/binary"
	"slices"

	"dbg/arch"
	"dbg/code"
	"dbg/image"
	"dbg/target"
)

// isThumb reports whether the function that starts at an address of the file is in Thumb code: its symbol says so, or, if
// there is none, its first words do not look like instructions of ARM, which nearly all are unconditional.
func (w *Walk) isThumb(m *Module, lo uint64) bool {
	m.thumbOnce.Do(func() {
		m.reading.Lock()
		defer m.reading.Unlock()
		for _, f := range []*image.File{m.file, m.debug} {
			if f == nil || f.Arch() != arch.ARM {
				continue
			}
			for i, a := range f.SymbolTable().Addrs() {
				if e, ok := f.SymbolTable().Entry(i); ok && e.Kind == image.Func {
					m.functions = append(m.functions, uint64(a))
				}
			}
		}
		slices.Sort(m.functions)
	})
	if _, ok := slices.BinarySearch(m.functions, lo|1); ok {
		return true
	}
	if _, ok := slices.BinarySearch(m.functions, lo); ok {
		return false
	}
	if lo%4 != 0 {
		return true
	}
	var buf [16]byte
	b := (&simulation{w: w, module: m}).read(lo+m.Bias, buf[:])
	return len(b) < 8 || b[3]>>4 != 14 || b[7]>>4 != 14
}

// armCallTarget is the address that a call of ARM or Thumb before pc has in its instruction, odd if it leads to Thumb code; 0 if
// there is none.
func armCallTarget(b []byte, pc target.Addr) target.Addr {
	n := len(b)
	if n < 4 {
		return 0
	}
	w := binary.LittleEndian.Uint32(b[n-4:])
	imm := target.Addr(int64(int32(w<<8) >> 6))
	switch {
	case pc%4 == 0 && w>>24 == 0xeb: // BL
		return (pc + 4 + imm) & 0xffffffff
	case pc%4 == 0 && w>>25 == 0x7d: // BLX
		return (pc+4+imm+target.Addr(w>>23&2))&0xffffffff | 1
	}
	in := code.DecodeThumb(b[n-4:])
	switch {
	case in.Len != 4:
		return 0
	case in.Next == code.Call: // BL
		return (pc+target.Addr(int64(in.Imm)))&0xffffffff | 1
	case in.Next == code.CallFar && w>>16&0xd001 == 0xc000: // BLX: the same offset from the word that PC is in
		to := code.DecodeThumb([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w>>24) | 0x10})
		return (pc&^3 + target.Addr(int64(to.Imm))) & 0xfffffffc
	}
	return 0
}
