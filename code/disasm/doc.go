// Package disasm decodes one machine instruction for people to read.
//
// Its question: how long is this instruction, and how does objdump write it?
//
//   - Length returns the length alone, without allocation. Decode returns the text too.
//   - x86-64 is decoded by tables of our own, in AT&T and Intel syntax: the one-byte, 0F, 0F38 and
//     0F3A maps, x87, MMX, 3DNow!, SSE to SSE4.2, and everything in VEX (maps 1 to 3), XOP (8 to 10)
//     and EVEX (1 to 3, 5, 6), with masks, broadcasts and rounding.
//   - arm64 is decoded by golang.org/x/arch, whose text gets the targets and names of objdump; the
//     atomic instructions and memory tags are ours.
//
// You bring the bytes, the address and a function that names symbols. The package reads no files and
// knows no processes. It only names what the instruction contains: a branch target or an address
// relative to rip gets its symbol, a constant does not.
//
// The notation is that of GNU objdump 2.40, with one blank after the name and with addresses as gdb
// prints them: 0x401136 <main+4>. The opcodes are those of the Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 2, appendix A, and the AMD64 Architecture Programmer's Manual,
// volumes 3 to 6. Tests compare every opcode with objdump.
//
// It does not decode APX (REX2, EVEX map 4), the SVE and pointer authentication instructions of
// arm64, or other architectures. Bytes that begin no instruction are "(bad)" on x86-64, with
// objdump's length, and .inst on arm64. In code that a processor rejects (a prefix twice, EVEX.b
// without a broadcast) the text may differ from objdump's, which prints such bits anyway.
//
// The tables are text. They are compiled when the first instruction is decoded, in about 2 ms.
//
// Package code answers other questions about the same bytes: what an instruction does to the stack.
// The package has no state that changes, so several goroutines may call it.
package disasm
