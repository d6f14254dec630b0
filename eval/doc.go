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
// Arithmetic has the rules of the language of its operands: promotions in C and C++, no mixed types
// and no overflow in Rust, and a wrap in the type in Go. Integers have up to 128 bits, and floating
// point numbers are rounded once to their own format (real.go). The compilers are the judges:
// session/testdata/expr.
//
// It does not run C++ operators. Functions are called through Caller.
//
// Values are read as late as possible: a Value for an array of a billion elements holds its
// address, and only the requested elements are read. Texts, types and memory are untrusted: the
// depth, size and number of everything are limited (limits.go), and no input causes a panic.
//
// All architectures in package arch are little-endian, and this package assumes that.
package eval
