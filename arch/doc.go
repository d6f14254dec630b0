// Package arch holds the facts of each processor architecture that a debugger
// needs: which registers there are, how DWARF numbers them, which of them a
// callee must preserve, where the program counter is, which bytes make a
// breakpoint.
//
// A register is named by its DWARF number of its architecture and by nothing
// else. Every other numbering (ptrace's struct order, compact unwind's, a
// minidump's) stays private to the package that decodes it.
//
// A register's value may be unknown. Registers carries one bit for each slot
// that says whether its value is known; an unknown register is never zero, it
// is unknown.
//
// Everything here is immutable after program start. The package reads no file
// and knows no process.
package arch
