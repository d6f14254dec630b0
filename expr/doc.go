// Package expr evaluates DWARF expressions (DW_OP_*): DWARF 5 section 2.5 and
// 2.6, with the GNU extensions that compilers still write. It is the only
// evaluator: call frame rules, variable locations, frame bases and entry values
// all come here.
//
// What it gives you: Eval for an expression that computes a value or an address,
// Locate for one that says where an object is (memory, register, nowhere,
// the value itself, or a composition of pieces), Dump for one to be read by people.
//
// What you must bring: a Context with the registers and memory of the frame, and
// a function for each thing that lives outside the expression (the CFA, the frame base,
// TLS, base types). Whatever is missing makes only the operations fail that
// need it, with an error that names it.
//
// Values are of the generic type (an integer of the size of an address,
// arithmetic modulo that size) or of a base type of 1 to 8 bytes; see value.go.
// Base types of more than 8 bytes are refused with an error.
//
// Expressions come from files that may be corrupt or hostile. Steps, stack
// depth, call depth, pieces and the bytes of implicit values are all bounded (see
// limits.go), and no input makes the package panic.
//
// A Context belongs to one goroutine. It keeps the memory that an evaluation
// needs, so that all but the first Eval with it allocate nothing.
package expr
