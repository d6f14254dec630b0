package tracerthread

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action counts the Processes: a signal's action applies to the whole program.
var action struct {
	sync.Mutex // guards tracers
	tracers    int
}

// tracing is called with 1 when a Process starts, and with -1 when it ends.
func tracing(n int) {
	action.Lock()
	defer action.Unlock()
	before := action.tracers > 0
	action.tracers += n
	if now := action.tracers > 0; now != before {
		setAction(now)
	}
}

// setAction changes the flags of SIGCHLD's action: sigaction(2).
func setAction(tracing bool) {
	const saNoCldStop, saRestart = 1, 0x10000000
	var act struct { // struct sigaction of the kernel, x86-64
		handler, flags, restorer, mask uintptr
	}
	at := uintptr(unsafe.Pointer(&act))
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), 0, at, 8, 0, 0); e != 0 {
		return
	}
	if tracing {
		act.flags = act.flags&^saRestart | saNoCldStop
	} else {
		act.flags = act.flags&^saNoCldStop | saRestart
	}
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), at, 0, 8, 0, 0)
}
