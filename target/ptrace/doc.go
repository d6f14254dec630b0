// Package ptrace debugs a live Linux process on x86-64. It launches or attaches to a process,
// stops and resumes it, reads and writes its memory and registers, and reports events. It
// implements target.Process with ptrace(2) and PTRACE_SEIZE.
//
// # How it is built
//
// The kernel accepts ptrace requests only from the tracer thread. So one goroutine, locked to its
// thread, owns the state of the process (tracer.go, tracerthread). The methods of Process send it
// functions and wait. Events go through a separate queue (outbox). This package decides; the
// packages below it know no Process, and are called on that thread unless their docs permit more.
// docs/control.md has their table.
//
// A status from the kernel is handled in two steps. First, note (note.go) records it in the
// thread's state, and moves nothing. Then react (loop.go) decides. Most stops are of no interest
// (a thread was created, a signal passes), and the thread continues (resume.go). A thread at a
// site, or at the end of its step, is judged: it continues (pass.go), or it is parked, or halt
// (halt.go) stops all other threads and the stop is reported. Stops of other threads in the
// meantime are saved for the next Resume.
//
// While all threads are being stopped, and while one is stepped over a site, the goroutine waits
// for threads by their ids. A thread that waits for a child of vfork can't be stopped, and counts
// as stopped. Kill always works, because the caller sends it.
//
// The breakpoint bytes of sites (package memory) are in memory only while the process runs. Before
// a stop is reported, every thread has left the signal-delivery-stop of our traps. So a program
// survives if the debugger is killed at a prompt. While an attached program runs, a guardian
// protects it (package guardian).
//
// # What it relies on
//
// For each recorded trap there is a site, or the site was removed after the last halt: halt takes
// all pending traps.
//
// # What it does not do
//
// It does not support 32-bit programs. Children that share our memory are guests (guests.go): they
// are never shown. Other children get a Process of their own or are detached, after our bytes are
// removed from their memory (children.go).
package ptrace
