package kernel

import (
	"iter"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Two things make a step cheap. Tracer and tracee share a processor, so that one is switched to
// when the other begins to wait, and no other processor must be woken. And no SIGCHLD is sent for
// each stop.

// Pin moves the calling thread and the given threads to the processor on which the calling thread
// runs: sched_setaffinity(2). Threads that they create later inherit that. The result restores the
// calling thread; the others stay.
func Pin(tids iter.Seq[int]) (unpin func()) {
	var before, one unix.CPUSet
	cpu, ok := currentCPU()
	if !ok || unix.SchedGetaffinity(0, &before) != nil {
		return func() {}
	}
	one.Set(cpu)
	if unix.SchedSetaffinity(0, &one) != nil {
		return func() {}
	}
	for tid := range tids {
		_ = unix.SchedSetaffinity(tid, &one) // slower without
	}
	return func() { _ = unix.SchedSetaffinity(0, &before) }
}

func currentCPU() (int, bool) {
	var cpu uint32
	_, _, e := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return int(cpu), e == 0
}

// Yield gives the processor to another thread for a moment: sched_yield(2).
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// RealTime gives the calling thread a real-time priority: SCHED_FIFO, sched(7). It returns false if
// that is not permitted.
func RealTime(priority byte) bool {
	const schedFIFO = 1
	param := [4]byte{priority} // struct sched_param
	_, _, e := unix.RawSyscall(unix.SYS_SCHED_SETSCHEDULER, 0, schedFIFO, uintptr(unsafe.Pointer(&param)))
	return e == 0
}
