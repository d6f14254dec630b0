package ptrace

import (
	"fmt"

	"dbg/arch"
	"dbg/target"
)

// StepCause is the cause of a Step.
type StepCause uint8

const (
	StepFirst  StepCause = iota // the position of the thread when StepAll began
	StepDone                    // an instruction was executed, or one round of a string instruction
	StepSignal                  // the kernel has entered a signal handler; nothing was executed
	StepThread                  // a new thread, before its first instruction
	StepExec                    // the process has executed another program
	StepExit                    // the thread has ended and has no registers
	StepGone                    // the process has ended with that thread; nothing follows
)

// Step is one stop of a thread.
type Step struct {
	Thread target.ThreadID
	Cause  StepCause
	Regs   *arch.Registers // valid during the call; nil for StepExit and StepGone
	Signal int             // of StepSignal; for StepGone: the signal that killed the process
	Status int             // for StepExit and StepGone: the exit status
}

// Instruction is the class of the next instruction, which StepAll needs. The visitor knows it: it
// decodes the instruction, or has often seen it before.
type Instruction uint8

const (
	PlainInstruction   Instruction = iota
	SyscallInstruction             // may wait in the kernel
	PushfInstruction               // would push the trap flag that a step sets
	TrapInstruction                // sends SIGTRAP itself: int3, icebp, popf with TF
)

// Next specifies how a thread continues.
type Next struct {
	Instruction Instruction
	Signal      int // to be sent to the thread; not after StepSignal
	Stop        bool

	// Then is the address of the thread after the instruction, if it is certain, else 0. With
	// Then the step is about four times faster on a virtual machine (trap.go). With a wrong
	// address the thread runs on without control. Original is the byte at Then. Code holds the
	// bytes at the thread's PC if they reach up to and including Then. It is optional, and
	// StepAll does not keep it.
	Then     target.Addr
	Original byte
	Code     []byte
}

// StepVisitor is called at each stop, on the tracer's thread, while that thread is stopped.
// It may call ReadMemory, Mappings, Auxv, Exe and Kill of the Process, and no other method.
type StepVisitor interface {
	VisitStep(*Step) Next
}

// String returns the name of the cause in lower case.
func (c StepCause) String() string {
	names := [...]string{"first", "done", "signal", "thread", "exec", "exit", "gone"}
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("StepCause(%d)", c)
}
