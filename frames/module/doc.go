// Package module holds what one file knows of unwinding.
//
// Its question: which row of which table unwinds a frame at an address of this file, and what else
// do the file's sections and symbols show: its code, its linkage stubs, its entry, the functions
// that begin threads, and those of Go's runtime that switch stacks?
//
// [At] and [Of] make a [Module] of an image.File; [New] makes one of sections. [Module.PlanAt] is
// the look-up of the walk: package frames calls it through a [Lookup], with the tables that its
// strategies permit. Owners of address spaces (session, unwindcheck, unwindtable) mostly use the
// names that package frames has for the types.
//
//	tables.go       the tables in the order of their use, and when they are compiled
//	compile.go      all rows of a table at once
//	image.go        which sections of an ELF or Mach-O file matter
//	compact.go      Apple's __unwind_info; stubs.go has rows for its stub sections
//	ehabi.go        ARM's .ARM.exidx and .ARM.extab
//	sframe.go       .sframe
//	mapped.go       which files are mapped in a process, and where
//	gotable.go      Go's .gopclntab; mini.go the .debug_frame in .gnu_debugdata
//
// You bring the file, which must stay open, and the address at which it is mapped. Only [IsELFAt]
// reads a process.
//
// Several goroutines may use one Module: what it derives is made once. A Lookup belongs to one
// goroutine.
package module
