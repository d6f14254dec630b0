// Package machocore reads Mach-O core files (MH_CORE), written by macOS's kernel or by lldb's
// "process save-core": the memory and registers of a process. It implements target.Target, on any
// machine.
//
// It returns only data that is known: the bytes of the segments (LC_SEGMENT_64), the registers of
// the threads (LC_THREAD), and the list of images, each with its UUID and address. Memory of a
// segment without bytes in the core is unknown, not zero. The exception is code and constants
// that the core leaves out: they are read from the image's file, if a file with its UUID is found
// (Options). Writable segments are never read from a file.
//
// The images are those in the LC_NOTEs "all image infos", "load binary" and "main bin spec".
// Without such a list, dyld's own list in memory is read (dyld_all_image_infos,
// <mach-o/dyld_images.h>). If that is missing too, up to 2 GB of executable pages are searched
// for Mach-O headers. The layouts of the notes are those that lldb writes and reads
// (ObjectFileMachO.cpp), and those in xnu's core_notes.h. Thread states are in
// <mach/i386/thread_status.h>, <mach/i386/_structs.h>, <mach/arm/thread_status.h> and
// <mach/arm/_structs.h>. The supported processors are x86-64, arm64 and arm64e, and i386.
//
// Registers with addresses of code and stack (PC, LR, FP, SP) are returned without pointer
// authentication codes, according to the number of bits in the note "addrable bits". A core does
// not record which thread died, nor why. A signal is derived from the processor's exception
// state, and has Linux's number, as everywhere in package target. A thread that was stopped at a
// handled fault looks the same. The file does not contain the process id. Thread ids are those in
// the note "process metadata", or else 1, 2, 3...
//
// It does not read the page tables of kernel cores, compressed cores, or bytes of a dyld shared
// cache that the core leaves out.
//
// The file is mapped, not read. A core may be truncated or damaged anywhere: every offset, size
// and count is checked. Warnings reports the parts that are lost.
package machocore
