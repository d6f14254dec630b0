// Package unwindtable prints a file's unwind information: as the rows of the table that it stands
// for, or as the entries that are there, undecoded. It is dbg unwind table. Convert writes call frame
// information in another format: dbg unwind convert.
//
// What it gives you: Print writes, for each function of which a file has unwind information, a
// heading and a line for each row; as text, or as one JSON object for each function; or, raw, what
// readelf --debug-dump=frames, llvm-objdump --unwind-info or llvm-readobj --unwind prints.
//
// What you must bring: the path of an ELF, Mach-O or PE file. Executables, shared objects, relocatable files,
// separate debug files and stripped files will do; the processor may be any that package arch
// knows, whatever machine this is.
//
// Rules are in DWARF's shorthand (DWARF 5, appendix D.6): u undefined, s same value, c-16
// offset(-16), v-16 val_offset(-16), r5 register(5), exp and vexp an expression for the address
// and for the value. A "-" means that the table says nothing of the register, which then is as the
// ABI has it.
//
// Sections are gone through in their order and nothing is kept, so that a file of any size is
// printed in constant memory, but for its symbol table. A corrupt entry is a line that says what is
// wrong with it; the others are printed.
package unwindtable
