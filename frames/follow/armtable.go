package follow

import (
	"encoding/binary"
)

// maxCases limits the cases of a jump table.
const maxCases = 512

// tableJump follows ARM's jumps through a table that comes after the instruction in text; f.at is
// after it. It returns false for all other instructions.
func (f *forward) tableJump(text []byte) bool {
	if len(text) < 4 {
		return false
	}
	if f.thumb {
		return f.thumbTable(text)
	}
	switch w := binary.LittleEndian.Uint32(text); {
	case w&0x0ffffff0 == 0x008ff100: // ADD pc, pc, Rm, LSL #2: one of the branches that follow
		f.branchTable()
	case w&0x0ffffff0 == 0x079ff100: // LDR pc, [pc, Rm, LSL #2]
		f.addressTable()
	case w&0x0ffff010 == 0x008ff000: // ADD pc, pc, Rm with another shift: into the instructions that follow
	default:
		return false
	}
	// The condition may be false: the next instruction handles values that are not in the table.
	f.addPath(f.at.pc)
	f.going = false
	return true
}

// addPath adds a pending path from here. It returns false if there are too many.
func (f *forward) addPath(to uint64) bool {
	if len(f.paths) >= maxPaths {
		return false
	}
	other := f.at
	other.pc = to
	f.paths = append(f.paths, other)
	return true
}

// thumbTable handles TBB and TBH (Arm ARM, A8.8.238): each entry is half the distance from the
// table to a case. The table ends where its first case begins, because compilers put the cases
// there.
func (f *forward) thumbTable(text []byte) bool {
	first, second := binary.LittleEndian.Uint16(text), binary.LittleEndian.Uint16(text[2:])
	if first != 0xe8df || second&0xffe0 != 0xf000 {
		return false
	}
	size, table, end := uint64(second>>4&1)+1, f.at.pc, f.hi
	var buf [16]byte
	for i := uint64(0); i < maxCases && table+(i+1)*size <= end; i++ {
		b := f.sim.Read(table+i*size, buf[:])
		if uint64(len(b)) < size {
			break
		}
		n := uint64(b[0])
		if size == 2 {
			n = uint64(binary.LittleEndian.Uint16(b))
		}
		if end = min(end, table+2*n); !f.addPath(table + 2*n) {
			break
		}
	}
	f.noteData(table, (min(end, f.hi)-table+1)&^1)
	f.going = false
	return true
}

// branchTable adds the branches after the next instruction.
func (f *forward) branchTable() {
	var buf [16]byte
	for i := range uint64(maxCases) {
		at := f.at.pc + 4 + 4*i
		b := f.sim.Read(at, buf[:])
		if len(b) < 4 || b[3] != 0xea || at >= f.hi || !f.addPath(at) {
			return
		}
	}
}

// addressTable adds the addresses after the next instruction. They end where the first case begins.
func (f *forward) addressTable() {
	var buf [16]byte
	end := f.hi
	for i := uint64(0); i < maxCases && f.at.pc+8+4*i <= end; i++ {
		b := f.sim.Read(f.at.pc+4+4*i, buf[:])
		if len(b) < 4 {
			return
		}
		to := uint64(binary.LittleEndian.Uint32(b))
		if to < f.lo || to >= f.hi || !f.addPath(to) {
			return
		}
		f.noteData(f.at.pc+4+4*i, 4)
		if to > f.at.pc {
			end = min(end, to)
		}
	}
}

// noteData records that the bytes at an address are data.
func (f *forward) noteData(at, size uint64) {
	if f.data == nil {
		f.data = map[uint64]uint64{}
	}
	if f.reached[at].rule == nil && size > 0 && size <= 2*maxCases {
		f.data[at] = max(f.data[at], size)
	}
}

// noteLiteral records the words between the instructions that the instruction at pc, in text, loads
// (Arm ARM, A8.8.64 LDR, A8.8.72 LDRD, A8.8.333 VLDR).
func (f *forward) noteLiteral(pc uint64, text []byte) {
	var imm, size uint64
	up := true
	base := pc + 8
	if f.thumb {
		base = (pc + 4) &^ 3
	}
	switch len(text) {
	case 2:
		w := binary.LittleEndian.Uint16(text)
		if w>>11 != 9 {
			return
		}
		imm, size = uint64(w&0xff)*4, 4
	case 4:
		w := binary.LittleEndian.Uint32(text)
		vldr, ldrd := w&0x0f3f0e00 == 0x0d1f0a00, false
		ldr := w&0x0f7f0000 == 0x051f0000
		if f.thumb {
			w = w<<16 | w>>16
			ldr, ldrd, vldr = w&0xff7f0000 == 0xf85f0000, w&0xfe7f0000 == 0xe85f0000, w&0xff3f0e00 == 0xed1f0a00
		}
		up = w>>23&1 != 0
		switch {
		case ldr:
			imm, size = uint64(w&0xfff), 4
		case ldrd:
			imm, size = uint64(w&0xff)*4, 8
		case vldr:
			imm, size = uint64(w&0xff)*4, 4+uint64(w>>8&1)*4
		default:
			return
		}
	}
	if !up {
		imm = -imm
	}
	f.noteData(base+imm, size)
}
