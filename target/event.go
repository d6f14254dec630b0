package target

// EventKind says what happened.
type EventKind uint8

const (
	Stopped       EventKind = iota // all threads are stopped; Reason says why
	Exited                         // the process ended by itself; ExitCode
	Killed                         // the process was ended by a signal; Signal
	ThreadStarted                  // a thread was created; the process still runs
	ThreadExited                   // a thread ended; the process still runs
	Forked                         // a child was made; it was let go, unharmed; Child
	Parked                         // one thread stopped and waits for a decision; the others run. Reason is Breakpoint or Stepped
)

// StopReason says why a process stopped.
type StopReason uint8

const (
	Entry       StopReason = iota // just launched or attached
	Breakpoint                    // a breakpoint instruction that we inserted: Addr
	Stepped                       // the step that was asked for is done
	Signalled                     // a signal whose policy says stop: Signal
	Interrupted                   // Interrupt was called
	Execed                        // the process became another program
)

func (r StopReason) String() string {
	return [...]string{"entry", "breakpoint", "step", "signal", "interrupt", "exec"}[r]
}

// Event is something that the process did.
type Event struct {
	Kind     EventKind
	Thread   ThreadID
	Reason   StopReason  // of Stopped
	Addr     Addr        // of a Breakpoint, and of Parked: where the thread is
	Signal   *SignalInfo // of Signalled and Killed
	ExitCode int         // of Exited
	Child    int         // of Forked
	Serial   uint64      // of Parked: see Process.ParkedAs
}

// SignalInfo is a signal with what the kernel says of it.
type SignalInfo struct {
	Number int
	Code   int // si_code; see SignalCodeName
	Errno  int
	// Addr is the faulting address where the signal has one (HasAddr).
	Addr    Addr
	HasAddr bool
	// SenderPID and SenderUID are who sent it, where somebody did (HasSender).
	SenderPID, SenderUID int
	HasSender            bool
}
