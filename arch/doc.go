// Package arch holds the facts that a debugger needs about each processor architecture: its
// registers and their DWARF numbers, the registers that a callee must preserve, the program
// counter, and the bytes of a breakpoint.
//
// A register is identified only by its DWARF number on its architecture. Every other numbering (the
// order in ptrace's struct, compact unwind's, a minidump's) stays private to the package that
// decodes it.
//
// A register's value may be unknown. Registers has one bit for each slot that tells whether its
// value is known. An unknown register is not zero, it is unknown.
//
// Everything here is immutable after the program has started. The package reads no file and knows
// no process.
package arch
