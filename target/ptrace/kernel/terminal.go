package kernel

import (
	"os"

	"golang.org/x/sys/unix"
)

// Terminal gives a terminal to the program and takes it back: tcsetpgrp(3). It is used on the
// tracer's thread only.
type Terminal struct {
	Of    *os.File // nil: the program controls no terminal
	given bool
}

// Give makes the process group of the program the foreground group.
func (t *Terminal) Give(pid int) {
	if t.Of == nil || t.given {
		return
	}
	if group, err := unix.Getpgid(pid); err == nil {
		t.given = t.set(group) == nil
	}
}

// TakeBack makes our own process group the foreground group.
func (t *Terminal) TakeBack() {
	if t.Of != nil && t.given {
		t.given = false
		_ = t.set(unix.Getpgrp())
	}
}

// set makes a process group the foreground group. It may be called from the background: the kernel
// would then send SIGTTOU, unless that is blocked. SIGTTOU is blocked only for this thread and this
// call, because the programs that we start inherit the mask.
func (t *Terminal) set(group int) error {
	var block, old unix.Sigset_t
	block.Val[0] = 1 << (unix.SIGTTOU - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old); err != nil {
		return err
	}
	err := unix.IoctlSetPointerInt(int(t.Of.Fd()), unix.TIOCSPGRP, group)
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	return err
}
