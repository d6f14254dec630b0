// Package orc reads the unwind tables of the Linux kernel for x86-64, ORC, and turns entries into rows.
//
// An entry describes the code from its address up to the next entry's: how to find the caller's stack
// pointer, RBP, and the return address. The kernel's objtool makes the entries from the instructions,
// inline assembly and hand-written code included.
//
// # Format
//
// The section .orc_unwind_ip has one signed 32-bit number for each entry, relative to its own place; .orc_unwind
// has six bytes for each: two signed offsets, and bit fields. The fields' meaning depends on the kernel
// (arch/x86/include/asm/orc_types.h of each version; docs: arch/x86/orc-unwinder.rst):
//
//   - version 1, Linux 4.14 to 6.2: the register numbers, a type (call, registers, part of the registers), an end
//     bit. An entry without a register for SP is a gap, or the end of the stack.
//   - version 2, Linux 6.3: a signal bit before the end bit.
//   - version 3, from Linux 6.4: gap and end of stack are types.
//   - version 4, Linux 7: as version 3, with other register numbers, and RAX.
//
// The version numbers are this package's. From 6.4 (and 6.3.10) on, the section .orc_header has a hash of the
// definition, which decides. Before that the kernel's release decides, and the entries must be consistent
// with it. Without a release the entries alone decide, if they can. Before 5.12 an indirect offset from SP was added
// before the word was read, later after it: see [Config].Release.
//
// # What it does not do
//
// ORC does not describe registers other than RSP, RBP, RIP and, for code that was interrupted, those in struct pt_regs.
// All others are unknown in the caller. LoongArch's ORC is not read. Relocations must have been applied.
//
// Look-ups do not allocate. A table reads the sections in place if they are sorted; modules' are not, and need
// four bytes an entry. Several goroutines may use a Table.
package orc
