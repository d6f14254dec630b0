// Package registry reads the lists of call frame information that a program registers while it runs,
// with __register_frame and the functions beside it. JIT compilers describe their code so.
//
// What it gives you: ReadList, ReadTree and ReadCache read the lists of the runtime libraries from a
// program's memory. ReadFrames reads the call frame information of an entry. References lists the
// addresses that a function refers to; in a stripped library the lists are among them, and ReadAny
// tells which of them is a list.
//
// What you must bring: the program's memory, its architecture, and the addresses of the lists or of the
// functions.
//
// The lists, all private to the libraries:
//
//	libgcc before GCC 13   unseen_objects and seen_objects, lists of struct object (unwind-dw2-fde.h)
//	libgcc since GCC 13    registered_frames, a b-tree of them (unwind-dw2-btree.h)
//	LLVM's libunwind       DwarfFDECache<LocalAddressSpace>::_buffer, an array (UnwindCursor.hpp)
//
//	object.go      struct object, and the list of them
//	tree.go        the b-tree
//	cache.go       LLVM's array
//	frames.go      the call frame information
//	references.go  addresses in the code of a function
//
// What it does not do: it knows no process and makes no rows; package cfi does that with the bytes.
//
// Input is not trusted. Lists may be circular or damaged and counts may be absurd: each function has
// limits, and with an error it returns the entries before the damage.
package registry
