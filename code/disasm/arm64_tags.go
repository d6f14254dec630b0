package disasm

import (
	"fmt"
	"strconv"
)

// tagARM64 returns the text of the instructions of memory tags (Arm ARM, C4.1.95, FEAT_MTE), or "".
// arm64asm lacks them.
func tagARM64(word uint32) string {
	register := func(n uint32, last string) string {
		if n == 31 {
			return last
		}
		return "x" + strconv.Itoa(int(n))
	}
	rt, rn, rm := word&31, register(word>>5&31, "sp"), word>>16&31
	switch word & 0xffe0fc00 {
	case 0x9ac01000:
		if rm == 31 {
			return fmt.Sprintf("irg %s, %s", register(rt, "sp"), rn)
		}
		return fmt.Sprintf("irg %s, %s, %s", register(rt, "sp"), rn, register(rm, "xzr"))
	case 0x9ac01400:
		return fmt.Sprintf("gmi %s, %s, %s", register(rt, "xzr"), rn, register(rm, "xzr"))
	}
	if word&0xff200000 != 0xd9200000 {
		return ""
	}
	offset := int32(word<<11) >> 23 * 16
	name := [...]string{"stg", "stzg", "st2g", "stz2g"}[word>>22&3]
	at := "[" + rn
	switch word >> 10 & 3 {
	case 0:
		if name != "stzg" {
			return ""
		}
		return fmt.Sprintf("ldg %s, %s", register(rt, "xzr"), atOffset(at, offset))
	case 1:
		at += fmt.Sprintf("], #%d", offset)
	case 2:
		at = atOffset(at, offset)
	case 3:
		at += fmt.Sprintf(", #%d]!", offset)
	}
	return name + " " + register(rt, "sp") + ", " + at
}

// atOffset closes an address with an offset that may be zero.
func atOffset(base string, offset int32) string {
	if offset == 0 {
		return base + "]"
	}
	return fmt.Sprintf("%s, #%d]", base, offset)
}
