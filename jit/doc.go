// Package jit reads the information that a program publishes for debuggers about code that it
// generates at run time.
//
// It returns the list of symbol files of the GDB JIT interface (GDB manual, "JIT Compilation
// Interface"), their bytes, and the functions of a perf map (Linux,
// tools/perf/Documentation/jit-interface.txt).
//
// You bring the program's memory and the address of __jit_debug_descriptor, or the text of a perf
// map. The package does not know processes: it does not search for the descriptor, follow
// registrations or interpret symbol files.
//
// Input is not trusted: lists may be circular or damaged, and sizes may be absurd. Each function
// has limits, and returns the part that it read before an error.
package jit
