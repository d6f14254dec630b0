package disasm

import (
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
)

// decodeARM64 decodes one instruction of A64. A word that arm64asm does not know is .inst.
func decodeARM64(code []byte, pc uint64, symbol Symbolizer) Instruction {
	if len(code) < 4 {
		return Instruction{}
	}
	in, err := arm64asm.Decode(code[:4])
	if err != nil {
		word := uint64(code[0]) | uint64(code[1])<<8 | uint64(code[2])<<16 | uint64(code[3])<<24
		s := strconv.FormatUint(word, 16)
		return Instruction{Len: 4, Text: ".inst 0x" + strings.Repeat("0", 8-len(s)) + s + " ; undefined"}
	}
	return Instruction{Len: 4, Text: arm64asm.GNUSyntax(in), IsCall: in.Op == arm64asm.BL || in.Op == arm64asm.BLR}
}
