// Package sframe reads and writes SFrame, the simple frame format of the GNU toolchain: the section
// .sframe.
//
// What it gives you: a Table finds the function descriptor entry (FDE) that covers an address (Find),
// iterates over all of them (All) and over their frame row entries (FREs), and makes a row.Row of a
// frame row entry (RowAt, EachRow). A Printer writes the section like readelf --sframe. Encode writes
// a section.
//
// What you must bring: the bytes of .sframe and its address. The package knows nothing of files,
// processes or DWARF.
//
// The format: "The SFrame Format", versions 1 (binutils 2.40), 2 with its errata (2.41 to 2.45) and 3
// (2.46). Section numbers in comments are those of version 3. The ABIs are AMD64, AArch64 of both byte
// orders, and s390x. The magic number shows the byte order.
//
//	header.go   Config, Header, New
//	fde.go      FDE: the function, and how its rows are encoded
//	fre.go      FRE: one row, its data words
//	rule.go     Rule: where the CFA, the return address and the frame pointer are
//	row.go      RowAt, RowsOf; each.go EachRow
//	index.go    Find
//	print.go    Printer
//	encode.go   Encode
//
// # What a row contains
//
// A row has the CFA, the return address and the frame pointer. A frame pointer without a rule has not
// changed. The format does not describe any other register: rows have no rules for them, and a caller
// must treat them as unknown, not as unchanged.
//
// A row that is marked as mangled has a signed return address (AArch64).
//
// # Rows that repeat
//
// The rows of an FDE with PC type MASK repeat: they describe a PLT entry, and the FDE covers many. The
// specification takes the remainder of PC. That equals the offset in the entry only if the first entry
// begins at a multiple of its size, and the entries of AArch64 with BTI do not. So this package takes
// the remainder of the offset from the function's start. Version 1 has no entry size. There the start of
// a row is a mask, and the row applies to a PC that has no less than the mask's value under it. The rows
// repeat at the next power of two.
//
// # Valid and invalid tables
//
// Valid: unsorted functions, functions of no size, bytes between the parts of the section, a section
// without functions.
//
// The whole table has an error for unknown flags, ABIs and versions, and for parts outside of the
// section. An address has an error if several FDEs cover it. An FDE has an error for unknown types and
// bits, and for rows outside of the section. A row has an error if it is out of order, or has more data
// words than its ABI uses.
//
// An FDE without rows has an error, too. According to the specification it marks an outermost frame. But
// gas 2.47 also writes it for functions that the format can't describe, and then the end of the
// stack would be wrong. A row without data words does mark an outermost frame (erratum 2 of version 2).
//
// # How it stays fast
//
// The first look-up decodes the addresses of all FDEs and divides the code into as many blocks as there
// are FDEs. From then on a look-up is a block and a few comparisons, and does not allocate. The rows of
// an FDE have different sizes and are read one after the other. Several goroutines may use a Table.
package sframe
