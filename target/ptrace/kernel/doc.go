// Package kernel makes the system calls of the tracer: it answers what Linux on x86-64 offers to a
// program that traces another one. It has ptrace(2) requests, wait4(2) statuses, register sets,
// siginfo, memory of other processes, and a few calls about processors, terminals and process
// ids. Each function is one system call, or a few that belong together. The package knows no
// Process and keeps no state of a tracee.
//
// Its callers are target/ptrace and the packages below that.
//
// # Which thread
//
// The kernel accepts ptrace requests and waits for tracees only from the thread that traces. So
// Ptrace and everything built on it (registers, siginfo, Wait and its relatives) is called only
// on the tracer's thread, which target/ptrace/tracerthread keeps locked. The guardian, which is
// another process, calls some of them for threads that it has seized itself. ReadVector,
// WriteVector, WriteAll, ReadByte, SameMemory, PidFD and Reap may be called on any thread.
//
// # How it stays fast
//
// Requests and waits that don't block are raw system calls: Go's scheduler need not know about
// them. None allocates, except GetXState and GetFPState.
package kernel
