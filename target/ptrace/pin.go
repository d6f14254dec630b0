package ptrace

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What makes a step cheap: that tracer and tracee share a processor, so that the one is
// switched to when the other begins to wait and no other processor has to be woken; and that
// no SIGCHLD is sent for each stop.

// pin puts this thread and all threads of the process on the processor that this thread
// has now. Threads to come inherit it. The result puts this thread back; the
// process stays where it is.
func pin(p *Process) (unpin func()) {
	var before, one unix.CPUSet
	cpu, ok := currentCPU()
	if !ok || unix.SchedGetaffinity(0, &before) != nil {
		return func() {}
	}
	one.Set(cpu)
	if unix.SchedSetaffinity(0, &one) != nil {
		return func() {}
	}
	for _, t := range p.threads {
		_ = unix.SchedSetaffinity(t.tid, &one) // slower without
	}
	return func() { _ = unix.SchedSetaffinity(0, &before) }
}

func currentCPU() (int, bool) {
	var cpu uint32
	_, _, e := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return int(cpu), e == 0
}

// stops counts who is at work with SIGCHLD: the handler is the whole program's.
var stops struct {
	sync.Mutex
	tracers int // Processes that are being traced
	hushed  int // of them in StepAll, with no need of SIGCHLD
	quiet   bool
}

// tracing is told of each Process that begins (1) and ends (-1).
func tracing(n int) {
	stops.Lock()
	defer stops.Unlock()
	stops.tracers += n
	settleStops()
}

// hushStops says that a Process has no need of SIGCHLD for stops, or has it again.
func hushStops(on bool) {
	stops.Lock()
	defer stops.Unlock()
	if on {
		stops.hushed++
	} else {
		stops.hushed--
	}
	settleStops()
}

// settleStops keeps stops quiet while nobody wants to hear of them: SA_NOCLDSTOP, sigaction(2).
// The ends of processes are still told.
func settleStops() {
	quiet := stops.hushed > 0 && stops.hushed >= stops.tracers
	if quiet == stops.quiet {
		return
	}
	const saNoCldStop = 1
	var action struct { // struct sigaction of the kernel, x86-64
		handler, flags, restorer, mask uintptr
	}
	at := uintptr(unsafe.Pointer(&action))
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), 0, at, 8, 0, 0); e != 0 {
		return
	}
	action.flags &^= saNoCldStop
	if quiet {
		action.flags |= saNoCldStop
	}
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), at, 0, 8, 0, 0); e == 0 {
		stops.quiet = quiet
	}
}

// rawWait is wait for a status that is there or about to be.
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
