package ptrace

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"dbg/target"
)

// requests counts the ptrace requests of this program, and waits the calls of take. Tests use them
// to assert the cost of a hit, a step and a stop. Nothing else depends on them.
var requests, waits atomic.Uint64

// ptrace makes a request. It uses a raw system call: a request never blocks, so the scheduler need
// not know.
func ptrace(request, tid int, addr, data uintptr) error {
	requests.Add(1)
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// userRegs is struct user_regs_struct as bytes; see target.DecodeUser.
type userRegs [target.AMD64UserRegsSize]byte

// Offsets in userRegs.
const (
	offRAX     = 10 * 8
	offRSI     = 13 * 8
	offRDI     = 14 * 8
	offOrigRAX = 15 * 8
	offRIP     = 16 * 8
	offFlags   = 18 * 8
	offRSP     = 19 * 8
	offFSBase  = 21 * 8
	offGSBase  = 22 * 8
)

func (r *userRegs) get(off int) uint64    { return *(*uint64)(unsafe.Pointer(&r[off])) }
func (r *userRegs) set(off int, v uint64) { *(*uint64)(unsafe.Pointer(&r[off])) = v }

const ntPRSTATUS, ntX86XSTATE = 1, 0x202

// errCompat is the error of getRegs for a thread that runs 32-bit code.
var errCompat = errors.New("the thread's registers are those of a 32-bit program")

func getRegs(tid int, r *userRegs) error {
	v := unix.Iovec{Base: &r[0], Len: uint64(len(r))}
	if err := ptrace(unix.PTRACE_GETREGSET, tid, ntPRSTATUS, uintptr(unsafe.Pointer(&v))); err != nil {
		return err
	}
	if v.Len != uint64(len(r)) {
		return errCompat
	}
	return nil
}

func setRegs(tid int, r *userRegs) error {
	v := unix.Iovec{Base: &r[0], Len: uint64(len(r))}
	return ptrace(unix.PTRACE_SETREGSET, tid, ntPRSTATUS, uintptr(unsafe.Pointer(&v)))
}

// getXState reads the XSAVE area.
func getXState(tid int) ([]byte, error) { return getRegSet(tid, ntX86XSTATE, 16<<10) } // up to 11 KiB with AMX

// sigInfo is a siginfo_t as bytes.
type sigInfo [target.SigInfoSize]byte

func (s *sigInfo) signo() int { return int(*(*int32)(unsafe.Pointer(&s[0]))) }
func (s *sigInfo) code() int  { return int(*(*int32)(unsafe.Pointer(&s[8]))) }
func (s *sigInfo) pid() int   { return int(*(*int32)(unsafe.Pointer(&s[16]))) }

func getSigInfo(tid int, s *sigInfo) error {
	return ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(s)))
}

// peekSignal reads the pending signal with index i of a stopped thread: from its own queue or, with
// shared, from the process's. It returns false if the queue is shorter: PTRACE_PEEKSIGINFO.
func peekSignal(tid, i int, shared bool, info *sigInfo) bool {
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

// trapPending reports whether a stopped thread has a pending SIGTRAP that it caused itself (a
// breakpoint or a step).
func trapPending(tid int) bool {
	const most = 64
	var info sigInfo
	for i := 0; i < most && peekSignal(tid, i, false, &info); i++ {
		if info.signo() == int(unix.SIGTRAP) && info.code() > 0 {
			return true
		}
	}
	return false
}

// signalPending reports whether a stopped thread has a pending signal.
func signalPending(tid int) bool {
	var info sigInfo
	return peekSignal(tid, 0, false, &info) || peekSignal(tid, 0, true, &info)
}

func setSigInfo(tid int, s *sigInfo) error {
	return ptrace(unix.PTRACE_SETSIGINFO, tid, 0, uintptr(unsafe.Pointer(s)))
}

func eventMessage(tid int) (int, error) {
	var msg uint64
	err := ptrace(unix.PTRACE_GETEVENTMSG, tid, 0, uintptr(unsafe.Pointer(&msg)))
	return int(msg), err
}

// atSyscallEntry reports whether a syscall-stop is at the entry of the system call.
func atSyscallEntry(tid int) bool {
	var info [88]byte // struct ptrace_syscall_info
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0)
	return e == 0 && info[0] == unix.PTRACE_SYSCALL_INFO_ENTRY
}

// wait takes one status of any tracee of this thread. With block it waits for one. It returns tid 0
// if there is no status yet, and -1 if no tracee is left.
func wait(block bool) (tid int, ws unix.WaitStatus) {
	options := unix.WALL | unix.WNOTHREAD
	if !block {
		options |= unix.WNOHANG
	}
	for {
		tid, err := unix.Wait4(-1, &ws, options, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return -1, 0
		}
		return tid, ws
	}
}

// waitFor waits for a tracee that will certainly report soon.
func waitFor(tid int) (ws unix.WaitStatus, ok bool) {
	for {
		got, err := unix.Wait4(tid, &ws, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		return ws, err == nil && got == tid
	}
}

// take takes the status of one tracee without blocking. It returns false if there is none.
func take(tid int) (ws unix.WaitStatus, ok bool) {
	var status int32
	waits.Add(1)
	n, _, e := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(&status)), unix.WALL|unix.WNOHANG, 0, 0, 0)
	return unix.WaitStatus(status), e == 0 && int(n) == tid
}

// reapKilled waits for the end of a tracee that was sent SIGKILL. If its exit is traced, the tracee
// stops once more before it ends.
func reapKilled(tid int) {
	for {
		ws, ok := waitFor(tid)
		if !ok || ws.Exited() || ws.Signaled() {
			return
		}
		_ = ptrace(unix.PTRACE_CONT, tid, 0, 0)
	}
}

// stopEvent returns the PTRACE_EVENT_* number of a stop, or 0.
func stopEvent(ws unix.WaitStatus) int { return int(ws) >> 16 & 0xff }

// ptraceIovec is ptrace with an iovec as data.
func ptraceIovec(request, tid, set int, v *unix.Iovec) error {
	return ptrace(request, tid, uintptr(set), uintptr(unsafe.Pointer(v)))
}
