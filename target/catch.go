package target

// ChildPolicy specifies what happens to the children that a process creates.
type ChildPolicy uint8

const (
	// ReleaseChildren detaches a child before it runs, without breakpoints.
	ReleaseChildren ChildPolicy = iota
	// KeepChildren keeps a child stopped, as a Process of its own in the event Forked. The parent
	// continues.
	KeepChildren
	// FollowChildren is KeepChildren, and the parent stops when the call has returned. Its event is
	// Stopped with reason ChildCreated and the child in Event.Process.
	FollowChildren
)

// EventSet selects events that stop the process, and what happens to its children.
//
// A child of vfork shares its parent's memory until it executes a program. It is kept from then on.
// One that ends before is never reported.
type EventSet struct {
	Children ChildPolicy

	Fork        bool // a child was forked: the thread stops after the system call has returned
	Vfork       bool // a child was created by vfork: the thread stops before it waits for the child
	ThreadStart bool // a thread was created: it stops before its first instruction
}

// SyscallSet is a set of system calls by number. The zero value is empty.
type SyscallSet struct {
	All  bool
	bits [8]uint64
}

// Add adds a system call. Numbers outside 0 to 511 are ignored: no kernel has them.
func (s *SyscallSet) Add(n int) {
	if n >= 0 && n < len(s.bits)*64 {
		s.bits[n/64] |= 1 << (n % 64)
	}
}

// Has reports whether a system call is in the set.
func (s *SyscallSet) Has(n int) bool {
	return s.All || n >= 0 && n < len(s.bits)*64 && s.bits[n/64]>>(n%64)&1 != 0
}

// SyscallStop describes a thread that stopped at a system call.
type SyscallStop struct {
	Valid  bool // there is one
	Number int
	Return bool // the call has returned; otherwise it has not begun
}
