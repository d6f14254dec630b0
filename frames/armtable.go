package frames

import (
	"encoding/binary"
)

// maxCases bounds a jump table.
const maxCases = 512

// tableJump follows ARM's jumps through a table that stands behind the instruction, text; f.at is behind it. It is false for
// all others.
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
	// The condition may not hold: the next instruction is for what the table does not have.
	f.addWay(f.at.pc)
	f.going = false
	return true
}

// addWay keeps a way from here for later; false if there are too many.
func (f *forward) addWay(to uint64) bool {
	if len(f.ways) >= startWays {
		return false
	}
	other := f.at
	other.pc = to
	f.ways = append(f.ways, other)
	return true
}

// thumbTable is for TBB and TBH (Arm ARM, A8.8.238): each entry is half the distance from the table to a case. The table ends where
// the first of its cases begins: compilers put them there.
func (f *forward) thumbTable(text []byte) bool {
	first, second := binary.LittleEndian.Uint16(text), binary.LittleEndian.Uint16(text[2:])
	if first != 0xe8df || second&0xffe0 != 0xf000 {
		return false
	}
	size, table, end := uint64(second>>4&1)+1, f.at.pc, f.hi
	var buf [16]byte
	for i := uint64(0); i < maxCases && table+(i+1)*size <= end; i++ {
		b := f.sim.read(table+i*size, buf[:])
		if uint64(len(b)) < size {
			break
		}
		n := uint64(b[0])
		if size == 2 {
			n = uint64(binary.LittleEndian.Uint16(b))
		}
		if end = min(end, table+2*n); !f.addWay(table + 2*n) {
			break
		}
	}
	f.going = false
	return true
}

// branchTable adds the branches behind the next instruction.
func (f *forward) branchTable() {
	var buf [16]byte
	for i := range uint64(maxCases) {
		at := f.at.pc + 4 + 4*i
		b := f.sim.read(at, buf[:])
		if len(b) < 4 || b[3] != 0xea || at >= f.hi || !f.addWay(at) {
			return
		}
	}
}

// addressTable adds the addresses behind the next instruction. They end where the first of the cases begins.
func (f *forward) addressTable() {
	var buf [16]byte
	end := f.hi
	for i := uint64(0); i < maxCases && f.at.pc+8+4*i <= end; i++ {
		b := f.sim.read(f.at.pc+4+4*i, buf[:])
		if len(b) < 4 {
			return
		}
		to := uint64(binary.LittleEndian.Uint32(b))
		if to < f.lo || to >= f.hi || !f.addWay(to) {
			return
		}
		if to > f.at.pc {
			end = min(end, to)
		}
	}
}
