// Package symtab answers from the symbol table of an ELF or Mach-O file, and from the other tables
// that linkers leave there: linkage stubs, copied variables, function starts.
//
// It gives the symbol at an address ([Table.At]), the address of a linkage name
// ([Table.LinkageAddr]), the extent of a function ([Table.CodeBounds], [Table.End]), the stubs that
// lead to other files ([Table.StubAt], [Table.StubOf]) and the variables that a program has copied
// from its libraries ([Table.Copied]).
//
// You bring the [image.File], and a [Source] for its symbols: they may be in a separate debug file.
//
// It knows no debug information. Package symbols decides when to ask it.
//
// It stays fast because the first few questions about addresses walk through the mapped table, and
// only later ones sort it; and because names are searched for in the string table
// ([image.SymbolTable.Mentioning]), not symbol by symbol.
package symtab
