// Package dyninfo reads libunwind's dynamic unwind information: descriptions of code that a program
// makes while it runs and registers with _U_dyn_register.
//
// What it gives you: ReadList reads the list _U_dyn_info_list from a program's memory and checks its
// links in both directions. Layout.ReadProcedure reads the regions of an entry. New compiles a
// procedure to a Table of rows. ReadTable reads the search table of an entry that refers to call frame
// information.
//
// What you must bring: the program's memory, the address of the list and the architecture. An alias
// refers to another procedure; Config.Alias finds the row there.
//
// Source: libunwind-dynamic(3) and the public header libunwind-dynamic.h of libunwind 1.6. The manual
// leaves the parts for each architecture open, and libunwind itself interprets regions on IA-64 only. The
// readings that this package chooses for other architectures are in docs/unwinding.md, "libunwind's
// dynamic information". A procedure that is unclear under them is an error.
//
//	layout.go   sizes and offsets of the structures
//	list.go     _U_dyn_info_list
//	info.go     the entries, and search tables
//	region.go   regions and operations
//	state.go    the effect of the operations on the frame state
//	compile.go  from regions to rows
//	table.go    Table: look-ups
//	list_addr.go  the address of the list, from code
//
// What it does not do: it knows no process and no other format. Conditional operations on ARM are an
// error, and so are regions on machines whose instructions have several sizes and that the manual does
// not number by bytes (RISC-V, Thumb). The data of the format LocalTable is private to libunwind.
//
// Input is not trusted. Lists may be circular or damaged and counts may be absurd: each function has
// limits. A look-up in a Table does not allocate. Several goroutines may use a Table.
package dyninfo
