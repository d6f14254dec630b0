// Package lsda reads the language-specific data of functions in the format of GCC and LLVM: the
// sections .gcc_except_table and __gcc_except_tab, and what follows the instructions of a generic entry
// in .ARM.extab.
//
// What it gives you: a Table with the call sites of a function. Each has the address at which an
// exception lands that is thrown by a call of the site, and what the landing pad does: it catches
// types, restricts them, or cleans up. At finds the site of an address.
//
// What you must bring: a function that returns the bytes at an address of the file, and the address of
// the data, which an FDE, a compact entry or an entry of .ARM.extab gives. The package knows nothing of
// files, processes or types: a type is the address of its type information.
//
// The format has no standard of its own. Its facts are those of the Itanium C++ ABI ("Exception
// Handling", levels II and III) and of the assembler output of GCC and LLVM: a header with the base of
// landing pads, the place and encoding of types and the encoding of call sites; the table of call
// sites, by ascending address; action records; types, which are counted backwards from their base, and
// behind the base the lists of exception specifications. Pointers are encoded as in .eh_frame. On ARM,
// types are encoded as R_ARM_TARGET2, whatever the header says.
//
// The personality routine decides what the data mean. __gxx_personality_v0, __gcc_personality_v0,
// rust_eh_personality, __gnat_personality_v0 and their variants for SEH use this format. Those for
// setjmp and longjmp (their names end with sj0) number call sites instead of giving addresses: IsSJLJ.
//
// Everything from outside is bounded: records of a site, sites of a table, and all lists.
package lsda
