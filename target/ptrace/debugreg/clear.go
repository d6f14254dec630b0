package debugreg

import (
	"runtime"

	"golang.org/x/sys/unix"

	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// ClearAll clears the debug registers of all threads of a process whose tracer was killed: the
// guardian's part. It stops each thread for a moment. It gives up where the kernel does not permit
// the guardian to trace. It needs no particular thread.
//
// The kernel releases a thread when its tracer's thread is gone. Until then ClearAll asks gone,
// which waits a moment and reports whether the debugger has ended.
func ClearAll(pid int, gone func() bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const rounds = 3 // a thread may make others meanwhile, with clear registers
	done := map[int]bool{}
	for range rounds {
		list, err := procfs.Tasks(pid)
		if err != nil {
			return
		}
		fresh := false
		for _, tid := range list {
			if !done[tid] {
				done[tid], fresh = true, true
				if seize(tid, gone) {
					clearSeized(tid)
				}
			}
		}
		if !fresh {
			return
		}
	}
}

// seize starts to trace a thread, as soon as it has no tracer.
func seize(tid int, gone func() bool) bool {
	for last := false; ; last = gone() {
		switch err := kernel.Ptrace(unix.PTRACE_SEIZE, tid, 0, 0); {
		case err == nil:
			return true
		case err != unix.EPERM || last:
			return false
		}
	}
}

// clearSeized stops a thread that runs, clears its debug registers and lets it go.
func clearSeized(tid int) {
	if kernel.Ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) != nil {
		return
	}
	ws, ok := kernel.WaitFor(tid)
	if !ok || !ws.Stopped() {
		return
	}
	Clear(tid)
	sig := 0
	if kernel.StopEvent(ws) == 0 { // a signal came first
		sig = int(ws.StopSignal())
		var info kernel.SigInfo
		if sig == int(unix.SIGTRAP) && kernel.GetSigInfo(tid, &info) == nil && info.Code() == kernel.CodeHWBreak {
			sig = 0
		}
	}
	_ = kernel.Ptrace(unix.PTRACE_DETACH, tid, 0, uintptr(sig))
}
