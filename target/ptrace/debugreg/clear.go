package debugreg

import (
	"runtime"

	"golang.org/x/sys/unix"

	"dbg/target/ptrace/kernel"
	"dbg/target/ptrace/procfs"
)

// ClearAll clears the debug registers of all threads of a process that has lost its tracer: the
// guardian's part. It stops each thread for a moment. It gives up where the kernel does not permit
// the guardian to trace. It needs no particular thread.
func ClearAll(pid int) {
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
				seizeAndClear(tid)
			}
		}
		if !fresh {
			return
		}
	}
}

// seizeAndClear clears the debug registers of a thread that runs and has no tracer.
func seizeAndClear(tid int) {
	if kernel.Ptrace(unix.PTRACE_SEIZE, tid, 0, 0) != nil || kernel.Ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) != nil {
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
