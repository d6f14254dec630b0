package ptrace

import "dbg/target"

// stop says what a stopped thread stopped for.
type stop uint8

const (
	passing    stop = iota // nothing that anyone needs to know
	breakpoint             // one of our breakpoints
	stepped                // the step that was asked for is done
	signalled              // a signal with Stop in its policy
	execed                 // the process became another program
	inSyscall              // a syscall-stop, on the way in
	watched                // watched memory was accessed
)

// matters reports whether the stop is one that ends a run.
func (s stop) matters() bool {
	return s == breakpoint || s == stepped || s == signalled || s == execed || s == watched
}

// thread is what the tracer knows of one thread.
type thread struct {
	tid     int
	guest   bool   // a child that shares our memory, see guests.go
	running bool   // from the resuming request to the next status
	fresh   bool   // its very first stop, as a new thread, has not come yet
	zombie  bool   // the leader, after it exited alone: nothing comes of it any more
	frozen  bool   // PTRACE_INTERRUPT has been sent since it was resumed
	away    bool   // running, but waiting for a child of vfork: it can't be stopped, and regs is what it went in with
	leaving bool   // a guest that is let go when it stops next
	waits   bool   // stopped, and about to wait for a child of vfork when it goes on
	serial  uint64 // of the event that told of its being parked
	parked  bool   // stopped, while the process runs, until the target's user decides

	// Of the last stop.
	why       stop
	addr      target.Addr        // of a breakpoint
	signal    *target.SignalInfo // of signalled; for Threads
	groupStop bool               // it takes part in a group-stop: PTRACE_LISTEN is its way on
	sigStop   bool               // a signal-delivery-stop: a signal may be injected on the way on
	trapStop  bool               // the signal was a trap of ours: the kernel would deliver it if we died, see settleTraps
	settling  bool               // it is on its way out of that stop
	fired     uint8              // of watched: the slots, as bits
	stepDone  bool               // of watched: a step is done as well

	armed uint32 // the version of the watches in its debug registers; 0: they are clear

	// What it gets when it goes on.
	inject int       // a signal, or 0
	info   sigInfo   // of inject, when it has the same number
	fault  bool      // inject is the fault of the instruction at the PC
	told   bool      // inject was reported, or chosen, by the user: a step enters its handler
	later  []sigInfo // signals held back during a step
	resent []sigInfo // signals sent again by us with tgkill, still to arrive

	// skip is the address at which a breakpoint is not to be hit, because
	// it was already reported there; valid while skipping.
	skip     target.Addr
	skipping bool

	step     stepKind // how it was last resumed
	owed     bool     // the SIGTRAP of a single step has not come yet
	enter    bool     // the next signal that arrives again is to be given, step or not
	wasPushf bool     // the step was over a pushf

	line     outOfLine // while it executes a copy of an instruction
	cameFrom outOfLine // of the last stop: it was there

	haveRegs bool
	sparse   bool // regs has only what /proc/PID/syscall shows, see findAway
	changed  bool // regs has what the thread is to go on with; resumeWith and flush write it
	regs     userRegs
}

// stepKind says how a thread was resumed.
type stepKind uint8

const (
	noStep      stepKind = iota
	plainStep            // PTRACE_SINGLESTEP: reports at once
	slowStep             // PTRACE_SINGLESTEP that may end up waiting in a system call
	toSyscall            // PTRACE_SYSCALL on a syscall instruction: reports its entry at once
	fromSyscall          // PTRACE_SYSCALL from the entry on: reports the exit, some day
)

// registers returns the registers of a stopped thread.
func (t *thread) registers() (*userRegs, error) {
	if !t.haveRegs {
		if err := getRegs(t.tid, &t.regs); err != nil {
			return nil, err
		}
		t.haveRegs = true
	}
	return &t.regs, nil
}

// pc returns the PC of a stopped thread, 0 if it has died.
func (t *thread) pc() target.Addr {
	r, err := t.registers()
	if err != nil {
		return 0
	}
	return target.Addr(r.get(offRIP))
}

// setPC moves the PC of a stopped thread.
func (t *thread) setPC(pc target.Addr) error {
	r, err := t.registers()
	if err != nil {
		return err
	}
	r.set(offRIP, uint64(pc))
	t.changed = true
	return nil
}

// flush writes changed registers.
func (t *thread) flush() {
	if t.changed {
		t.changed = false
		_ = setRegs(t.tid, &t.regs) // ESRCH: it was killed
	}
}

// restarting reports whether the thread was interrupted in a system call that
// the kernel will start again when the thread goes on, by moving its PC back to
// the syscall instruction (two bytes): signal(7), "Interruption of system
// calls". The codes are the kernel's own, include/linux/errno.h.
func (t *thread) restarting() bool {
	r, err := t.registers()
	return err == nil && restarting(r)
}

func restarting(r *userRegs) bool {
	if int64(r.get(offOrigRAX)) < 0 {
		return false
	}
	switch -int64(r.get(offRAX)) {
	case 512, 513, 514, 516: // ERESTARTSYS, -NOINTR, -NOHAND, -_RESTARTBLOCK
		return true
	}
	return false
}
