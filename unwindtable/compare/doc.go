// Package compare finds the addresses of a file at which two of its unwind tables disagree.
//
// What it gives you: Run holds two tables of a file against each other, row by row, and calls a
// function with each Difference. A Summary counts what agrees, what differs, and what only one table
// covers. Tables lists the tables of a file.
//
// What you must bring: an open file, and a debug file if its tables are there.
//
// The tables are those that the unwinder uses (package frames/module), read as it reads them: Apple's
// compact information is refined by the code, Windows' epilogues are read from the code.
//
// # When two rows disagree
//
// A table says nothing of a register if it has no rule for it and the register is not one that
// functions preserve. Then the two rows can't disagree about it. The rest has three classes:
//
//   - Conflict: at most one row can be right. They compute the CFA from the same register with
//     different offsets, or have the return address or a register at different places.
//   - Either: both may be right. One row has a register saved, the other has it unchanged, as between
//     its push and the next change. Or the rows compute the CFA from different registers, or from
//     expressions. Only running the code tells.
//   - Broken: one table covers the address and has no row for it.
//
// A table of ARM's exceptions has rows for calls only. There, the rows are compared at return
// addresses.
//
//	tables.go    which tables a file has, and their rows in order
//	compare.go   Run, Difference, Summary
//	rules.go     one row against another
//	calls.go     return addresses, for tables that are right only there
package compare
