package inflate

import "encoding/binary"

// undoX86 undoes xz's filter for x86 code in place (The .xz File Format, 1.2.1, section 5.3.2). The encoder turned the
// relative targets of calls (0xe8) and jumps (0xe9) into absolute ones, where the target's highest byte is 0 or 255.
//
// The encoder leaves a target alone if the bytes before it look like part of another instruction: opcodes
// among the last three bytes are remembered in seen, the nearest in bit 0.
func undoX86(b []byte) {
	seen, last := uint32(0), -1
	for i := 0; i+4 < len(b); i++ {
		if b[i]&0xfe != 0xe8 {
			continue
		}
		distance := i - last
		last = i
		if distance > 3 {
			seen = 0
		} else if seen = seen << (distance - 1) & 7; seen != 0 && !mayConvert(seen, b[i:]) {
			seen = seen<<1 | 1
			continue
		}
		if !isSign(b[i+4]) {
			seen = seen<<1 | 1
			continue
		}
		at := b[i+1 : i+5]
		v := relativeTo(binary.LittleEndian.Uint32(at), uint32(i)+5, seen)
		v &= 1<<25 - 1
		if v&(1<<24) != 0 {
			v |= 0xff << 24
		}
		binary.LittleEndian.PutUint32(at, v)
		i += 4
	}
}

// isSign reports whether a byte can be the highest of a target.
func isSign(c byte) bool { return c == 0 || c == 255 }

// overlap returns how many bytes the target has in common with that of the farthest remembered opcode.
func overlap(seen uint32) int {
	switch {
	case seen >= 4:
		return 3
	case seen >= 2:
		return 2
	}
	return int(seen)
}

// mayConvert reports whether the encoder converted a target in spite of what it remembered.
func mayConvert(seen uint32, b []byte) bool {
	switch seen {
	case 1, 2, 4:
		return !isSign(b[4-overlap(seen)])
	}
	return false
}

// relativeTo subtracts the address of the next instruction from a target. While a byte that another opcode's target
// shares looks like a highest byte, the encoder converted once more.
func relativeTo(target, next, seen uint32) uint32 {
	for {
		v := target - next
		if seen == 0 {
			return v
		}
		bits := 8 * overlap(seen)
		if !isSign(byte(v >> (24 - bits))) {
			return v
		}
		target = v ^ (1<<(32-bits) - 1)
	}
}
