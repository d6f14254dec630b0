// Package image reads ELF and Mach-O files: executables, shared objects,
// relocatable files, separate debug files, core files' headers, and images in
// memory.
//
// What it gives: where the file's segments and sections are, the bytes at an
// address, the symbol table sorted by address, the build id, and the separate
// debug file that belongs to a stripped one. It is one type, [File], for both
// formats, and means the same in both; what only Mach-O has says so
// ([File.HeaderAddr], [File.FunctionStarts], [File.Stubs], [File.LoadCommands]).
//
// What you bring: a path ([Open]; [OpenArch] and [Slices] for fat files), the
// bytes of a file ([FromMemory]), or a way to read the memory that an image
// is mapped in ([FromMapped]). All addresses are [Addr]: the file's own, as linked.
// The package knows no process and no load bias but that of FromMapped.
//
// ELF is that of the System V ABI, chapters 4 and 5 ("Object Files", "Program
// Loading"), with the GNU conventions for build ids, .gnu_debuglink and
// .gnu_debugaltlink. Mach-O is that of Apple's <mach-o/loader.h>, <mach-o/nlist.h>
// and <mach-o/fat.h>, with dSYM bundles as dsymutil makes them. Of both, both
// word sizes and both byte orders are read. A dyld shared cache is recognised and
// refused.
//
// It does not interpret debug information (that is package dwarf) and does not
// relocate: the debug sections of an ET_REL or MH_OBJECT file are given as they
// are. It follows no debug map: the DWARF of a linked Mach-O file is looked for in
// its dSYM, not in the object files that it was linked from.
//
// It stays fast because the file is mapped and nothing but the header, the program
// and section headers or the load commands is looked at until it is asked for.
// Compressed sections are inflated when their data is first asked for, and
// kept. Every offset, size and count is checked before use: a corrupt file is
// an error, or has fewer sections than it claims.
//
// A File is used by one goroutine at a time. Slices that a File hands out
// point into the mapping and are invalid after Close; strings are copies and
// are not.
package image
