// Package eval reads typed values: it reads a program's variables, evaluates a user's expressions,
// and formats values as text.
//
// It provides ReadVariable for a variable in a frame, Evaluate for an expression, Format for a
// value's text, Children and NumChildren for a tree of its parts, Examine for memory, and
// RegisterByName for registers. Compile is for a condition that is evaluated often: a Program needs
// registers and memory, but no lock.
//
// It needs an Env, which is the environment of the selected frame (its memory, names, types and
// registers), and a FrameContext to read a variable.
//
// The language is C with gdb's additions ($registers, $variables, $1, a@n, {type}addr) and the
// names of C++, Rust and Go. The output has the format of gdb 13, so that people and scripts that
// know gdb need not learn another one. If gdb has words for an error, they are used.
//
// It does not call functions of the program, and does not run C++ operators. 128-bit integers are
// shown, but can't be used in arithmetic. Arithmetic on long double uses float64.
//
// Values are read as late as possible: a Value for an array of a billion elements holds its
// address, and only the requested elements are read. Texts, types and memory are untrusted: the
// depth, size and number of everything are limited (limits.go), and no input causes a panic.
//
// All architectures in package arch are little-endian, and this package assumes that.
package eval
