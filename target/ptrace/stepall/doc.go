// Package stepall executes all threads of a process one instruction at a time, and calls a Visitor
// after each. It answers how a check can see every instruction of a program.
//
// It moves one thread at a time by one instruction, in turns. It is made to be fast. The tracer and
// its tracees share one processor, which the caller sees to (kernel.Pin). Where the Visitor can
// predict the next instruction, the thread runs into an int3 there. That avoids the processor's
// debug exception, which is costly on a virtual machine (memory.MoveTrap). Waits and requests are
// raw system calls, and nothing is allocated. A thread may enter a system call, and reports when it
// returns. Until it is known to be in the kernel, memory has no int3 that the thread might hit.
//
// The process belongs to the caller, target/ptrace: it keeps the state of the threads, and handles
// everything that is not the end of a step. A Tracer and its Threads are what this package needs of
// it. The Visitor belongs to the checks (unwindcheck). All of it, including the Visitor, runs on
// the tracer's thread.
package stepall
