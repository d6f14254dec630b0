// Package emulate takes a thread over one x86-64 instruction without a single step.
//
// Decode finds out what an instruction does, and Run does it to a register file and to memory. A
// debugger that has replaced the first byte of the instruction by a breakpoint can then continue
// the thread at once. Displace rewrites an instruction so that a single step of it at another
// address has the same effect.
//
// You bring the original bytes of the instruction, the registers of the thread, with RIP at the
// instruction, and a Memory that hides the breakpoints. Memory must refuse what the program itself
// could not read or write. It should write an aligned operand as a whole: the processor does.
//
// The format is that of 64-bit mode: Intel SDM volume 2, chapter 2 (prefixes, ModRM, VEX, EVEX) and
// appendix A (the opcode maps). Each file covers one part of it:
//
//   - layout.go and layout_tables.go find the fields of an instruction, and so its length.
//   - decode.go and decode_tables.go map opcodes to kinds of instructions and their operands.
//   - kind.go maps kinds to functions; run.go, operand.go, arith.go, shift.go, stack.go and
//     branch.go execute an Op.
//   - displace.go and displace_tables.go rewrite instructions for another address.
//
// Both sides are conservative: an encoding that is not in a table is not claimed, and an Op whose
// operands cannot be read or written changes nothing. The caller then steps over the instruction in
// place, and the processor raises the fault.
//
// The SDM leaves some flags undefined, for example OF after a shift by two. Run sets them as AMD's
// Zen processors do. An Intel processor may differ in these, and only in these.
//
// The package executes no vector and no x87 instruction. It knows no shadow stacks, and it ignores
// watchpoints: a store by Run does not trigger a debug register.
//
// Run allocates nothing and takes less than 100 ns, besides the time that Memory takes.
package emulate
