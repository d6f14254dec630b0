package target

import (
	"fmt"

	"dbg/arch"
)

// Addr is a virtual address in the process.
type Addr uint64

func (a Addr) String() string { return fmt.Sprintf("0x%x", uint64(a)) }

// ThreadID is a thread's id in the kernel (the LWP id on Linux).
type ThreadID int

// Memory gives access to bytes at addresses.
type Memory interface {
	// ReadMemory fills buf from addr on and returns the number of bytes read. If it reads fewer
	// bytes than requested, it also returns an error, which is a *MemoryError; the first n bytes
	// are valid. A read of zero bytes succeeds.
	ReadMemory(addr Addr, buf []byte) (n int, err error)
}

// MemoryError reports an address that could not be read or written.
type MemoryError struct {
	Addr  Addr   // the first inaccessible byte
	Write bool   // the access was a write
	Why   string // the reason, if known: "not mapped", "not in the core file"
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

// Kind is the origin of a target.
type Kind uint8

const (
	Launched Kind = iota // started by dbg; it ends with the session
	Attached             // it ran before the session, and continues after it
	Core                 // a core file
)

func (k Kind) String() string { return [...]string{"launch", "attach", "core"}[k] }

// Thread describes one thread.
type Thread struct {
	ID   ThreadID
	Name string // "" if unknown
	// Signal is the signal that stopped the thread, or nil. For a thread in a core, it is the
	// signal that was pending or that killed the thread.
	Signal *SignalInfo
}

// Permission tells whether an access to memory is allowed.
type Permission uint8

const (
	PermissionUnknown Permission = iota // in a core: from NT_FILE, which has no permissions, and not in a segment
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

// Mapping is one entry of the process's memory map.
type Mapping struct {
	Lo, Hi            Addr
	Read, Write, Exec Permission
	Offset            uint64 // in the file
	Path              string // file, "[vdso]", "[stack]", or ""
	Deleted           bool   // the file is no longer at that path
	Device, Inode     uint64 // 0 if unknown
}

// Target is a program that can be examined. Its methods may be called from any goroutine. A
// Process answers questions about a thread only while that thread is stopped: with all others, or
// parked. Memory may be read at any time.
type Target interface {
	Memory

	Arch() *arch.Arch
	Kind() Kind
	PID() int

	// Exe returns the path of the main program, or "" if it is unknown.
	Exe() string

	// Threads lists all threads: the main thread first, the others by id. The slice belongs to
	// the caller.
	Threads() []Thread

	// Registers reads the general registers of a thread: all in Arch.General whose values are
	// really known. For a thread stopped at a breakpoint, the PC is the address of the
	// breakpoint.
	Registers(t ThreadID) (arch.Registers, error)

	// WideRegister reads a register outside the general set, as raw bytes in memory order: 16 or
	// 32 bytes for a vector register, 10 for an x87 register.
	WideRegister(t ThreadID, r arch.Reg) ([]byte, error)

	// SetRegister and WriteMemory change the process. For a core they return ErrReadOnly.
	SetRegister(t ThreadID, r arch.Reg, v uint64) error
	WriteMemory(addr Addr, data []byte) (n int, err error)

	// Mappings lists the memory map by rising address.
	Mappings() ([]Mapping, error)

	// Auxv returns the value with the given type (AT_ENTRY, ...) in the auxiliary vector.
	Auxv(typ uint64) (uint64, bool)

	// Close releases all resources. It kills a launched process. It detaches from an attached
	// one, which continues with its original code.
	Close() error
}

// Process is a Target that can run.
//
// The events of a process arrive on Events in the order in which they happened. The channel is
// closed after the event that ended the process. The receiver must keep receiving: while it does
// not, the process stays stopped.
type Process interface {
	Target

	// Events returns the channel of events. There is one channel for the life of the process.
	Events() <-chan Event

	// Resume continues the process and returns once it runs. The results arrive as events, the
	// last of which is Stopped, Exited or Killed. If the process is running, the error is
	// ErrRunning.
	//
	// If another thread stopped at the same time as the one that was reported, its stop is saved.
	// The next Resume reports it before any thread moves.
	Resume(r Resume) error

	// Interrupt stops the running process. An event Stopped with reason Interrupted follows,
	// unless another stop came first. If the process is stopped, Interrupt does nothing.
	Interrupt() error

	// InsertBreakpoint makes addr a site: while the process runs, a breakpoint instruction is
	// there. Insertions are counted: if two clients use one address, both must remove theirs.
	// ReadMemory never returns the breakpoint instruction, and it is not in memory while the
	// process is stopped. Both methods may be called while the process runs, and do not stop it.
	InsertBreakpoint(addr Addr) error
	RemoveBreakpoint(addr Addr) error

	// InsertWatch makes the processor watch memory while the process runs. After an access, the
	// thread stops with reason Watched, after the instruction; for WatchExecute it stops before the
	// instruction, with reason Breakpoint. Insertions are counted as for breakpoints. The error is
	// ErrNoSlot if the processor has no debug register left. Accesses by the kernel are not seen.
	// After an Execed stop no watch is inserted any more.
	InsertWatch(w Watch) error
	RemoveWatch(w Watch) error

	// CatchEvents selects events that stop a thread, with the reasons ChildCreated and
	// ThreadCreated. CatchSyscalls makes each thread stop at the entry and at the return of the
	// system calls in a set, with reason Syscall. A call that never returns has only an entry. If
	// dbg itself interrupts a call, that is not reported. Both may be called while the process
	// runs. The judge decides about each stop.
	CatchEvents(EventSet)
	CatchSyscalls(SyscallSet) error

	// SetJudge sets the function that decides about each hit. With nil, every hit stops the
	// process.
	SetJudge(Judge)

	// Move resumes the parked thread r.Thread as r specifies. The error is ErrNotRunning if the
	// process has stopped meanwhile (then the thread waits for the next Resume), and ErrNoThread
	// if the thread is not parked or has ended.
	Move(r Resume) error

	// ParkedAs returns the Serial of the event that reported that the thread was parked, or 0 if
	// it is not parked now. The thread may have been parked again since an earlier event.
	ParkedAs(t ThreadID) uint64

	// StopAll stops the process on behalf of a parked thread. Stopped follows, with the reason
	// for which the thread was parked. The errors are those of Move.
	StopAll(t ThreadID) error

	// SaveState copies all registers of a stopped thread, and what it has not got of the signal that
	// it stopped with. RestoreState puts them back, or others that were made of them: the thread
	// then continues as if it had stopped there. A thread that waits for a child of vfork has no
	// state that can be restored.
	SaveState(t ThreadID) (*SavedState, error)
	RestoreState(t ThreadID, s *SavedState) error

	// SetSignalPolicy sets the policy for a signal. It may be called at any time.
	SetSignalPolicy(sig int, p SignalPolicy)

	// Detach removes the breakpoints, delivers pending signals and leaves the process running. It
	// closes the events channel.
	Detach() error

	// Kill ends the process. The event Killed follows.
	Kill() error
}

// Verdict is a Judge's decision about a Hit.
type Verdict uint8

const (
	Halt Verdict = iota // the process stops
	Pass                // the thread continues; no other thread notices
	Park                // the thread waits for Move or StopAll; the others run
)

// Hit describes a thread that has arrived at a site, or at the end of its step.
type Hit struct {
	Thread ThreadID
	Reason StopReason // Breakpoint, Stepped, Watched, Syscall, ChildCreated or ThreadCreated
	Addr   Addr
	// Syscall is set as in an Event.
	Syscall SyscallStop
	// Watches has those that fired, for Watched. It is valid during the call.
	Watches []Watch
	Probed  bool            // as in an Event
	Arrival uint64          // as in an Event
	Regs    *arch.Registers // valid during the call

	// Next specifies how the thread continues after Pass, as for Move. The judge may change it.
	Next Resume
}

// Judge decides about a hit. It runs on the tracer's thread and must return at once. It must not
// take a lock that is held during calls to the target. It may call ReadMemory, may call Registers
// and WideRegister for the thread that hit, and may insert and remove sites.
type Judge func(*Hit) Verdict

// SignalPolicy specifies the treatment of a signal that the process receives.
type SignalPolicy struct {
	Stop bool // the process stops and the signal is reported
	Pass bool // the program receives the signal when it continues
}

// Resume specifies how a process continues.
type Resume struct {
	// Thread is the thread to which the other fields apply, or 0 if all threads just continue.
	Thread ThreadID

	// Step executes instructions of Thread one at a time: one instruction or, if StepHi is not 0,
	// instructions as long as the PC stays in [StepLo, StepHi). A breakpoint at the PC where the
	// thread starts is stepped over. Any other breakpoint ends the step with reason Breakpoint.
	// Otherwise the step ends with reason Stepped at the first PC outside the range. Stepping
	// over a call is the task of the session.
	Step           bool
	StepLo, StepHi Addr

	// Alone keeps all other threads stopped.
	Alone bool

	// Signal replaces the signal to be delivered to Thread: 0 keeps that signal, -1 discards it.
	Signal int
}
