// Package minidump reads minidumps: the crash dumps of Windows, and those that Breakpad and Crashpad
// write on Windows, Linux, Android, macOS and iOS. It implements target.Target, on any machine.
//
// It gives threads with their registers, the memory in the dump, the modules with their ids, the
// exception, and facts about the process and the system (Notes). It gets one file and, from
// Options, functions that find the files of modules.
//
// It returns only data that is known. Memory that is not in the dump is unknown, not zero. The
// exception is memory of modules that the process can't have changed: it is read from a file if the
// file has the id of the module (files.go). A register that the flags of its context do not cover is
// unknown. Signals are given with Linux's numbers, as everywhere in package target; SignalInfo.Exception
// has the words of the system on which the process ran.
//
// The format is that of Microsoft's minidumpapiset.h, with the extensions of Breakpad
// (google_breakpad/common/minidump_format.h) and Crashpad (minidump/minidump_extensions.h). Contexts
// are those of winnt.h for x64, ARM64, x86 and ARM, and Breakpad's older forms for ARM64 and ARM.
//
// It does not read dumps of kernels, dumps with big-endian data, the 32-bit stacks of a WOW64
// process whose dump has 64-bit contexts, or microdumps.
//
// The file is mapped, not read. A dump may be truncated or damaged anywhere: every offset, size and
// count is checked. Warnings reports the parts that are lost.
package minidump
