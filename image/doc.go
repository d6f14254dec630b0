// Package image reads ELF files: executables, shared objects, relocatable
// files, separate debug files, core files' headers, and the vDSO.
//
// What it gives: where the file's segments and sections are, the bytes at an
// address, the symbol table sorted by address, the build id, and the separate
// debug file that belongs to a stripped one.
//
// What you bring: a path, or the bytes of an image in memory ([FromMemory]).
// All addresses are [Addr]: the file's own, as linked. The package knows no
// process and no load bias.
//
// The format is that of the System V ABI, chapters 4 and 5 ("Object Files",
// "Program Loading"), with the GNU conventions for build ids, .gnu_debuglink
// and .gnu_debugaltlink. Both classes and both byte orders are read.
//
// It does not interpret debug information (that is package dwarf) and does not
// relocate: an ET_REL file's debug sections are given as they are.
//
// It stays fast because the file is mapped and nothing but the ELF header, the
// program headers and the section headers is looked at until it is asked for.
// Compressed sections are inflated when their data is first asked for, and
// kept. Every offset, size and count is checked before use: a corrupt file is
// an error, or has fewer sections than it claims.
//
// A File is used by one goroutine at a time. Slices that a File hands out
// point into the mapping and are invalid after Close; strings are copies and
// are not.
package image
