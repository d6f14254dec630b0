// Package machocore reads Mach-O core files (MH_CORE), as macOS's kernel and
// lldb's "process save-core" write them: the memory and registers that a
// process had. It implements target.Target, on any machine.
//
// It gives what is there and nothing else: the bytes of the segments
// (LC_SEGMENT_64), the registers of the threads (LC_THREAD), and the list of
// images, each with its UUID and where it is. What a segment has no bytes for is
// unknown, not zero. The exception is code and constants that the core leaves
// out: these are read from the image's file, if a file with its UUID is found
// (Options); a segment that is writable never is.
//
// The images are those of the LC_NOTEs "all image infos", "load binary" and
// "main bin spec". Where there is no list, dyld's own in memory is read
// (dyld_all_image_infos, <mach-o/dyld_images.h>); where that isn't there
// either, executable pages are looked at for Mach-O headers, up to 2 GB. The notes' layouts
// are those that lldb writes and reads (ObjectFileMachO.cpp) and xnu has in
// core_notes.h. Thread states are in <mach/i386/thread_status.h>,
// <mach/i386/_structs.h>, <mach/arm/thread_status.h> and
// <mach/arm/_structs.h>. Processors: x86-64, arm64 and arm64e, i386.
//
// Registers of code and stack (PC, LR, FP, SP) are given without pointer
// authentication, by the number of bits that the note "addrable bits" has.
// A core does not say which thread died, nor of what: a signal is worked out
// from the processor's exception state and has Linux's number, as everywhere in
// package target. A thread that was stopped at a handled fault looks the same.
// The process id isn't in the file; thread ids are those of the note
// "process metadata", else 1, 2, 3...
//
// It does not read kernel cores' page tables, compressed cores, or the bytes of
// a dyld shared cache that the core left out.
//
// The file is mapped, not read, and a core may be truncated or damaged anywhere:
// every offset, size and count is checked. What is lost is said by Warnings.
package machocore
