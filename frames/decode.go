package frames

import (
	"golang.org/x/arch/x86/x86asm"

	"dbg/code"
)

// decode is one instruction and its length, 0 if it is none that is known. Those that the
// decoder does not know, or does not know the length of, are taken for FNOPs of their length, whose
// operands are the general registers that are written.
func decode(text []byte) (x86asm.Inst, int) {
	if !code.IsVector(text) {
		in, err := x86asm.Decode(text, 64)
		if err == nil && in.Len > 0 && in.Op != 0 {
			return in, in.Len
		}
	}
	in := code.DecodeX86(text)
	if in.Next != code.Onward || in.Op != code.Nothing || in.Len == 0 {
		return x86asm.Inst{}, 0
	}
	n := x86asm.Inst{Op: x86asm.FNOP, Len: int(in.Len)}
	for r, i := x86asm.RAX, 0; r <= x86asm.R15 && i < len(n.Args); r++ {
		if in.Kills&(1<<(r-x86asm.RAX)) != 0 {
			n.Args[i] = r
			i++
		}
	}
	return n, n.Len
}
