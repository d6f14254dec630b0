// Package jit reads what a program tells debuggers about code that it made while it ran.
//
// It gives the list of symbol files of the GDB JIT interface (GDB manual, "JIT Compilation Interface"), their bytes,
// and the functions of a perf map (Linux, tools/perf/Documentation/jit-interface.txt).
//
// You bring the program's memory and the address of __jit_debug_descriptor, or the text of a perf map. The package knows
// no process: it does not look for the descriptor, follow registrations or interpret symbol files.
//
// Everything it reads is hostile: lists may be circular or damaged, and sizes may be absurd. Each function has
// bounds, and returns what it read before it met an error.
package jit
