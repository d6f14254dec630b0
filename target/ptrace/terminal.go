package ptrace

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminal gives the terminal to the program and takes it back: tcsetpgrp(3).
type terminal struct {
	of    *os.File
	given bool
}

// give makes the process group of the program the foreground group.
func (t *terminal) give(pid int) {
	if t.of == nil || t.given {
		return
	}
	if group, err := unix.Getpgid(pid); err == nil {
		t.given = t.set(group) == nil
	}
}

// takeBack makes our own process group the foreground group.
func (t *terminal) takeBack() {
	if t.of != nil && t.given {
		t.given = false
		_ = t.set(unix.Getpgrp())
	}
}

// set makes a process group the foreground group. It may be called from the background: the kernel
// would then send SIGTTOU, unless that is blocked. SIGTTOU is blocked only for this thread and this
// call, because the programs that we start inherit the mask.
func (t *terminal) set(group int) error {
	var block, old unix.Sigset_t
	block.Val[0] = 1 << (unix.SIGTTOU - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old); err != nil {
		return err
	}
	err := unix.IoctlSetPointerInt(int(t.of.Fd()), unix.TIOCSPGRP, group)
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	return err
}
