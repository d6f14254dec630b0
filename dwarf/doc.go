// Package dwarf reads the debug information of one file: DWARF versions 2 to 5,
// 32-bit and 64-bit format, either byte order, with the GNU extensions that gcc
// and dwz use.
//
// What it gives: units, their entries (DIEs) one at a time, attribute values with their
// indirections resolved (string tables, address tables, list tables), ranges, location lists,
// .debug_aranges, and the units' line tables, which package linetable reads. It reports the
// contents of the file. Package symbols interprets them: names, scopes, types. Package nameindex
// reads the tables of names.
//
// What you bring: a [Source], which provides the sections' bytes.
//
// References "section 7.5.3" are to the DWARF 5 standard. Not done: macro
// information.
//
// It stays fast because it reads in place: it reads a unit's header when the unit is first used, an
// abbreviation table once, and an [Entry] holds the raw value of each attribute in a slice that the
// caller can reuse. It allocates nothing for each entry. A compressed section is inflated only as
// far as it is read.
//
// Input is not trusted. Every read stays within its unit, every table within its section; an
// unreadable value is an error or reported as missing. A caller that follows references must limit
// its loops itself.
//
// A Data may be used by one goroutine at a time; Share and ShareUnits relax that.
package dwarf
