package stepall

import (
	"fmt"

	"dbg/arch"
	"dbg/target"
)

// Cause is the cause of a Step.
type Cause uint8

const (
	CauseFirst  Cause = iota // the position of the thread when Run began
	CauseDone                // an instruction was executed, or one round of a string instruction
	CauseSignal              // the kernel has entered a signal handler; nothing was executed
	CauseThread              // a new thread, before its first instruction
	CauseExec                // the process has executed another program
	CauseExit                // the thread has ended and has no registers
	CauseGone                // the process has ended with that thread; nothing follows
)

// Step is one stop of a thread.
type Step struct {
	Thread target.ThreadID
	Cause  Cause
	Regs   *arch.Registers // valid during the call; nil for CauseExit and CauseGone
	Signal int             // of CauseSignal; for CauseGone: the signal that killed the process
	Status int             // for CauseExit and CauseGone: the exit status
}

// Instruction is the class of the next instruction, which Run needs. The visitor knows it: it
// decodes the instruction, or has often seen it before.
type Instruction uint8

const (
	Plain   Instruction = iota
	Syscall             // may wait in the kernel
	Pushf               // would push the trap flag that a step sets
	Trap                // sends SIGTRAP itself: int3, icebp, popf with TF
)

// Next specifies how a thread continues.
type Next struct {
	Instruction Instruction
	Signal      int // to be sent to the thread; not after CauseSignal
	Stop        bool

	// Then is the address of the thread after the instruction, if it is certain, else 0. With
	// Then the step is about four times faster on a virtual machine (memory.MoveTrap). With a wrong
	// address the thread runs on without control. Original is the byte at Then. Code holds the
	// bytes at the thread's PC if they reach up to and including Then. It is optional, and
	// Run does not keep it.
	Then     target.Addr
	Original byte
	Code     []byte
}

// Visitor is called at each stop, on the tracer's thread, while that thread is stopped.
// It may call ReadMemory, Mappings, Auxv, Exe and Kill of the ptrace.Process, and no other method.
type Visitor interface {
	VisitStep(*Step) Next
}

// String returns the name of the cause in lower case.
func (c Cause) String() string {
	names := [...]string{"first", "done", "signal", "thread", "exec", "exit", "gone"}
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("Cause(%d)", c)
}
