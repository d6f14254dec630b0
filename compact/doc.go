// Package compact reads Apple's compact unwind information: the section __unwind_info of Mach-O
// files, version 1, and the section __compact_unwind of object files.
//
// What it gives you: a Table finds the entry that covers an address (Find), iterates over all
// entries (All, Each), and makes the row for the body of a function (Row, Rows) as a row.Row. It
// finds LSDAs and personality routines, and prints the section like llvm-objdump --unwind-info
// (Print).
//
// What you must bring: the bytes of the section, the address of the Mach-O header in the file's
// own address space, and a function that reads the image's code. The package knows nothing of
// files, processes or DWARF.
//
// The format: its only specification is Apple's header mach-o/compact_unwind_encoding.h, which
// LLVM includes too. For the rest, the output of linkers and the behaviour of libunwind decide.
// An opcode (the header calls it an encoding) is a word of 32 bits:
//
//	bit 31       this is not the start of a function: the entry belongs to the one before it
//	bit 30       there is an LSDA for the entry
//	bits 28..29  number of the personality routine, from 1; 0 for none
//	bits 24..27  the kind, whose meaning depends on the architecture
//	bits 0..23   depend on the kind, see body_x86.go, body_aarch64.go and body_armv7k.go
//
// Linkers leave bit 31 clear and merge neighbours with the same opcode into one entry, so that an
// entry may cover many functions. It covers only one where the function's start matters (an LSDA,
// an indirect stack size).
//
// A row is valid only in the body of a function, after its prologue and before its epilogue. The
// space between two functions belongs to the entry before it.
//
// The best description, "The Apple Compact Unwinding Format: Documented and Explained", is wrong
// or silent in five places, where the headers, libunwind and the output of compilers agree: bit
// 31 means that an entry does not start a function; the registers of x86's frames go from the
// lowest bits at the lowest address; an indirect stack size is at its offset in the function,
// which is in the middle of the instruction; arm64's d registers begin at bit 8; and arm64's
// frameless functions can save registers.
//
// From a section to a row:
//
//	table.go       Config, New, Find
//	index.go       the root page; page.go second-level pages; starts.go the search in both
//	sweep.go       All, Raw, Each, EachFunction; start.go FunctionStart
//	lsda.go        LSDAs and personality routines
//	opcode.go      Opcode; body.go, body_*.go, permutation.go decode it
//	descriptor.go  Descriptors of object files, and a Table made of them
//	row.go         Row; rows.go many of them
//	print.go       Print
//	descriptors.go Descriptors: __LD,__compact_unwind of object files
//
// # Valid and invalid sections
//
// Valid: more than three personality routines; more opcodes in a palette than the header permits;
// pages of more than 4096 bytes, in any order; an address that occurs twice (the last entry has
// it, the others have no length); "no register" written as 7; a count of 7 saved registers, which
// means 6; empty arrays anywhere.
//
// New returns an error for a version other than 1, for an array of the root page outside the
// section, and for a truncated section.
//
// All addresses of a page have an error if none of its entries can be trusted: an unknown kind of
// page, a page or its arrays outside the section, entries out of order, an entry before the
// page's first address or after its end.
//
// The addresses of one entry have an error for an index after the end of the palette, or for an
// opcode that has an unknown kind or is contradictory. All addresses have an error if the
// first-level entries are out of order, because any search could have gone wrong.
//
// Null pages: a first-level entry without a page ends the page before it. The last such entry is
// the sentinel; others are gaps. If the last entry has a page, the entries of that page are used,
// but nothing tells where the last of them ends: that one is an error. A page without entries is
// also a gap, and so is the space between a page's first address and that of its first entry.
// Nothing is covered (ErrNotCovered) in gaps, before the first address, and from the sentinel's
// address on. The last entry of a page ends where the next first-level entry begins.
//
// Pages may share bytes. If the pages of a section have more entries than the section has words,
// All does not iterate to the end, but returns an error.
//
// # How it stays fast
//
// New reads only the header. The first look-up reads the first-level entries, and the first
// look-up in a page reads that page, because a search depends on their order. The addresses are
// then saved, in 12 bytes per entry. From then on a look-up is two searches of a few comparisons
// each, without mispredicted branches and without allocations. Rows are made once for each
// different opcode.
//
// Several goroutines may use a Table. A Rows must be used by one.
package compact
