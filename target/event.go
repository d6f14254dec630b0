package target

// EventKind is the kind of an Event.
type EventKind uint8

const (
	Stopped       EventKind = iota // all threads are stopped; Reason says why
	Exited                         // the process exited; see ExitCode
	Killed                         // a signal killed the process; see Signal
	ThreadStarted                  // a thread was created; the process still runs
	ThreadExited                   // a thread ended; the process still runs
	Forked                         // a child was created; see Child, Process and Process.CatchEvents
	Parked                         // one thread stopped and waits for a decision, the others run; Reason is Breakpoint or Stepped
)

// StopReason is the reason why a process stopped.
type StopReason uint8

const (
	Entry         StopReason = iota // just launched or attached
	Breakpoint                      // a breakpoint instruction that we inserted; see Addr
	Stepped                         // the requested step is complete
	Signalled                       // a signal whose policy has Stop set; see Signal
	Interrupted                     // Interrupt was called
	Execed                          // the process executed another program
	Watched                         // a thread accessed watched memory; see Watches
	Syscall                         // a system call of Process.CatchSyscalls; see Event.Syscall
	ChildCreated                    // a child was created, see Process.CatchEvents and Event.Child
	ThreadCreated                   // the thread is new, see Process.CatchEvents
)

func (r StopReason) String() string {
	return [...]string{"entry", "breakpoint", "step", "signal", "interrupt", "exec", "watch", "syscall", "child", "thread"}[r]
}

// Event is a change in the state of the process.
type Event struct {
	Kind     EventKind
	Thread   ThreadID
	Reason   StopReason  // for Stopped and Parked
	Addr     Addr        // for Breakpoint and Parked: the thread's PC
	Watches  []Watch     // for Watched: those that fired
	Probed   bool        // for Watched: the probe has stopped the thread
	Signal   *SignalInfo // for Signalled and Killed
	ExitCode int         // for Exited
	Child    int         // for Forked and ChildCreated
	Process  Process     // for Forked and ChildCreated: the child, stopped, if it is kept; the receiver owns it
	Vfork    bool        // for ChildCreated: the thread will wait until the child has executed a program; with Process, the child has executed one
	Syscall  SyscallStop // for Syscall, and for ChildCreated if the call is caught, too
	Serial   uint64      // for Parked; see Process.ParkedAs
	// Arrival numbers the thread's arrival at the place of its stop, from 1. An arrival may be judged and
	// reported more than once, if pauses come in between. 0: unknown.
	Arrival uint64
}

// SignalInfo describes a signal, with the kernel's information about it.
type SignalInfo struct {
	Number int
	Code   int // si_code; see SignalCodeName
	Errno  int
	// Addr is the faulting address, valid if HasAddr is set.
	Addr    Addr
	HasAddr bool
	// SenderPID and SenderUID identify the sending process, if HasSender is set.
	SenderPID, SenderUID int
	HasSender            bool
	// Exception has the words of another system than Linux for the event, which need no others: "access
	// violation reading 0x10 (0xc0000005)". Number is then the nearest signal of Linux, or 0 if there is none.
	Exception string
}
