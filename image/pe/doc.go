// Package pe answers one question: what do the headers, the symbol table, the exports and the debug
// directory of a PE image contain (Microsoft's "PE Format": executables and libraries of Windows)?
//
// It gets bytes and returns plain values: sections with their long names, data directories, the
// build id, symbols, exports, and the code ranges of hybrid images (ARM64EC, ARM64X). [Parse] reads
// the headers and the section table. The other tables are read on demand. It opens no file. Package
// image, the only caller, does that, and makes an image.File of it: one face for ELF, Mach-O and PE.
//
// Addresses here are relative to the image base (RVAs). Input is not trusted: every offset, size and
// count is checked before use.
//
// A File does not change after Parse. Several goroutines may use it.
package pe
