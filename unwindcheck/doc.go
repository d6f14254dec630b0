// Package unwindcheck holds the unwinder against what truly happens. It steps a program, all
// threads, one instruction at a time from its very first one, keeps for each stack that it
// sees the list of calls that were made and not yet returned from, and compares at every
// instruction what package frames says of the caller with what it knows.
//
// What it gives you: Run steps a program and returns a Report, which has the wrong ranges with
// the table's row that they are from, and the counts. WriteText and WriteJSON print it.
//
// What you must bring: a process of package target/ptrace that is stopped at its first instruction.
//
// # The truth
//
// A call leaves an activation (activation.go): the canonical frame address, the return address, the
// callee-saved registers. That is what the caller is to get back, so it is the truth as long as
// the callee is what the thread is in. The kernel's entry into a signal handler is an
// activation too, whose caller is the trampoline, whose caller is the interrupted code with
// all its registers.
//
// Code that leaves without a return is the difficult part: longjmp, exceptions, coroutines. Its
// tables may describe the state that it is about to make (glibc's __longjmp does), which is
// right, though it is not the state at the entry. So a claim that disagrees with the entry
// is kept (claim.go) until the activation is left. If it is left by its return, the claim was wrong; else it
// is right if it says where control has really come to, with which registers.
//
// # The shadow
//
// shadow.go says what each instruction does to the list of activations, switch.go how a stack is told from
// another one. Nothing there knows of a process: its tests make up the events.
//
// # What it does not do
//
// Children of fork are let go. A function that was entered before its stack was first seen (a
// goroutine's first, what makecontext starts) has no known caller and is not judged; the process's and a
// thread's first function are: the walk must end there.
//
// # How it stays fast
//
// A step by the processor costs some 25 µs on a virtual machine, a judgement 2 to 4. But where an instruction leads is nearly
// always certain (foretell.go), and ptrace.StepAll then needs only a fifth of that. Instructions are decoded once
// (code.go), walks are used again and end after the first caller, nothing is allocated. What only messages need is
// looked up when there is something to say.
//
// A program that reads its own code (as a checksum of its text) may see the breakpoint that is set at the
// instruction after the one that reads: Options.Plodding does without.
package unwindcheck
