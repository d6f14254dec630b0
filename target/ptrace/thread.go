package ptrace

import (
	"dbg/target"
	"dbg/target/ptrace/debugreg"
	"dbg/target/ptrace/instruction"
	"dbg/target/ptrace/kernel"
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
	stepDone  bool               // if why is watched: a step is done, too

	notice    notice    // if why is noticed
	stepEnded bool      // if why is noticed: a step is done, too
	call      callState // of its system call
	forked    int       // a child whose fork is reported when it returns, or 0
	heir      *Process  // the child that is reported when the call returns, if the client follows it

	armed uint32 // the version of the watches in its debug registers; 0: they are clear

	// These are delivered when it continues.
	inject int              // the signal, or 0
	info   kernel.SigInfo   // of inject, if it has the same number
	fault  bool             // inject is a fault of the instruction at the PC
	told   bool             // the user saw or chose inject: a step enters its handler
	later  []kernel.SigInfo // signals held back during a step
	resent []kernel.SigInfo // signals that we sent again with tgkill and that have not arrived yet

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

	haveRegs bool
	sparse   bool // regs holds only the registers in /proc/PID/syscall, see findAway
	changed  bool // regs was changed; resumeWith and flush write it
	regs     kernel.Regs
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

// registers returns the registers of a stopped thread.
func (t *thread) registers() (*kernel.Regs, error) {
	if !t.haveRegs {
		if err := kernel.GetRegs(t.tid, &t.regs); err != nil {
			return nil, err
		}
		t.haveRegs = true
	}
	return &t.regs, nil
}

// pc returns the PC of a stopped thread, or 0 if it was killed.
func (t *thread) pc() target.Addr {
	r, err := t.registers()
	if err != nil {
		return 0
	}
	return target.Addr(r.Get(kernel.RIP))
}

// setPC sets the PC of a stopped thread.
func (t *thread) setPC(pc target.Addr) error {
	r, err := t.registers()
	if err != nil {
		return err
	}
	r.Set(kernel.RIP, uint64(pc))
	t.changed = true
	return nil
}

// flush writes the registers to the kernel if they were changed.
func (t *thread) flush() {
	if t.changed {
		t.changed = false
		_ = kernel.SetRegs(t.tid, &t.regs) // ESRCH: it was killed
	}
}

// restarting reports whether the thread was interrupted in a system call that the kernel restarts
// when the thread continues, by moving its PC back to the syscall instruction (two bytes):
// signal(7), "Interruption of system calls". The error codes are internal to the kernel:
// include/linux/errno.h.
func (t *thread) restarting() bool {
	r, err := t.registers()
	return err == nil && r.Restarting()
}
