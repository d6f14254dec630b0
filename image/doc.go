// Package image reads ELF, Mach-O and PE files: executables, shared objects, relocatable files,
// separate debug files, the headers of core files, and images in memory.
//
// What it gives: the addresses of the file's segments and sections, the bytes at an address, the
// symbol table sorted by address, the build id, and the separate debug file that belongs to a
// stripped one. One type, [File], serves all formats, and its methods mean the same in both.
// Methods for Mach-O only are documented as such ([File.HeaderAddr], [File.FunctionStarts],
// [File.Stubs], [File.LoadCommands]).
//
// What you bring: a path ([Open]; [OpenArch] and [Slices] for fat files), the bytes of a file
// ([FromMemory]), or a function that reads the memory where an image is mapped ([FromMapped]).
// All addresses are [Addr]: the file's own, as linked. The package knows nothing of processes,
// and of load biases only that of FromMapped.
//
// ELF is implemented as in the System V ABI, chapters 4 and 5 ("Object Files", "Program
// Loading"), with the GNU conventions for build ids, .gnu_debuglink and .gnu_debugaltlink. Mach-O
// is implemented as in Apple's <mach-o/loader.h>, <mach-o/nlist.h> and <mach-o/fat.h>, with dSYM
// bundles as dsymutil makes them. Both word sizes and both byte orders are read. A dyld shared
// cache is recognised and refused.
//
// Packages elfheader, macho and inflate decode the bytes; a File is their one face.
//
// It does not interpret debug information (package dwarf does) and does not relocate: the debug
// sections of an ET_REL or MH_OBJECT file are returned as they are. It does not follow debug
// maps: the DWARF of a linked Mach-O file is looked for in its dSYM, not in the object files from
// which it was linked.
//
// It stays fast because the file is mapped, and only the header, the program and section headers
// or the load commands are read at once. Everything else is read on demand. A compressed section
// is inflated when its data is first requested, and then kept. Every offset, size and count is
// checked before use: a corrupt file causes an error, or has fewer sections than it claims.
//
// A File must be used by one goroutine at a time. Slices that a File returns point into the
// mapping and are invalid after Close. Strings are copies and stay valid.
package image
