// Package debugfiles finds the files that have the debug information and the symbols of a file.
//
// It gives, for an opened file, its debug information ([Files.Data]), its best symbol table
// ([Files.SymbolTable]), all units with split ones in their places ([Files.Units]), and the account
// of what was tried ([Files.Origin]).
//
// You bring the [image.File], the folders to search, and perhaps a fetcher (debuginfod). The file
// stays yours to close; [Files.Close] closes all others.
//
// The order for debug information: the file itself; a separate file by build id or
// .gnu_debuglink, or the dSYM of a Mach-O file; the fetcher. Besides these: .gnu_debugaltlink (a
// file that dwz made), .dwo files and .dwp packages of skeleton units (DWARF 5, section 7.3),
// .gnu_debugdata (symbols only). Package image knows how each is located; package dwarf reads them.
//
// Nothing is opened before a question needs it, and nothing is fetched unless a question needs
// debug information that is not on this machine. A file that is missing or that belongs to another
// program is reported by Origin; it is not an error.
package debugfiles
