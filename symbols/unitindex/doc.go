// Package unitindex answers one question: which units claim an address?
//
// It reads .debug_aranges for the first few questions and sorts it when more follow. clang, rustc
// and Go write no .debug_aranges, so there are also the ranges in the root entries of the units
// that are not in it. A claim may be wrong: package symbols, the only caller, asks the unit itself
// for a function or a line.
//
// An Index may be used by one goroutine at a time, like its dwarf.Data.
package unitindex
