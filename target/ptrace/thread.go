package ptrace

import (
	"dbg/target"
	"dbg/target/ptrace/debugreg"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/registers"
	"dbg/target/ptrace/signals"
	"dbg/target/ptrace/syscalls"
)

// stop is the reason why a thread stopped.
type stop uint8

const (
	passing    stop = iota // of no interest; the thread may continue
	breakpoint             // one of our breakpoints
	stepped                // the requested step is done
	signalled              // a signal whose policy has Stop
	execed                 // the process executed another program
	inSyscall              // a syscall-stop at the entry
	watched                // watched memory was accessed
	noticed                // an event that the client asked for; see notice
)

// matters reports whether the stop ends a run.
func (s stop) matters() bool {
	return s == breakpoint || s == stepped || s == signalled || s == execed || s == watched || s == noticed
}

// thread is the tracer's state of one thread.
type thread struct {
	tid     int
	guest   bool    // a process that shares our memory, see guests.go
	parent  *thread // of a guest: the thread that created it by vfork, or nil
	running bool    // from the request that resumes it to its next status
	fresh   bool    // a new thread whose first stop has not arrived yet
	zombie  bool    // the leader, after it exited before the other threads: it reports nothing more
	frozen  bool    // PTRACE_INTERRUPT was sent since it was resumed
	away    bool    // it waits for a child of vfork and can't be stopped; regs is older
	leaving bool    // a guest that is detached at its next stop
	waits   bool    // stopped, and will wait for a child of vfork when it continues
	serial  uint64  // of the event that reported it as parked
	icy     bool    // kept stopped for the client: see Freeze
	parked  bool    // stopped while the process runs, until Move or StopAll

	// These describe the last stop.
	why       stop
	addr      target.Addr        // if why is breakpoint
	signal    *target.SignalInfo // if why is signalled; for Threads
	groupStop bool               // a group-stop: it continues with PTRACE_LISTEN
	sigStop   bool               // a signal-delivery-stop: it can take a signal
	trapStop  bool               // the signal was our trap: see settleTraps
	settling  bool               // it is leaving the signal-delivery-stop
	fired     debugreg.Fired     // if why is watched: the watches
	stepDone  bool               // if why is watched or noticed: a step is done, too
	bySteps   bool               // if why is watched: the probe has stopped the thread

	arrival uint64        // if why matters: the number of its arrival there
	notice  notice        // if why is noticed
	call    syscalls.Call // of its system call
	forked  int           // a child whose fork is reported when it returns, or 0
	heir    *Process      // the child that is reported when the call returns, if the client follows it

	armed uint32 // the version of the watches in its debug registers; 0: they are clear

	// These are delivered when it continues.
	inject int            // the signal, or 0
	info   kernel.SigInfo // of inject, if it has the same number
	fault  bool           // inject is a fault of the instruction at the PC
	told   bool           // the user saw or chose inject: a step enters its handler
	queue  signals.Queue  // held back, or sent again

	// skip is an address where the thread does not hit the breakpoint, because that was already
	// reported. It is valid if skipping is set.
	skip     target.Addr
	skipping bool

	step     stepKind // how it was last resumed
	owed     bool     // the SIGTRAP of a single step has not arrived yet
	enter    bool     // deliver the next signal that was sent again, even during a step
	wasPushf bool     // the step is over a pushf

	line     instruction.Copy // set while it executes a copy of an instruction
	cameFrom instruction.Copy // where it was out of line at its last stop

	regs registers.Set
}

// stepKind is the way in which a thread was resumed.
type stepKind uint8

const (
	noStep      stepKind = iota
	plainStep            // PTRACE_SINGLESTEP: reports at once
	slowStep             // PTRACE_SINGLESTEP that may wait in a system call
	toSyscall            // PTRACE_SYSCALL on a syscall instruction: reports its entry at once
	fromSyscall          // PTRACE_SYSCALL from the entry on: reports the exit at some later time
)

func newThread(tid int) *thread { return &thread{tid: tid, regs: registers.Of(tid)} }
