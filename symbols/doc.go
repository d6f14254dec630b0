// Package symbols answers what the source has to say about an address, and
// where in the file a piece of source is: functions, lines, inlined calls,
// variables and types.
//
// What it gives: a [Module] for each file, with lookups from addresses to
// functions, lines and chains of inlined calls, from names and lines to
// addresses, and the variables and types of the program.
//
// What you bring: an opened [image.File]. Addresses are image.Addr, the file's
// own. Locations of variables are returned as DWARF expressions with the
// context that they need; package expr evaluates them in a frame.
//
// It stands on package dwarf (debug information of the file, or of its separate
// debug file) and on the symbol tables of ELF and Mach-O files where there is none.
//
// It stays fast because nothing is read until it is asked for, and then only
// the compilation unit concerned: an address finds its unit in .debug_aranges;
// a unit's list of functions is read on the first question about it; a
// function's inner blocks on the first question about that function. Only
// questions by name that the ELF symbol table can't answer read all units
// ([Module.Global], [Module.Type]), once.
//
// Everything in a file may be corrupt. What can't be understood is not known:
// nil, false or an empty list, never a panic and never a guess.
//
// Methods of a Module, and of what it returns, are called by one goroutine at a
// time. Strings and types stay valid after Close; nothing else may be asked
// then.
package symbols
