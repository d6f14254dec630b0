package kernel

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// si_code values of SIGTRAP: sigaction(2), and the kernel's x86 sources for those that the manual
// does not define.
const (
	CodeInt3    = 0x80 // SI_KERNEL: an int3
	CodeBrkpt   = 1    // TRAP_BRKPT: a single step that ended with a system call
	CodeTrace   = 2    // TRAP_TRACE: a single step
	CodeHWBreak = 4    // TRAP_HWBKPT: a debug register
	CodeHandler = 5    // a single step that entered a signal handler: ptrace_notify(SIGTRAP)
	CodeTkill   = -6   // SI_TKILL: tgkill(2), for every signal
	CodeExit    = int(unix.SIGTRAP) | unix.PTRACE_EVENT_EXIT<<8
)

// SigInfo is a siginfo_t as bytes; see target.DecodeSigInfo.
type SigInfo [target.SigInfoSize]byte

// Signo returns the signal's number.
func (s *SigInfo) Signo() int { return int(*(*int32)(unsafe.Pointer(&s[0]))) }

// Code returns si_code.
func (s *SigInfo) Code() int { return int(*(*int32)(unsafe.Pointer(&s[8]))) }

// PID returns si_pid, which is valid for some values of Code only.
func (s *SigInfo) PID() int { return int(*(*int32)(unsafe.Pointer(&s[16]))) }

// NewSigInfo makes the siginfo of a signal that the user chose, as if the debugger had called
// kill(2).
func NewSigInfo(sig int) (s SigInfo) {
	*(*int32)(unsafe.Pointer(&s[0])) = int32(sig)
	*(*int32)(unsafe.Pointer(&s[16])) = int32(os.Getpid())
	*(*int32)(unsafe.Pointer(&s[20])) = int32(os.Getuid())
	return s
}

// GetSigInfo reads the siginfo of a signal-delivery-stop: PTRACE_GETSIGINFO. It fails with EINVAL
// in a group-stop.
func GetSigInfo(tid int, s *SigInfo) error {
	return Ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(s)))
}

// SetSigInfo changes the siginfo of a signal-delivery-stop: PTRACE_SETSIGINFO.
func SetSigInfo(tid int, s *SigInfo) error {
	return Ptrace(unix.PTRACE_SETSIGINFO, tid, 0, uintptr(unsafe.Pointer(s)))
}

// TrapPending reports whether a stopped thread has a pending SIGTRAP that it caused itself (a
// breakpoint or a step).
func TrapPending(tid int) bool {
	const most = 64
	var info SigInfo
	for i := 0; i < most && peekSignal(tid, i, false, &info); i++ {
		if info.Signo() == int(unix.SIGTRAP) && info.Code() > 0 {
			return true
		}
	}
	return false
}

// SignalPending reports whether a stopped thread has a pending signal.
func SignalPending(tid int) bool {
	var info SigInfo
	return peekSignal(tid, 0, false, &info) || peekSignal(tid, 0, true, &info)
}

// peekSignal reads the pending signal with index i of a stopped thread: from its own queue or, with
// shared, from the process's. It returns false if the queue is shorter: PTRACE_PEEKSIGINFO.
func peekSignal(tid, i int, shared bool, info *SigInfo) bool {
	var args struct { // struct __ptrace_peeksiginfo_args
		off   uint64
		flags uint32
		nr    int32
	}
	args.off, args.nr = uint64(i), 1
	if shared {
		args.flags = 1
	}
	n, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_PEEKSIGINFO, uintptr(tid),
		uintptr(unsafe.Pointer(&args)), uintptr(unsafe.Pointer(info)), 0, 0)
	return e == 0 && n == 1
}
