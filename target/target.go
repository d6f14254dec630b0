package target

import (
	"fmt"

	"dbg/arch"
)

// Addr is a virtual address in the process.
type Addr uint64

func (a Addr) String() string { return fmt.Sprintf("0x%x", uint64(a)) }

// ThreadID is the thread's id as the kernel gives it (the LWP id on Linux).
type ThreadID int

// Memory is bytes at addresses.
type Memory interface {
	// ReadMemory fills buf from addr on and returns how many bytes it got. A
	// read of fewer bytes than asked comes with an error that is a
	// *MemoryError; the bytes before n are good. A read of zero bytes succeeds.
	ReadMemory(addr Addr, buf []byte) (n int, err error)
}

// MemoryError says which address could not be read or written.
type MemoryError struct {
	Addr  Addr   // the first byte that is not accessible
	Write bool   // the access was a write
	Why   string // what is known of the reason: "not mapped", "not in the core file"
}

func (e *MemoryError) Error() string {
	verb := "read"
	if e.Write {
		verb = "write"
	}
	if e.Why == "" {
		return fmt.Sprintf("cannot %s memory at %s", verb, e.Addr)
	}
	return fmt.Sprintf("cannot %s memory at %s: %s", verb, e.Addr, e.Why)
}

// Kind tells how a target came to be.
type Kind uint8

const (
	Launched Kind = iota // started by dbg; it ends with the session
	Attached             // it ran before, and goes on after the session
	Core                 // a core file
)

func (k Kind) String() string { return [...]string{"launch", "attach", "core"}[k] }

// Thread is what is known of one thread.
type Thread struct {
	ID   ThreadID
	Name string // "" if not known
	// Signal is the signal that the thread stopped with, or nil. For a thread
	// of a core, the signal it had pending or died of.
	Signal *SignalInfo
}

// Permission says whether memory may be read, written or executed.
type Permission uint8

const (
	PermissionUnknown Permission = iota // NT_FILE of a core has no permissions, and no segment covers the memory
	Denied
	Allowed
)

// Permit returns Allowed or Denied.
func Permit(allowed bool) Permission {
	if allowed {
		return Allowed
	}
	return Denied
}

// Mapping is one line of the process's memory map.
type Mapping struct {
	Lo, Hi            Addr
	Read, Write, Exec Permission
	Offset            uint64 // in the file
	Path              string // file, "[vdso]", "[stack]", or ""
	Deleted           bool   // the file is no longer at that path
	Device, Inode     uint64 // 0 if not known
}

// Target is something that can be examined. Its methods may be called from any
// goroutine. A Process answers questions about a thread only while that thread is stopped: with
// all others, or parked. Memory may be read at any time.
type Target interface {
	Memory

	Arch() *arch.Arch
	Kind() Kind
	PID() int

	// Exe is the path of the main program, "" if not known.
	Exe() string

	// Threads lists all threads, the main thread first, then by id. The slice
	// is the caller's.
	Threads() []Thread

	// Registers reads the general registers of a thread: everything in
	// Arch.General, and nothing that is not really known. For a thread stopped at a
	// breakpoint the PC is the breakpoint's address.
	Registers(t ThreadID) (arch.Registers, error)

	// WideRegister reads a register that is not in the general set, as raw
	// bytes in memory order: 16 or 32 bytes for a vector register, 10 for x87.
	WideRegister(t ThreadID, r arch.Reg) ([]byte, error)

	// SetRegister and WriteMemory change the process. A core gives ErrReadOnly.
	SetRegister(t ThreadID, r arch.Reg, v uint64) error
	WriteMemory(addr Addr, data []byte) (n int, err error)

	// Mappings lists the memory map by rising address.
	Mappings() ([]Mapping, error)

	// Auxv returns the auxiliary vector's value of that type (AT_ENTRY, ...).
	Auxv(typ uint64) (uint64, bool)

	// Close releases everything. A launched process is killed, an attached one
	// is detached and runs on with its code as it was.
	Close() error
}

// Process is a Target that can run.
//
// The events of a process arrive on Events in the order in which they happened,
// until the channel is closed after the event that ended it. The receiver must
// keep receiving: while it does not, the process stays stopped.
type Process interface {
	Target

	// Events gives the events. There is one channel for the process's life.
	Events() <-chan Event

	// Resume lets the process go. It returns when it goes; what happened comes
	// as events, the last of which is Stopped, Exited or Killed. Resuming a running
	// process gives ErrRunning.
	//
	// A stop that another thread had at the same time as the one that was
	// reported is kept and reported by the next Resume, before anything moves.
	Resume(r Resume) error

	// Interrupt stops the running process: an event Stopped with reason
	// Interrupted follows, unless another stop came first. Interrupting a stopped
	// process does nothing.
	Interrupt() error

	// InsertBreakpoint makes addr a site: while the process runs, a breakpoint instruction is
	// there. It counts, so that two users of one address both remove theirs. The instruction is
	// never seen through ReadMemory, and it is not in memory while the process is stopped. Both
	// methods may be called while the process runs, which goes on meanwhile.
	InsertBreakpoint(addr Addr) error
	RemoveBreakpoint(addr Addr) error

	// SetJudge sets the function that decides about each hit; nil stops at every hit.
	SetJudge(Judge)

	// Move lets a parked thread go on as r says; r.Thread is the thread. The error is ErrNotRunning
	// if the process has stopped meanwhile (the thread is then kept for the next Resume) and
	// ErrNoThread if the thread is not parked or has ended.
	Move(r Resume) error

	// ParkedAs returns the Serial of the event that told of the thread's being parked; 0 if it is not parked now. A
	// thread may have been parked again since an event was sent.
	ParkedAs(t ThreadID) uint64

	// StopAll stops the process for a parked thread: Stopped follows, with the reason for which
	// the thread was parked. The errors are those of Move.
	StopAll(t ThreadID) error

	// SetSignalPolicy says what a signal does. It may be called at any time.
	SetSignalPolicy(sig int, p SignalPolicy)

	// Detach leaves the process running, breakpoints removed, with pending
	// signals delivered. The events channel closes.
	Detach() error

	// Kill ends the process. The event Killed follows.
	Kill() error
}

// Verdict says what follows from a thread's arrival at a site.
type Verdict uint8

const (
	Halt Verdict = iota // the process stops
	Pass                // the thread goes on; no other thread notices
	Park                // the thread waits for Move or StopAll, and the others run
)

// Hit is a thread that has arrived at a site, or at the end of its step.
type Hit struct {
	Thread ThreadID
	Reason StopReason // Breakpoint or Stepped
	Addr   Addr
	Regs   *arch.Registers // valid during the call

	// Next is how the thread goes on after Pass, as for Move; the judge may change it.
	Next Resume
}

// Judge decides about a hit. It runs on the tracer's thread and must return at once: it takes no
// lock that is held while the target is called. It may call ReadMemory, Registers and WideRegister of the
// thread that hit, and insert and remove sites.
type Judge func(*Hit) Verdict

// SignalPolicy says what happens when the process gets a signal.
type SignalPolicy struct {
	Stop bool // the process stops and the signal is reported
	Pass bool // the program sees the signal when it goes on
}

// Resume says how a process goes on.
type Resume struct {
	// Thread is the thread that the rest is about; 0 when all just continue.
	Thread ThreadID

	// Step executes instructions of Thread one at a time: one, or, if StepHi is not
	// 0, as long as its PC stays in [StepLo, StepHi). A breakpoint that is
	// inserted at the PC at which the thread starts is stepped over; any other
	// ends the step with reason Breakpoint. The step ends with reason Stepped
	// at the first PC outside the range; stepping over a call is the session's work.
	Step           bool
	StepLo, StepHi Addr

	// Alone keeps all other threads stopped.
	Alone bool

	// Signal replaces the signal that Thread would be given: 0 leaves it as it is,
	// -1 drops it.
	Signal int
}
