// Package unwindcheck compares the unwinder with the real execution of a program. It steps all
// threads of the program, one instruction at a time from the first instruction on. For each stack
// it keeps the list of calls that have not returned yet. At every instruction, it compares package
// frames' answer about the caller with that list.
//
// Run steps a program and returns a Report, which holds the wrong ranges, each with the row of the
// table that covers it, and the counts. WriteText and WriteJSON print it.
//
// It needs a process of package target/ptrace that is stopped at its first instruction.
//
// # The truth
//
// A call creates an activation (activation.go): the canonical frame address, the return address,
// the callee-saved registers. These are what the caller will have again after the return, so they
// are the truth as long as the thread is in the callee. The kernel's entry into a signal handler is
// also an activation. Its caller is the trampoline, whose caller is the interrupted code with all
// its registers.
//
// Code that leaves without a return is difficult: longjmp, exceptions, coroutines. Its tables may
// describe the state that it is about to create (glibc's __longjmp does). That is correct, although
// it is not the state at the entry. So a claim that differs from the entry is kept (claim.go) until
// the activation is left. If it is left by its return, the claim was wrong. Otherwise the claim is
// correct if it describes the place where control has really gone, with the right registers.
//
// # The shadow
//
// shadow.go updates the list of activations for each instruction, and switch.go distinguishes
// stacks. They do not depend on a process: their tests invent the events.
//
// # What it does not do
//
// It does not follow children of fork. A function that was entered before its stack was first seen
// (the first of a goroutine, or one that makecontext starts) has no known caller, and is not
// judged. The first function of the process and of a thread is judged: the walk must end there.
//
// # How it stays fast
//
// A step by the processor costs about 25 µs on a virtual machine, and a judgement 2 to 4. But the
// next address is nearly always certain (predict.go), and ptrace.StepAll then needs only a fifth of
// that. Instructions are decoded once (code.go), walks are reused and end after the first caller,
// and nothing is allocated. Information that only messages need is looked up when there is a
// message.
//
// A program that reads its own code (for a checksum of its text) may see the breakpoint at the
// instruction after the read. Options.Plodding avoids such breakpoints.
package unwindcheck
