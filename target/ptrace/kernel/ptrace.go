package kernel

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// requests counts the ptrace requests of this program.
var requests atomic.Uint64

// Requests returns the number of ptrace requests that this program has made. Tests use it to
// assert the cost of a hit, a step and a stop. It may be called on any thread.
func Requests() uint64 { return requests.Load() }

// Ptrace makes the request PTRACE_* for a tracee: ptrace(2). It uses a raw system call: a request
// never blocks, so the scheduler need not know. The error is a unix.Errno; ESRCH means that the
// tracee was killed or is not stopped.
func Ptrace(request, tid int, addr, data uintptr) error {
	requests.Add(1)
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// PeekUser reads a word at an offset in struct user, <sys/user.h>: PTRACE_PEEKUSER.
func PeekUser(tid, off int) (v uint64, err error) {
	err = Ptrace(unix.PTRACE_PEEKUSR, tid, uintptr(off), uintptr(unsafe.Pointer(&v)))
	return v, err
}

// PokeUser writes a word at an offset in struct user, <sys/user.h>: PTRACE_POKEUSER.
func PokeUser(tid, off int, v uintptr) error {
	return Ptrace(unix.PTRACE_POKEUSR, tid, uintptr(off), v)
}

// EventMessage returns the message of a PTRACE_EVENT stop, such as the id of a new child:
// PTRACE_GETEVENTMSG.
func EventMessage(tid int) (int, error) {
	var msg uint64
	err := Ptrace(unix.PTRACE_GETEVENTMSG, tid, 0, uintptr(unsafe.Pointer(&msg)))
	return int(msg), err
}

// AtSyscallEntry reports whether a syscall-stop is at the entry of the system call:
// PTRACE_GET_SYSCALL_INFO.
func AtSyscallEntry(tid int) bool {
	var info [88]byte // struct ptrace_syscall_info
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0)
	return e == 0 && info[0] == unix.PTRACE_SYSCALL_INFO_ENTRY
}

// TraceOptions returns the PTRACE_O_ options of a thread: all events of its children, of execve and
// of system calls. With killed, it is killed when the tracer's thread ends. Only the leader of a
// process needs a stop at its exit.
func TraceOptions(killed, leader bool) int {
	o := unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACEVFORKDONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACESYSGOOD
	if killed {
		o |= unix.PTRACE_O_EXITKILL
	}
	if leader {
		o |= unix.PTRACE_O_TRACEEXIT
	}
	return o
}
