// Package eval gives values their types: it reads a program's variables, evaluates what a user
// types, and writes values as people read them.
//
// What it gives you: ReadVariable for a variable in a frame, Evaluate for an expression, Format for
// its text, Children and NumChildren for a tree of it, Examine for memory, RegisterByName for registers;
// Compile for a condition that is decided often: a Program needs registers and memory and no lock.
//
// What you must bring: an Env, which is the selected frame's world: its memory, names, types and
// registers; a FrameContext to read a variable.
//
// The language is C's with gdb's additions ($registers, $variables, $1, a@n, {type}addr) and the
// names of C++, Rust and Go. Text has the shape that gdb 13 gives it, so that people and scripts
// that know gdb need not learn again. Where errors have gdb's words, they are gdb's.
//
// What it does not do: call functions of the program, run C++ operators.
// 128-bit integers are shown, not computed with; arithmetic on long double is done in float64.
//
// Values are read as late as can be: a Value of an array of a billion elements
// holds its address, and only elements that are asked for are read. Texts, types and memory
// come from outside: depth, size and number of everything are bounded (limits.go), and no input panics.
//
// Every architecture that arch knows is little-endian, and so is this package.
package eval
