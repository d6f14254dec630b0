// Package macho answers one question: what do the headers, the load commands and the symbol table of
// a Mach-O file contain (Apple's <mach-o/loader.h>, <mach-o/nlist.h>, <mach-o/fat.h>)?
//
// It gets bytes and returns plain values: segments, sections, the UUID, symbols, stubs, function
// starts, and the slices of a fat file. Both word sizes and both byte orders are read. [Parse] reads
// the header and the load commands; the tables that they point to are read on demand, through
// [File.Linkedit]. It opens no file and reads no section's contents. Package image, the only caller,
// does that, and makes an image.File of it: one face for ELF and Mach-O.
//
// Input is not trusted: every offset, size and count is checked before use.
//
// A File does not change after Parse, but for the fields that its caller sets. Several goroutines
// may then use it, if its Linkedit allows that.
package macho
