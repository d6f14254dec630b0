// Package symbols answers what is at an address of a file, and where in the file a piece of source
// is: functions, lines, inlined calls, variables, and the places of breakpoints.
//
// What it gives: a [Module] for each file, with lookups from addresses to functions, lines and
// chains of inlined calls, from names and lines to addresses, and the variables and types of the
// program.
//
// What you bring: an opened [image.File]. Addresses are image.Addr, the file's own. Locations of
// variables are returned as DWARF expressions with the context that they need
// ([dbg/symbols/entry.Location]); package expr evaluates them in a frame.
//
// It stands on package dwarf and on packages of its own: debugfiles finds the files, symtab reads
// their symbol tables, unitindex finds units by address, names finds entries by name, callsite reads
// the calls of a function, types describes types. A Module wires them and is the only thing that
// callers need.
//
// It stays fast because nothing is read until it is asked for, and then only the compilation unit
// concerned: an address finds its unit in .debug_aranges; a unit's list of functions is read on the
// first question about it; a function's inner blocks on the first question about that function.
// Only questions by name that the symbol table cannot answer read all units ([Module.Global],
// [Module.Type]), once.
//
// Everything in a file may be corrupt. The answer is then nil, false or an empty list, never a
// panic and never a guess.
//
// Methods of a Module, and of the values that it returns, are for one goroutine at a time. Strings
// and types stay valid after Close; nothing else may be asked then.
package symbols
