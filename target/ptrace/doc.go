// Package ptrace debugs a live process of Linux on x86-64: it launches or
// attaches, stops and resumes, reads and writes, and says what happened. It
// implements target.Process on ptrace(2) with PTRACE_SEIZE.
//
// # How it is built
//
// The kernel takes ptrace requests only from the thread that is the tracer. So
// one goroutine, locked to its thread, owns all that is known of the process
// (loop.go); the methods of Process send it functions and wait. It sleeps in one
// select: on commands, on SIGCHLD, on somebody taking an event. Nothing polls.
//
// What the kernel reports goes two steps. note (note.go) records it in the
// thread's state, and moves nothing. react (loop.go) then decides: most
// stops are of no interest (a thread was born, a signal passes) and the thread goes
// on (resume.go); one that matters makes halt (halt.go) stop all the others,
// after which report sends the event. What other threads did in the meantime is
// kept for the next Resume.
//
// While all threads are being stopped, and while one is stepped over a
// breakpoint (stepover.go), the goroutine waits in wait4(2) itself: both end
// at once. The one thing that doesn't is a thread that the kernel will not
// interrupt, as the parent of a vfork; Kill gets through even then, because it
// is sent by the caller.
//
// StepAll (stepall.go) is another loop on the same thread, for those who want to see every
// instruction: it takes all threads forward by one instruction at a time, in turns, and calls a visitor
// after each. It is made to be fast. The tracer and its tracees share one processor and no SIGCHLD is
// sent for stops (pin.go); where the visitor can say which instruction comes next, the thread runs into an
// int3 there instead of being stepped by the processor, whose debug exception is dear on a virtual machine (trap.go);
// waiting and asking are raw system calls, and nothing is allocated. A thread is let into a system call and reports
// when it is back; until it is known to be in the kernel, no int3 is in memory that it might hit.
//
// # What it relies on
//
// The table of breakpoints changes only while every thread is stopped and its
// status has been taken. So a trap that is noted always finds its breakpoint.
//
// # What it does not do
//
// Programs of 32 bits, hardware breakpoints and watchpoints, following the
// children of fork. Children are let go with our breakpoints taken out of their memory.
package ptrace
