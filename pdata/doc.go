// Package pdata reads the unwind information of Windows: the function table in .pdata and the records
// in .xdata, for x64 (versions 1 to 3) and ARM64 (packed and full).
//
// What it gives you: a Table finds the entry that covers an address (Find), makes the rows of a
// function (Rows, RowAt, EachRow) as row.Row, valid at every address: prologue, body and epilogue.
// It prints the table like llvm-readobj --unwind (Print). Preserved tells which registers a function
// must preserve.
//
// What you must bring: the bytes of the function table, the image base, and a function that reads
// the image: .xdata, and for x64 the code. The package knows nothing of files, processes or other
// formats. An ARM64EC or ARM64X image has two tables, one for each processor.
//
// The formats: Microsoft's "x64 exception handling", "Exception Handling Unwind Information V3" and
// "ARM64 exception handling".
//
// On x64, codes describe the prologue with the address after each instruction. A row begins at each.
// Epilogues are not described (version 2 tells where they are, version 3 describes them): the ABI
// restricts their instructions, so that they can be told by reading them. See epilogues.go.
//
// On ARM64, each code stands for one instruction of the prologue or an epilogue. A row begins at each
// instruction.
//
// From an entry to rows:
//
//	table.go          Config, New, Find
//	rows.go           RowAt, Rows, EachRow; leaves.go functions without an entry
//	state.go          what the operations that are undone come to: a row
//	amd64.go          records of x64; amd64_row.go their rows; amd64_v3.go version 3
//	epilogues.go      epilogues of x64 by their instructions
//	arm64.go          records of ARM64 and frames of the kernel; arm64_codes.go unwind codes
//	packed.go         packed data of ARM64
//	print.go          Print; print_x64.go, print_aarch64.go
//
// # What is an error
//
// New returns an error only for an architecture without such tables. Entries may be in any order.
// The addresses of an entry have an error if its record or code is not in the image, if it has an
// unknown version or code, or if it contradicts itself. Layouts that Microsoft has not documented are
// errors too: ARM64's trap frame, version 3's canonical frames, and frames whose size depends on SVE.
//
// # How it stays fast
//
// The first look-up orders the entries. From then on Find is one search of a few comparisons without
// allocations. Rows are made for one function at a time, and those of the last functions are kept.
package pdata
