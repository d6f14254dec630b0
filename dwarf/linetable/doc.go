// Package linetable answers one question: which source line does each instruction belong to (DWARF
// 5, section 6.2; versions 2 to 5)?
//
// What it gives: a unit's files ([Table.File]) and the rows of its sequences ([Table.At],
// [Table.Each], [Table.EachAt]). A row is as the program makes it, with one more flag: [Repeated].
//
// What you bring: a [Source], which has the bytes of the section, and a [Unit] with what the unit's
// root entry tells of its table. Package dwarf does both: dwarf.Unit.Files is the way to a table.
//
// It stays fast because a table is scanned for its sequences' addresses first, and a sequence is
// executed only when somebody asks for its rows. A table keeps the sequences that were decoded last.
//
// Input is not trusted: the section limits the bytes of the headers that it keeps and of the
// programs that it scans, since in a corrupt file each unit may refer to one large table.
//
// A Section and its tables may be used by one goroutine at a time, except for [Table.EachAt].
package linetable
