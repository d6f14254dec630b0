// Package mipseh reads MIPS's compact exception tables: .eh_frame_entry, which the linker puts into an
// .eh_frame_hdr of version 2, and .gnu_extab.
//
// What it gives you: All iterates over the entries, Find finds the one that covers an address, and Row
// fills a row.Row from it. ArchOf returns the register names and sizes, as package arch does not have
// MIPS. An entry describes a function at its calls, with one row; it describes no prologue.
//
// What you must bring: the bytes of the linked section, its address, and a function that reads the file.
//
// Sources: GNU as manual, "CFI directives" (.cfi_sections .eh_frame_entry, .cfi_fde_data,
// .cfi_inline_lsda, .cfi_personality_id); the files that GNU as and ld 2.40 write; the behaviour of
// libgcc's unwinder for o32, n32 and n64 in MIPS's GCC, as there is no public specification of the
// instructions.
//
// What it does not do: it does not interpret .eh_frame (an entry may refer to an FDE) or language-specific
// data. It knows no process and walks no stack. nanoMIPS, whose P32 ABI saves registers in another order,
// is not supported.
//
// Input is not trusted: each function checks offsets and lengths and does not panic. Several goroutines
// may use a Table. Find does not allocate.
package mipseh
