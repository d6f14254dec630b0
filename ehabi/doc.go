// Package ehabi reads the exception tables of 32-bit ARM: the sections .ARM.exidx and .ARM.extab.
//
// What it gives you: a Table finds the entry that covers an address (Find), iterates over all
// entries (All), and makes the row of an entry (Row) as a row.Row. An entry names its personality
// routine and the address of its language-specific data. Print writes the section like readelf -u.
//
// What you must bring: the bytes of .ARM.exidx, its address, and a function that returns the bytes
// at an address of the file, for .ARM.extab. The package knows nothing of files, processes or DWARF.
//
// The format: "Exception Handling ABI for the Arm Architecture" (EHABI32). Section 5 has the index:
// pairs of words, sorted by the address of the function. The first word is the function's address,
// as a 31-bit offset from the word itself. The second word is 1 (the function can't be unwound), the
// whole entry (bit 31 is set), or the offset of an entry in .ARM.extab (section 6). Section 10.3 has
// the instructions. They are bytes, packed into words from the most significant byte on.
//
//	table.go   Config, New, Entries, All, Bounds; index.go Find
//	entry.go   one entry: its model, its personality routine, its instructions
//	opcode.go  Code and Op, the instructions; text.go their text
//	row.go     Row; place.go the addresses that instructions compute
//	print.go   Print
//
// # What a row is valid for
//
// The instructions undo a whole prologue. A row is right at calls and in the body of the function.
// It is wrong in the prologue and in the epilogue. Package frames asks the code there.
//
// An entry covers all addresses up to the next entry. Linkers drop an entry that equals the one
// before it, so that an entry may cover many functions. The last entry has no end of its own. Linkers
// make it an entry that can't be unwound, at the end of the code. Otherwise Config.End is its end.
//
// # Personality routines
//
// Entries of the compact model use one of three routines of the ABI, by number. Entries of the
// generic model have the address of another routine, and only that routine knows the rest. The
// routines of GNU and LLVM (__gxx_personality_v0, __gcc_personality_v0, __gnat_personality_v0,
// rust_eh_personality) begin their data as the compact model does: a count of words, and three
// instructions. Names are missing in stripped files. So the data decides: it counts as GNU's if its
// count fits, all instructions are valid, and nothing but padding follows the first finish.
//
// # Valid and invalid tables
//
// Valid: a table without an entry at its end, entries of no length, descriptors of any kind.
//
// All addresses have an error if the entries are out of order, because any search could have gone
// wrong. One entry has an error for bits that must be zero, an entry outside the file, a personality
// routine that is not known, and for instructions that are spare, reserved or cut short. A spare
// instruction is an error because a later version of the ABI may give it any meaning.
//
// Where neither the core nor the D registers are concerned, a row says nothing: the WMMX registers
// and the return address authentication code have no number here. Their pops move the stack pointer.
//
// # How it stays fast
//
// The first look-up decodes the addresses of all entries, four bytes each, and divides the code into
// as many blocks as there are entries. From then on a look-up is a block and a few comparisons. It
// does not allocate. Several goroutines may use a Table.
package ehabi
