package disasm

import "dbg/arch"

// Syntax is the notation of x86 instructions. Other architectures have one.
type Syntax uint8

const (
	ATT Syntax = iota
	Intel
)

// Symbolizer returns the name of the symbol at or before an address, and the distance to it. It
// reports false if no symbol contains the address.
type Symbolizer func(addr uint64) (name string, off uint64, ok bool)

// Options control the text.
type Options struct {
	Syntax Syntax
	Symbol Symbolizer // nil: no symbols
}

// Instruction is one decoded instruction.
type Instruction struct {
	Len    int
	Text   string
	IsCall bool // it calls a function
}

// Supports reports whether the package decodes instructions of an architecture.
func Supports(a *arch.Arch) bool { return a == arch.AMD64 || a == arch.ARM64 }

// Length returns the length in bytes of the instruction at the start of code. It does not allocate.
// It returns 0 if code ends before the instruction does. A byte that begins no instruction has the
// length that objdump gives to "(bad)", at least 1.
func Length(a *arch.Arch, code []byte) int {
	switch a {
	case arch.AMD64:
		var in x86Inst
		in.decode(code)
		return in.length
	case arch.ARM64:
		return min(len(code)&^3, 4)
	}
	return 0
}

// Decode decodes the instruction at the start of code, which is at pc. If code ends before the
// instruction does, Len is 0 and Text is empty.
func Decode(a *arch.Arch, code []byte, pc uint64, o Options) Instruction {
	switch a {
	case arch.AMD64:
		var in x86Inst
		in.decode(code)
		if in.length == 0 {
			return Instruction{}
		}
		t := x86Text{x86Inst: &in, pc: pc, syntax: o.Syntax, symbol: o.Symbol}
		return Instruction{Len: in.length, Text: t.text(), IsCall: in.isCall()}
	case arch.ARM64:
		return decodeARM64(code, pc, o.Symbol)
	}
	return Instruction{}
}
