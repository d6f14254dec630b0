// Package ptrace debugs a live process of Linux on x86-64: it launches or
// attaches, stops and resumes, reads and writes, and says what happened. It
// implements target.Process on ptrace(2) with PTRACE_SEIZE.
//
// # How it is built
//
// The kernel takes ptrace requests only from the thread that is the tracer. So
// one goroutine, locked to its thread, owns all that is known of the process
// (loop.go); the methods of Process send it functions and wait. It sleeps in wait4(2). A
// command ends that sleep with a signal (bell.go). Events go through a queue of their own (outbox.go).
//
// What the kernel reports goes two steps. note (note.go) records it in the
// thread's state, and moves nothing. react (loop.go) then decides. Most
// stops are of no interest (a thread was born, a signal passes), and the thread goes
// on (resume.go). A thread at a site, or at the end of its step, is judged: it goes on (pass.go), it is parked,
// or halt (halt.go) stops all the others and the stop is reported. What other threads did in the meantime is
// kept for the next Resume.
//
// While all threads are being stopped, and while one is stepped over a
// site, the goroutine waits for threads by their ids. A thread that waits for a child of vfork can't be stopped
// and counts as stopped. Kill gets through in any case, because it is sent by the caller.
//
// The bytes of sites (sites.go) are in memory only while the process runs. Before a stop is reported, no thread is left in the
// signal-delivery-stop of a trap of ours. So a program survives if this one is killed at a prompt; while an attached program runs,
// a guardian watches over it (guardian.go).
//
// StepAll (stepall.go) is another loop on the same thread, for those who want to see every
// instruction: it takes all threads forward by one instruction at a time, in turns, and calls a visitor
// after each. It is made to be fast. The tracer and its tracees share one processor (pin.go); where the visitor can say which instruction comes next, the thread runs into an
// int3 there instead of being stepped by the processor, whose debug exception is dear on a virtual machine (trap.go);
// waiting and asking are raw system calls, and nothing is allocated. A thread is let into a system call and reports
// when it is back; until it is known to be in the kernel, no int3 is in memory that it might hit.
//
// # What it relies on
//
// A trap that is noted finds its site, or the site is among those that were removed since the last halt: halt takes the traps
// that are pending.
//
// # What it does not do
//
// Programs of 32 bits, hardware breakpoints and watchpoints, following the
// children of fork. Children with memory of their own are let go with our bytes taken out of it; those that share
// ours are guests (guests.go).
package ptrace
