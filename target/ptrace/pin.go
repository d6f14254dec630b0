package ptrace

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Two things make a step cheap. Tracer and tracee share a processor, so that one is switched to
// when the other begins to wait, and no other processor must be woken. And no SIGCHLD is sent for
// each stop.

// pin moves this thread and all threads of the process to the processor on which this thread
// runs. Later threads inherit that. The result restores this thread; the process stays.
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

// rawWait waits for a status that exists or will arrive soon.
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
