// Package dwarf reads the debug information of one file: DWARF versions 2 to 5,
// 32-bit and 64-bit format, either byte order, with the GNU extensions that gcc
// and dwz use.
//
// What it gives: units, their entries (DIEs) one at a time, attribute values
// with their indirections resolved (string tables, address tables, list
// tables), ranges, location lists, line tables, .debug_aranges, and the tables of
// names: .debug_names and gdb's .gdb_index. It says what is written in the file.
// What it means, names, scopes, types, is package symbols' work.
//
// What you bring: a [Source], which gives the sections' bytes.
//
// References "section 7.5.3" are to the DWARF 5 standard. Not done: macro
// information.
//
// It stays fast because it reads in place: a unit's header is read when the
// unit is asked for, an abbreviation table once, and an [Entry] keeps the raw
// value of each attribute in a slice that is used again. Nothing is allocated
// per entry. A compressed section is inflated only as far as it is read.
//
// All input is hostile. Every read is bounded by its unit, every table by its
// section; a value that can't be read is an error or "not there", and loops are
// the caller's to bound only where it follows references.
//
// A Data is used by one goroutine at a time.
package dwarf
