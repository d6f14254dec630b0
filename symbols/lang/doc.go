// Package lang names the source languages that dbg treats differently.
//
// It gives a [Lang] for a compilation unit. You bring the unit, or the code of its DW_AT_language
// (DWARF 5, section 7.12, and the later additions on dwarfstd.org). The package keeps nothing.
package lang
