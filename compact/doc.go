// Package compact reads Apple's compact unwind information: the section __unwind_info of Mach-O files, version 1.
//
// What it gives you: a Table finds the entry that covers an address (Find), goes over all of them (All, Each), and makes
// the row of the body of a function (Row, Rows) as a row.Row. It knows LSDAs and personality routines, and
// prints the section as llvm-objdump --unwind-info does (Print).
//
// What you must bring: the section's bytes, the address of the Mach-O header in the file's own address space, and
// a function that reads the image's code. The package knows no file, no process and no DWARF.
//
// The format: there is no specification but Apple's header mach-o/compact_unwind_encoding.h, which LLVM carries
// too; what linkers write and libunwind reads decides the rest. An opcode (the header calls it an encoding) is a word of 32 bits:
//
//	bit 31       this is not the start of a function: the entry belongs to the one before it
//	bit 30       there is an LSDA for the entry
//	bits 28..29  number of the personality routine, from 1; 0 is none
//	bits 24..27  the kind, whose meaning depends on the architecture
//	bits 0..23   depend on the kind, see body_x86.go and body_aarch64.go
//
// Linkers leave bit 31 clear and give neighbours of one opcode one entry, so that an entry may be many functions; it is never many
// where the function's start matters (an LSDA, an indirect stack size).
//
// A row is valid in the body of a function only: where its prologue is done and its epilogue has not begun. What lies between two
// functions belongs to the entry before it.
//
// The best description, "The Apple Compact Unwinding Format: Documented and Explained", is wrong or silent in five places, where the
// headers, libunwind and what compilers write agree: bit 31 says that an entry does not start a function; the registers of x86's
// frames go from the lowest bits at the lowest address; an indirect stack size is at its offset in the function, which is
// in the middle of the instruction; arm64's d registers begin at bit 8; and arm64's frameless functions can save registers.
//
// From a section to a row:
//
//	table.go       Config, New, Find
//	index.go       the root page; page.go second-level pages; starts.go the search in both
//	sweep.go       All, Raw, Each, EachFunction; start.go FunctionStart
//	lsda.go        LSDAs and personality routines
//	opcode.go      Opcode; body.go, body_x86.go, body_aarch64.go, permutation.go what it says
//	row.go         Row; rows.go many of them
//	print.go       Print
//
// # What is right, what is wrong, and what comes of it
//
// Right: more than three personality routines; more opcodes in a palette than the header permits; pages of more than 4096 bytes, in any
// order; an address that occurs twice (the last entry has it, the others have no length); "no register" written as 7; a count of
// saved registers of 7, which is 6; empty arrays anywhere.
//
// An error of New: another version than 1, an array of the root page outside of the section, a section that is cut.
//
// An error for the addresses of a page, as none of its entries can be trusted: an unknown kind of page, a
// page or its arrays outside of the section, entries out of order, an entry before the page's first address or behind its end.
//
// An error for the addresses of one entry: an index behind the end of the palette, an opcode of an unknown kind or one that contradicts itself.
// And for all addresses: first-level entries out of order, as every search could have gone wrong.
//
// Null pages: a first-level entry without a page ends the page before it. The last one is the sentinel; others are gaps. If the
// last one has a page, that page's entries count, but nothing says where its last one ends: that one is an error. A
// page without entries is a gap too, and so is what lies between a page's first address and that of its first entry. In gaps, and outside of
// the first and the sentinel's address, nothing is covered (ErrNotCovered). An entry that ends a page ends where the next first-level
// entry begins.
//
// Pages may share bytes. A section whose pages have more entries than it has words is not gone over to its end: that is an error of All.
//
// # How it stays fast
//
// New looks at the header only. The first look-up reads the first-level entries and the first one in a page that page, as
// order is what a search depends on, and keeps the addresses, in 12 bytes for an entry: from then on a look-up is two searches of a few
// comparisons each, without mispredicted branches, and allocates nothing. Rows are made once for each different opcode.
//
// A Table may be used by several goroutines; a Rows by one.
package compact
