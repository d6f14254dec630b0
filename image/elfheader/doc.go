// Package elfheader reads the headers and the notes of ELF files (System V gABI, chapters 4 and 5):
// the file header, program headers, section headers and note entries, of both classes and byte
// orders. It gets bytes and returns values, and reads no contents. Packages image and
// target/elfcore use it for files, cores and images in memory.
//
// A truncated file is normal, for cores above all. So the header gives the counts in the file, and
// Table.Within tells how many entries exist.
package elfheader
