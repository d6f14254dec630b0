package code

// vectorWrites covers the general instructions that vectorLength knows: BMI1, BMI2, TBM, and
// moves from vectors and masks (opcode map, opcode).
func vectorWrites(b []byte) uint16 {
	b = b[prefixes(b):]
	ext, v, op, mapNo := b[1], b[1], b[2], byte(1) // 0xc5
	modrm := b[min(3, len(b)-1)]
	if b[0] != 0xc5 {
		n := 3
		if b[0] == 0x62 {
			n = 4
		}
		v, op, modrm, mapNo = b[2], b[n], b[n+1], b[1]&0x1f
		if b[0] == 0x62 {
			mapNo &= 7
		}
	}
	reg := modrm >> 3 & 7
	if ext&0x80 == 0 {
		reg += 8
	}
	rm := modrm & 7
	if b[0] != 0xc5 && ext&0x20 == 0 {
		rm += 8
	}
	vvvv := ^v >> 3 & 15
	switch mapNo {
	case 1:
		switch {
		case op == 0x7e && modrm>>6 == 3 && v&3 == 1: // VMOVD, VMOVQ; VMOVQ between vectors has another prefix
			return 1 << rm
		case op == 0x50, op == 0xd7, op == 0x2c, op == 0x2d, op == 0x93: // VMOVMSK, VPMOVMSKB, VCVTTSD2SI, KMOV
			return 1 << reg
		}
	case 2:
		switch op {
		case 0xf2, 0xf5, 0xf7: // ANDN, BZHI, PDEP, PEXT, BEXTR, SHLX and similar
			return 1 << reg
		case 0xf3: // BLSR and similar
			return 1 << vvvv
		case 0xf6: // MULX
			return 1<<reg | 1<<vvvv
		}
	case 3:
		switch {
		case op == 0xf0: // RORX
			return 1 << reg
		case 0x14 <= op && op <= 0x17 && modrm>>6 == 3: // VPEXTR
			return 1 << rm
		}
	case 9:
		if op <= 2 {
			return 1 << vvvv
		}
	case 10:
		return 1 << reg
	}
	return 0
}

// prefixes returns the number of legacy prefixes: Intel SDM volume 2, 2.1.1.
func prefixes(b []byte) int {
	for i, c := range b {
		switch c {
		case 0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65:
		default:
			return i
		}
	}
	return len(b)
}

// vectorLength returns the length of an instruction with a VEX, EVEX or XOP prefix (Intel SDM
// volume 2, 2.3 and 2.7; AMD's manual, volume 6), or 0 if it is not one.
func vectorLength(b []byte) int {
	p := prefixes(b)
	b = b[p:]
	var n int // length of prefix and opcode
	var mapNo byte
	switch {
	case len(b) >= 4 && b[0] == 0xc5:
		n, mapNo = 3, 1
	case len(b) >= 5 && b[0] == 0xc4:
		n, mapNo = 4, b[1]&0x1f
	case len(b) >= 5 && b[0] == 0x8f && b[1]&0x1f >= 8:
		n, mapNo = 4, b[1]&0x1f
	case len(b) >= 6 && b[0] == 0x62:
		n, mapNo = 5, b[1]&7
	case len(b) == 3 && b[0] == 0xc5 && b[2] == 0x77:
		return p + 3
	default:
		return 0
	}
	op := b[n-1]
	if mapNo == 1 && op == 0x77 && b[0] != 0x62 { // VZEROUPPER, VZEROALL
		return p + n
	}
	l := ModRMLength(b[n:])
	if l == 0 {
		return 0
	}
	n += l
	switch {
	case mapNo == 3, mapNo == 8, mapNo == 1 && (op >= 0x70 && op <= 0x73 || op >= 0xc2 && op <= 0xc6):
		n++ // imm8
	case mapNo == 10:
		n += 4
	}
	if n > len(b) {
		return 0
	}
	return p + n
}

// ModRMLength returns the length in bytes of the ModRM byte at the start of b, with the SIB byte and
// the displacement that follow it; 0 if b ends before them (Intel SDM volume 2, 2.1.5). It is the same
// in 32-bit and in 64-bit mode.
func ModRMLength(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	mod, rm := b[0]>>6, b[0]&7
	n := 1
	if mod != 3 && rm == 4 {
		if len(b) < 2 {
			return 0
		}
		n++
		if mod == 0 && b[1]&7 == 5 {
			n += 4
		}
	}
	switch {
	case mod == 0 && rm == 5, mod == 2:
		n += 4
	case mod == 1:
		n++
	}
	if n > len(b) {
		return 0
	}
	return n
}

// IsVector reports whether an instruction with a VEX, EVEX or XOP prefix is at the start of b.
func IsVector(b []byte) bool { return vectorLength(b) > 0 }
