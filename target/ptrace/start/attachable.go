package start

import (
	"os"
	"strconv"
	"strings"

	"dbg/target/ptrace/procfs"
)

// CheckProcess returns an error of one sentence if a process can't be attached to and that is known
// before the attempt.
func CheckProcess(pid int) error {
	if pid <= 0 {
		return Errorf(ErrNoProcess, "%d is not a process id", pid)
	}
	tgid := procfs.StatusField(pid, "Tgid")
	switch {
	case tgid == "":
		return Errorf(ErrNoProcess, "there is no process %d", pid)
	case tgid == strconv.Itoa(os.Getpid()):
		return Errorf(ErrSelf, "process %d is this debugger; it can't debug itself", pid)
	case tgid != strconv.Itoa(pid):
		return Errorf(ErrNoProcess, "%d is a thread of process %s; attach to that", pid, tgid)
	}
	if procfs.StatusField(pid, "Kthread") == "1" || procfs.StatusField(pid, "VmSize") == "" && procfs.StatusField(pid, "PPid") == "2" {
		return Errorf(ErrKernelThread, "process %d is a kernel thread; it can't be debugged", pid)
	}
	if list, err := procfs.Tasks(pid); err == nil && len(list) == 1 && strings.HasPrefix(procfs.StatusField(pid, "State"), "Z") {
		return Errorf(ErrZombie, "process %d has already ended; its parent has not waited for it yet", pid)
	}
	return TracedBy(pid, pid)
}

// TracedBy returns an error if a task of a process has a tracer.
func TracedBy(pid, tid int) error {
	if tracer := procfs.StatusField(tid, "TracerPid"); tracer != "" && tracer != "0" {
		// The field holds the id of the tracing thread.
		tracerID, _ := strconv.Atoi(tracer)
		if group := procfs.StatusField(tracerID, "Tgid"); group != "" {
			tracer = group
		}
		name := "another program"
		if n, err := os.ReadFile("/proc/" + tracer + "/comm"); err == nil {
			name = strings.TrimSpace(string(n))
		}
		return Errorf(ErrTraced, "process %d is already being traced, by process %s (%s)", pid, tracer, name)
	}
	return nil
}
