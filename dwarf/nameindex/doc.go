// Package nameindex answers one question: which units does a file's own index list for a name? It
// reads .debug_names (DWARF 5, section 6.1.1) and gdb's .gdb_index (gdb's manual, chapter "Index
// Section Format"), which compilers, linkers and gdb write.
//
// What it gives: [Tables] and [ReadGDB] return the indexes of a file. Both are searched in place: a
// name is compared only where the hash table, or a search of the text, leads. An index is taken at
// its word. Package symbols/names calls this package and knows what each producer leaves out.
//
// What you bring: a dwarf.Data, for the bytes of the sections and for the strings.
//
// Input is not trusted. An unreadable index or entry is an error with its section and offset. The
// lists of an index may overlap, so a caller that reads many of them must limit their sum.
//
// An index may be used by one goroutine at a time, like its dwarf.Data.
package nameindex
