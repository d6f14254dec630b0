package target

import "dbg/arch"

// ThreadState holds the kernel's structures about a stopped thread, in the layouts of ptrace(2)
// and of a core's notes. A structure that is unknown is empty.
type ThreadState struct {
	User    []byte // struct user_regs_struct, as in the register part of NT_PRSTATUS
	FP      []byte // NT_FPREGSET
	XState  []byte // the XSAVE area, NT_X86_XSTATE
	SigInfo []byte // siginfo_t of the signal for which the thread stopped
}

// StateReader is a Target that knows the states of its threads. The slices belong to the caller,
// who must not change them.
type StateReader interface {
	ThreadState(t ThreadID) (ThreadState, error)
}

// ProcessInfo describes a process, as NT_PRPSINFO does.
type ProcessInfo struct {
	State                byte // as in proc_pid_stat(5): 'R', 'S', …; 0 if unknown
	Nice                 int8
	Flags                uint64
	UID, GID             uint32
	PID, PPID, PGID, SID int
	Name                 string // at most 15 bytes
	Args                 string // the command line, words separated by blanks; a core has at most 79 bytes
}

// ProcessDescriber is a Target that knows facts about its process which are not about memory or
// threads: a core. For a live process they are in /proc.
type ProcessDescriber interface {
	ProcessInfo() (ProcessInfo, bool)
}

// AuxvReader is a Target that has the whole auxiliary vector, as the kernel wrote it.
type AuxvReader interface {
	AuxvBytes() []byte
}

// Region is a mapping with what the kernel knows of it beyond its entry in /proc/PID/maps.
type Region struct {
	Mapping
	Shared    bool   // MAP_SHARED
	Anonymous uint64 // bytes of private pages that were written
	Huge      bool   // of hugetlbfs
	DontDump  bool   // madvise(MADV_DONTDUMP)
	IO        bool   // memory of a device
}

// PageSize is the size of the pages of Touched.
const PageSize = 4096

// RegionReader is a live target that knows what a core file needs of its memory.
type RegionReader interface {
	Regions() ([]Region, error)

	// Touched sets pages[i] for the page at lo + i*PageSize to false if the page has never been
	// used: a page of anonymous memory then reads as zeros. lo is the address of a page. If the
	// kernel does not tell, it is an error.
	Touched(lo Addr, pages []bool) error
}

// Probe is called after each instruction, on the tracer's thread.
type Probe struct {
	// Check reports whether a thread that has just executed an instruction stops, with reason
	// Watched. It must return at once. It may read memory. regs is nil unless Registers is set, and
	// is valid during the call.
	Check     func(t ThreadID, regs *arch.Registers) bool
	Registers bool
}

// Prober is a live process that can be watched step by step.
type Prober interface {
	// SetProbe sets the probe; nil removes it. While there is one, all threads run one instruction at
	// a time, and one thread at a time. A stop has Event.Probed set, and no Watches.
	SetProbe(*Probe) error
}

// Freezer is a live process whose threads can be kept stopped while the others run.
type Freezer interface {
	// Freeze keeps a thread stopped from the next Resume on, or lets it run again. The process must be
	// stopped. A thread that is the subject of a Resume runs nevertheless.
	Freeze(t ThreadID, on bool) error
}

// Copier is a live process that can copy itself, for checkpoints.
type Copier interface {
	// CopyProcess makes a copy of the stopped process, with copies of its memory and registers. The
	// copy is stopped at the same place. It shares its files' positions with the original. The
	// process must have one thread. The caller owns the copy.
	CopyProcess() (Process, error)

	// SystemCall makes a thread of the stopped process execute a system call, and brings it back to
	// where it was. The error of the call is a syscall.Errno.
	SystemCall(number int, args ...uint64) (uint64, error)
}

// Note is a fact about a process, its system or its core, for people to read.
type Note struct {
	Name, Text string
	Long       bool // one of many: shown only on request
}

// NoteLister is a Target that knows such facts: a minidump.
type NoteLister interface {
	Notes() []Note
}
