// Package spelling knows how the names of functions and types are written.
//
// It gives the readable form of a mangled name ([Demangle], [Signature]), the parts of a qualified
// name ([Components], [WithoutTemplate], [SplitParams]), and [Query]: a name as a user types it,
// with the names that it matches.
//
// You bring text. Names come from files and may be damaged or huge: a name that cannot be read
// stays as it is, and names longer than [MaxMangled] are not demangled.
//
// The mangling is that of the Itanium C++ ABI (section 5.1) and of Rust (both forms). Go's names
// are readable as they are.
//
// [LastIdentifier] is the fast path of look-ups by name: it takes the last identifier out of a
// mangled name without demangling it.
package spelling
