package kernel

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Wait takes one status of any tracee of this thread, and blocks until there is one. It returns tid
// -1 if no tracee is left.
func Wait() (tid int, ws unix.WaitStatus) {
	for {
		tid, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return -1, 0
		}
		return tid, ws
	}
}

// WaitFor waits for a tracee that will certainly report soon. It returns false if it is not a
// tracee of ours.
func WaitFor(tid int) (ws unix.WaitStatus, ok bool) {
	for {
		got, err := unix.Wait4(tid, &ws, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		return ws, err == nil && got == tid
	}
}

// Take takes the status of one tracee without blocking. It returns false if there is none.
func Take(tid int) (ws unix.WaitStatus, ok bool) {
	var status int32
	n, _, e := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(tid), uintptr(unsafe.Pointer(&status)), unix.WALL|unix.WNOHANG, 0, 0, 0)
	return unix.WaitStatus(status), e == 0 && int(n) == tid
}

// WaitSoon takes a status of any tracee of this thread that exists or will arrive soon: it blocks
// without informing Go's scheduler. It returns tid -1 if no tracee is left.
func WaitSoon() (tid int, ws unix.WaitStatus) { return rawWait(unix.WALL | unix.WNOTHREAD) }

// Poll is WaitSoon without blocking. It returns tid 0 if there is no status.
func Poll() (tid int, ws unix.WaitStatus) {
	return rawWait(unix.WALL | unix.WNOTHREAD | unix.WNOHANG)
}

func rawWait(flags int) (tid int, ws unix.WaitStatus) {
	var status int32
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), uintptr(flags), 0, 0, 0)
		switch e {
		case 0:
			return int(n), unix.WaitStatus(status)
		case unix.EINTR:
			continue
		}
		return -1, 0
	}
}

// WaitOnce waits for one status of any tracee of this thread. It returns tid -1 if no tracee is
// left, and again if a signal ended the wait.
func WaitOnce() (tid int, ws unix.WaitStatus, again bool) {
	var status int32
	n, _, e := unix.Syscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&status)), unix.WALL|unix.WNOTHREAD, 0, 0, 0)
	switch e {
	case 0:
		return int(n), unix.WaitStatus(status), false
	case unix.EINTR:
		return 0, 0, true
	}
	return -1, 0, false
}

// ReapKilled waits for the end of a tracee that was sent SIGKILL. If its exit is traced, the tracee
// stops once more before it ends.
func ReapKilled(tid int) {
	for {
		ws, ok := WaitFor(tid)
		if !ok || ws.Exited() || ws.Signaled() {
			return
		}
		_ = Ptrace(unix.PTRACE_CONT, tid, 0, 0)
	}
}

// StopEvent returns the PTRACE_EVENT_* number of a stop, or 0.
func StopEvent(ws unix.WaitStatus) int { return int(ws) >> 16 & 0xff }
