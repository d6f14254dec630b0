// Package expr evaluates DWARF expressions (DW_OP_*): DWARF 5 section 2.5 and 2.6, with the GNU
// extensions that compilers still write. It is the only evaluator in the program: call frame rules,
// variable locations, frame bases and entry values all use it.
//
// What it gives you: Eval evaluates an expression that computes a value or an address. Locate
// evaluates one that describes the location of an object (memory, a register, none, the value
// itself, or a composition of pieces). Dump and Listing print one. Linearize translates a simple
// one into steps for a compiler.
//
// What you must bring: a Context with the registers and memory of the frame, and a function for
// each input from outside the expression (the CFA, the frame base, TLS, base types). A missing
// input fails only the operations that need it, with an error that names it.
//
// Values have the generic type (an integer of the size of an address, with arithmetic modulo that
// size), a base type of 1 to 8 bytes, or x87's extended format; see value.go and extended.go. Other
// base types are an error.
//
// Expressions come from files that may be corrupt or hostile. Steps, stack depth, call depth,
// pieces and the bytes of implicit values are all limited (see limits.go), and no input makes the
// package panic.
//
// A Context belongs to one goroutine. It saves the memory of an evaluation, so that all but the
// first Eval with it allocate nothing.
package expr
