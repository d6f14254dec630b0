package procfs

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"dbg/target"
	"dbg/target/ptrace/kernel"
)

// SystemCall is the system call in which a task is blocked, from /proc/PID/syscall:
// proc_pid_syscall(5).
type SystemCall struct {
	Number int64
	Args   [6]uint64
	SP, PC uint64
}

// ReadSyscall reads /proc/PID/syscall of a task. It returns false if the task is running, or is
// blocked outside a system call.
func ReadSyscall(tid int) (c SystemCall, ok bool) {
	b, _ := os.ReadFile(Path(tid, "syscall"))
	f := strings.Fields(string(b))
	if len(f) != 9 {
		return c, false
	}
	n, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || n < 0 {
		return c, false
	}
	c.Number = n
	for i, v := range []*uint64{&c.Args[0], &c.Args[1], &c.Args[2], &c.Args[3], &c.Args[4], &c.Args[5], &c.SP, &c.PC} {
		if *v, err = strconv.ParseUint(f[1+i], 0, 64); err != nil {
			return c, false
		}
	}
	return c, true
}

// Vfork reports whether the task, which is one of process pid, waits for a child of vfork:
// vfork(2), or clone(2) or clone3(2) with CLONE_VFORK.
func (c *SystemCall) Vfork(pid int) bool {
	flags := uint64(0)
	switch c.Number {
	case unix.SYS_VFORK:
		return true
	case unix.SYS_CLONE:
		flags = c.Args[0]
	case unix.SYS_CLONE3:
		var b [8]byte // flags is the first field of struct clone_args
		if kernel.ReadVector(pid, target.Addr(c.Args[0]), b[:]) != len(b) {
			return false
		}
		for i, v := range b {
			flags |= uint64(v) << (8 * i)
		}
	}
	return flags&unix.CLONE_VFORK != 0
}
