package frames

// vexLength is the length of an instruction with a VEX or EVEX prefix (Intel SDM volume 2, 2.3 and
// 2.7), which are all about vector and mask registers or write a general register other than RSP and RBP
// in code that compilers make; 0 if it is none.
func vexLength(b []byte) int {
	if r := rexless(b); len(r) > 2 && r[0] == 0x0f && (r[1] == 0xc7 || r[1] == 0xae) { // XSAVEC and its kin
		if l := modrmSize(r[2:]); l > 0 {
			return len(b) - len(r) + 2 + l
		}
		return 0
	}
	var n int // of prefix and opcode
	var mapNo byte
	switch {
	case len(b) >= 4 && b[0] == 0xc5:
		n, mapNo = 3, 1
	case len(b) >= 5 && b[0] == 0xc4:
		n, mapNo = 4, b[1]&0x1f
	case len(b) >= 6 && b[0] == 0x62:
		n, mapNo = 5, b[1]&7
	default:
		return 0
	}
	op := b[n-1]
	if mapNo == 1 && op == 0x77 && b[0] != 0x62 { // VZEROUPPER, VZEROALL
		return n
	}
	l := modrmSize(b[n:])
	if l == 0 {
		return 0
	}
	n += l
	if mapNo == 3 || mapNo == 1 && (op >= 0x70 && op <= 0x73 || op >= 0xc2 && op <= 0xc6) {
		n++ // imm8
	}
	if n > len(b) {
		return 0
	}
	return n
}

// modrmSize is the length of ModRM, SIB and displacement in 64-bit mode; 0 if they end too early.
func modrmSize(b []byte) int {
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

// rexless is the code behind a REX prefix.
func rexless(b []byte) []byte {
	if len(b) > 0 && b[0]&0xf0 == 0x40 {
		return b[1:]
	}
	return b
}
