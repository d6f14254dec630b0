// Package cfi reads DWARF call frame information: .eh_frame with its search table
// .eh_frame_hdr, and .debug_frame.
//
// What it gives you: a Table finds the entry (FDE) that covers an address, and
// decodes the row of the unwind table that is valid there, as a row.Row; it goes over all rows of
// a file (EachRow), with a hash of each, for those who compile them; and it lists entries and
// instructions undecoded (Section, Instructions).
//
// What you must bring: the bytes of the sections and their addresses, in the
// file's own address space; the package knows no process and no load bias.
//
// Specifications: DWARF 5 section 6.4 and its earlier versions for .debug_frame; the
// Linux Standard Base Core, "Exception Frames", for .eh_frame, .eh_frame_hdr and
// pointer encodings; binutils and GCC for what these leave out. Entries of 32- and
// 64-bit DWARF, CIE versions 1, 3, 4 and 5, and all call frame instructions of DWARF, GNU and
// AArch64 are understood.
//
// From a section to a row:
//
//	header.go     .eh_frame_hdr: binary search
//	index.go      the same by one scan of the section, where there is no header or it is wrong
//	entry.go      CIE and FDE; span.go the short way to what rows need of an FDE
//	pointer.go    DW_EH_PE_* encodings
//	exec.go       the machine that runs a program, and saves the states that CIEs leave
//	run.go        the common instructions, state_ops.go the others
//	state.go      the row in the making; hash.go its hash
//	table.go      Table: Find, RowAt, Rows
//	sweep.go      EachRow, EachBatch; automaton.go the short way to the rows of whole entries
//	compiler.go   what one table teaches for the next
//	listing.go    Section, Instructions
//
// Where FDEs overlap, the one that begins last has the address (of those that begin
// together, the last in the section); where .eh_frame_hdr names one that covers it, that one has.
//
// What it does not do: DW_EH_PE_indirect pointers need memory and are skipped (they
// occur for personality routines, which unwinding without exceptions does not need). SPARC's
// register windows are an error, and so is a CFA in another address space than 0
// (LLVM's extension). Relocations are the caller's business.
//
// Bytes are hostile: every length and offset is checked, work is linear in the
// size of the section for the index and in that of one entry for a row (the limits are in exec.go). A
// defect is an *Error for the entry that has it; the others stay usable.
//
// A Table may be used by several goroutines. A look-up allocates nothing once the table is warm; the
// index is made at most once, when the header first fails or EachRow first needs it. There is one
// interpreter for all: it runs the dozen instructions that compilers write in one loop without
// calls, starts each FDE from the state that its CIE leaves, which it computes once, and changes
// the row in place.
package cfi
