package ptrace

import (
	"fmt"

	"dbg/arch"
	"dbg/target"
)

// StepCause says what led to a Step.
type StepCause uint8

const (
	StepFirst  StepCause = iota // nothing yet: where the thread was when StepAll began
	StepDone                    // one instruction was executed, or one round of a string instruction
	StepSignal                  // the kernel has entered a signal handler; nothing was executed
	StepThread                  // a new thread, before its first instruction
	StepExec                    // the process has become another program
	StepExit                    // the thread has ended; it has no registers any more
	StepGone                    // the process has ended with that thread; nothing follows
)

// Step is one stop of a thread.
type Step struct {
	Thread target.ThreadID
	Cause  StepCause
	Regs   *arch.Registers // valid during the call; nil for StepExit and StepGone
	Signal int             // the signal of StepSignal; of StepGone, the one that ended the process
	Status int             // of StepExit and StepGone: the exit status
}

// Instruction is what StepAll must be told about the instruction that comes next. The visitor
// knows it, since it has decoded the instruction, and often has seen it before.
type Instruction uint8

const (
	PlainInstruction   Instruction = iota
	SyscallInstruction             // may wait in the kernel
	PushfInstruction               // would push the trap flag that a step sets
	TrapInstruction                // sends SIGTRAP itself: int3, icebp, popf with TF
)

// Next is how a thread is to go on.
type Next struct {
	Instruction Instruction
	Signal      int // to be sent to the thread; not after StepSignal
	Stop        bool

	// Then is where the thread will be after the instruction, if that is certain: the step is some
	// four times faster on a virtual machine (trap.go). 0: not known. A wrong one
	// lets the thread run away. Original is the byte at Then. Code is the bytes at the thread's
	// PC, if they reach up to and including Then; it need not be given and is not kept.
	Then     target.Addr
	Original byte
	Code     []byte
}

// StepVisitor is called at each stop, on the tracer's thread, while that thread is stopped.
// It may call ReadMemory, Mappings, Auxv, Exe and Kill of the Process, and no other method.
type StepVisitor interface {
	VisitStep(*Step) Next
}

func (c StepCause) String() string {
	names := [...]string{"first", "done", "signal", "thread", "exec", "exit", "gone"}
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("StepCause(%d)", c)
}
