// Package cfi reads DWARF call frame information: .eh_frame with its search table
// .eh_frame_hdr, and .debug_frame.
//
// What it gives you: a Table finds the entry (FDE) that covers an address, and decodes the unwind
// table row that is valid there, as a row.Row. EachRow and EachBatch iterate over all rows of a
// file, each with its hash, to compile them. Section and Instructions list entries and instructions
// undecoded.
//
// What you must bring: the bytes of the sections and their addresses, in the file's own address
// space. The package does not know processes or load biases.
//
// Specifications: DWARF 5 section 6.4 and its earlier versions for .debug_frame; the Linux Standard
// Base Core, "Exception Frames", for .eh_frame, .eh_frame_hdr and pointer encodings; binutils and
// GCC for the details that these omit. The package reads entries in 32-bit and 64-bit DWARF, CIE
// versions 1, 3, 4 and 5, and all call frame instructions of DWARF, GNU and AArch64.
//
// From a section to a row:
//
//	header.go     .eh_frame_hdr: binary search
//	index.go      the same by one scan of the section, if the header is missing or wrong
//	entry.go      CIE and FDE; span.go reads only the parts that rows need, faster
//	pointer.go    DW_EH_PE_* encodings
//	exec.go       executes the instructions, and saves the states after CIEs
//	run.go        the common instructions, state_ops.go the others
//	state.go      the row under construction; hash.go its hash
//	table.go      Table: Find, RowAt, Rows
//	sweep.go      EachRow, EachBatch; automaton.go computes the rows of whole entries faster
//	compiler.go   state shared between tables
//	listing.go    Section, Instructions
//
// If FDEs overlap, an address belongs to the one that begins last (of those that begin together,
// the last in the section). An FDE that .eh_frame_hdr finds and that covers the address takes
// precedence.
//
// What it does not do: DW_EH_PE_indirect pointers need memory and are skipped (they occur for
// personality routines, which unwinding without exceptions does not need). SPARC's register windows
// are an error, and so is a CFA in an address space other than 0 (LLVM's extension). The caller
// applies relocations.
//
// Input is not trusted: every length and offset is checked. Work is linear in the size of the
// section for the index, and in the size of one entry for a row (the limits are in exec.go). A
// defect is an *Error for the entry that has it; the other entries stay usable.
//
// Several goroutines may use a Table. A look-up allocates nothing once the table is warm. The index
// is built at most once, when the header first fails or EachRow first needs it. There is a single
// interpreter: it executes the dozen instructions that compilers write in one loop without calls,
// starts each FDE from the state after its CIE, which it computes once, and changes the row in
// place.
package cfi
